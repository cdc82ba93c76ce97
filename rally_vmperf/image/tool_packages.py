# SPDX-License-Identifier: Apache-2.0
"""The download of the packages of tools.

apt uses a root of its own without installed packages: it downloads all
dependencies of the tools, including the C library, and verifies them with the
keys of the distribution.
"""

import collections.abc
import dataclasses
import pathlib
import re

from rally_vmperf.image import commands
from rally_vmperf.image import mirror


@dataclasses.dataclass(frozen=True, kw_only=True)
class Archive:
    """The archive of the packages of a distribution.

    :param keyring: The file of its keys.
    :param keys: The package that contains this file.
    :param security: The end of the URL of its security updates, in place of
        ``/``.
    """

    origin: str
    keyring: pathlib.Path
    keys: str
    components: tuple[str, ...]
    security: str


_KEYRINGS = pathlib.Path("/usr/share/keyrings")
DEBIAN = Archive(
    origin="Debian",
    keyring=_KEYRINGS / "debian-archive-keyring.gpg",
    keys="debian-archive-keyring",
    components=("main",),
    security="-security",
)
UBUNTU = Archive(
    origin="Ubuntu",
    keyring=_KEYRINGS / "ubuntu-archive-keyring.gpg",
    keys="ubuntu-keyring",
    components=("main", "universe"),
    security="",
)
ARCHIVES = {
    **dict.fromkeys(("bullseye", "bookworm", "trixie"), DEBIAN),
    **dict.fromkeys(("focal", "jammy", "noble"), UBUNTU),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class PackageRequest:
    """A request for packages of one release.

    :param suite: The code name of the release.
    :param mirror: The URL of its packages; empty for the source of this
        machine.
    """

    suite: str
    packages: tuple[str, ...]
    mirror: str = ""


def fetch(
    request: PackageRequest, root: pathlib.Path, log: pathlib.Path
) -> list[pathlib.Path]:
    """Download packages and their dependencies; return their files.

    :param request: The packages and their release.
    :param root: The directory of apt's files for these packages only.
    :param log: The file that gets the output of apt.
    :raises HostError: If apt cannot download them, with its reason.
    """
    archive = ARCHIVES.get(request.suite)
    if archive is None:
        raise commands.HostError(
            f"distribution={request.suite}: must be one of "
            f"{', '.join(sorted(ARCHIVES))}"
        )
    if not archive.keyring.exists():
        raise commands.HostError(
            f"packages of {request.suite} cannot be verified without "
            f"{archive.keyring}; install {archive.keys}"
        )
    lines = sources(request, archive)
    environment = make_apt_root(root, lines)
    commands.run(["apt-get", "-q", "update"], env=environment, log=log)
    commands.run(
        ["apt-get", "-q", "-y", "--download-only", "install",
         *request.packages],
        env=environment,
        log=log,
        timeout=3600,
    )  # fmt: skip
    return sorted((root / "archives").glob("*.deb"))


def sources(request: PackageRequest, archive: Archive) -> list[str]:
    """Return the lines of the sources list for a request.

    :raises HostError: If neither the request nor the machine has a mirror.
    """
    if request.mirror:
        main = request.mirror.rstrip("/")
        found = [
            mirror.PackageSource(uri, release, component)
            for uri, release in (
                (main, request.suite),
                (main, f"{request.suite}-updates"),
                (f"{main}{archive.security}", f"{request.suite}-security"),
            )
            for component in archive.components
        ]
    else:
        found = mirror.sources(
            request.suite, origin=archive.origin, components=archive.components
        )
    if not found:
        raise commands.HostError(
            f"apt on this machine has no source of {request.suite}; to name "
            "one: --mirror URL"
        )
    return [
        f"deb [signed-by={archive.keyring}] "
        # apt does not copy packages from file:
        f"{re.sub('^file:', 'copy:', source.uri)} {source.release} "
        f"{source.component}"
        for source in found
    ]


def make_apt_root(
    root: pathlib.Path, lines: collections.abc.Iterable[str]
) -> dict[str, str]:
    """Make a separate root for apt; return the environment that selects it."""
    # apt reads a relative path below its own directories.
    root = root.absolute()
    for name in ("lists/partial", "archives/partial", "cache"):
        (root / name).mkdir(parents=True)
    (root / "status").touch()
    (root / "sources.list").write_text("".join(f"{line}\n" for line in lines))
    settings = {
        "Dir::State::lists": root / "lists",
        "Dir::State::status": root / "status",
        "Dir::State::extended_states": root / "extended_states",
        "Dir::Cache": root / "cache",
        "Dir::Cache::archives": root / "archives",
        "Dir::Etc::sourcelist": root / "sources.list",
        **{
            f"Dir::Etc::{name}": "/dev/null"
            for name in (
                *("sourceparts", "parts", "main"),
                *("preferences", "preferencesparts"),
            )
        },
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
    }
    lines = [f'{name} "{value}";' for name, value in settings.items()]
    config = root / "apt.conf"
    config.touch(mode=0o600)  # It can contain the password of a proxy.
    config.write_text("\n".join([*lines, *mirror.proxy_options()]) + "\n")
    return {**commands.plain_environment(), "APT_CONFIG": str(config)}
