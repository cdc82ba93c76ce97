"""Download the packages of tools.

apt works in a root of its own, in which nothing is installed: it downloads
everything that the tools depend on, down to the C library, and verifies it
with the distribution's keys.
"""

import collections.abc
import dataclasses
import pathlib
import re

from rally_vmperf.image import mirror
from rally_vmperf.image.system import commands


@dataclasses.dataclass(frozen=True, kw_only=True)
class Archive:
    """Where a distribution's packages come from, and who signs them.

    :param keyring: file of its keys, and package that brings it
    :param security: end of the URL of its security updates, in place of ``/``
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
    """Packages of one release.

    :param suite: code name of the release
    :param mirror: where its packages are; this machine's source if empty
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
    """Return the lines of a sources list that gives the packages.

    :raises HostError: when neither request nor machine names a mirror
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
            f"this machine's apt has no source of {request.suite}; name one: "
            "--mirror URL"
        )
    return [
        f"deb [signed-by={archive.keyring}] "
        # apt makes no copies of what is behind file:
        f"{re.sub('^file:', 'copy:', one.uri)} {one.release} {one.component}"
        for one in found
    ]


def make_apt_root(
    root: pathlib.Path, lines: collections.abc.Iterable[str]
) -> dict[str, str]:
    """Make a separate root for apt; return the environment that selects it."""
    for name in ("lists/partial", "archives/partial", "cache"):
        (root / name).mkdir(parents=True)
    (root / "status").touch()
    (root / "sources.list").write_text("".join(f"{one}\n" for one in lines))
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
    config.touch(mode=0o600)  # a proxy's password may be in it
    config.write_text("\n".join([*lines, *mirror.proxy_options()]) + "\n")
    return {**commands.plain_environment(), "APT_CONFIG": str(config)}
