"""The package sources this machine uses, for an image of the same kind."""

import dataclasses
import subprocess

from rally_vmperf.cloud import commands

FORMAT = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)|$(SIGNED_BY)"


@dataclasses.dataclass(frozen=True)
class Source:
    """One line of a sources list."""

    uri: str
    release: str
    component: str

    def line(self) -> str:
        """Return it as apt reads it."""
        return f"deb {self.uri} {self.release} {self.component}"


def parse(targets: str, suite: str) -> list[Source]:
    """Return Debian's own sources for a suite.

    :param targets: what ``apt-get indextargets`` printed in FORMAT
    :param suite: the release's code name
    """
    found = []
    wanted = (suite, f"{suite}-updates", f"{suite}-security")
    for line in targets.splitlines():
        uri, release, component, origin, _ = line.split("|")
        source = Source(uri.rstrip("/"), release, component)
        if origin != "Debian" or component != "main":
            continue
        if release in wanted and source not in found:
            found.append(source)
    return found


def of_this_machine(suite: str) -> list[str]:
    """Return the lines for a suite; none when the machine has no such mirror.

    :param suite: the release's code name
    """
    targets = commands.run(
        ["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"]
    )
    return [source.line() for source in parse(targets, suite)]


def proxy_options() -> list[str]:
    """Return the options of apt that say how to reach a mirror from here."""
    dump = subprocess.run(
        ["apt-config", "dump"], capture_output=True, text=True, check=False
    ).stdout
    return [
        line
        for line in dump.splitlines()
        if line.startswith(("Acquire::http::", "Acquire::https::"))
        and "proxy" in line.lower()
        and not line.endswith(' "";')
    ]
