# SPDX-License-Identifier: Apache-2.0
"""The package sources of this machine, for guest images."""

import collections.abc
import dataclasses
import platform
import re
import subprocess
import typing as t

from rally_vmperf.image import commands

FORMAT = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)|$(SIGNED_BY)"


@dataclasses.dataclass(frozen=True)
class PackageSource:
    """One line of a sources list."""

    uri: str
    release: str
    component: str

    def line(self) -> str:
        """Return the line of the sources list as text."""
        return f"deb {self.uri} {self.release} {self.component}"


def parse(
    targets: str,
    suite: str,
    origin: str = "Debian",
    components: collections.abc.Container[str] = ("main",),
) -> list[PackageSource]:
    """Return the sources of a distribution for a suite.

    :param targets: The output of ``apt-get indextargets`` in FORMAT.
    :param suite: The code name of the release.
    """
    found = []
    wanted = (suite, f"{suite}-updates", f"{suite}-security")
    for line in targets.splitlines():
        uri, release, component, maker, _ = line.split("|")
        source = PackageSource(uri.rstrip("/"), release, component)
        if maker != origin or component not in components:
            continue
        if release in wanted and source not in found:
            found.append(source)
    return found


def sources(suite: str, **wanted: t.Any) -> list[PackageSource]:
    """Return the sources of this machine for a suite; it can have none.

    :param suite: The code name of the release.
    :param wanted: The origin and the components, as for ``parse``.
    """
    targets = commands.run(
        ["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"]
    )
    return parse(targets, suite, **wanted)


def of_this_machine(suite: str) -> list[str]:
    """Return the lines for a suite; none if the machine has no such mirror.

    :param suite: The code name of the release.
    """
    return [source.line() for source in sources(suite)]


def for_suite(suite: str) -> list[str]:
    """Return the lines for a suite, also on a machine of another release.

    Its mirrors have the other releases of Debian, too.

    :param suite: The code name of the release.
    """
    here = platform.freedesktop_os_release().get("VERSION_CODENAME", suite)
    return of_this_machine(suite) or [
        dataclasses.replace(
            source, release=source.release.replace(here, suite)
        ).line()
        for source in sources(here)
    ]


def proxy_options() -> list[str]:
    """Return the proxy options of this machine's apt."""
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


_LOGIN = re.compile(r'Acquire::(https?)::proxy "(\S+@\S+)";', re.IGNORECASE)


def logins(options: collections.abc.Iterable[str]) -> dict[str, str]:
    """Return the environment for proxies that require a password.

    Each user of the machine can read a command line, and only root its
    environment.

    :param options: The options of apt, as from ``proxy_options``.
    """
    matches = filter(None, map(_LOGIN.fullmatch, options))
    return {f"{match[1].lower()}_proxy": match[2] for match in matches}


def split_proxy_options() -> tuple[list[str], dict[str, str]]:
    """Return the proxy options of apt for a command line, and an environment.

    The environment contains the proxies that require a password.
    """
    options = proxy_options()
    shown = [option for option in options if not logins([option])]
    return shown, logins(options)
