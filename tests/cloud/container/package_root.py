# SPDX-License-Identifier: Apache-2.0
"""The root file system of the container, made of Debian's packages.

mmdebstrap installs the packages, and starts none of their services. The
services see the result read-only, so that it cannot be damaged, and it is the
same on each host.
"""

import collections.abc
import datetime
import os
import pathlib
import time

from rally_vmperf import atomic
from rally_vmperf import removal
from rally_vmperf.image import commands
from rally_vmperf.image import mirror
from rally_vmperf.image import packages
from tests.cloud.system import layout

SUITE = "bookworm"
#: The age of packages from which on updates are due.
MAX_AGE = datetime.timedelta(days=30)
#: The packages that the host must have.
TOOLS = (
    *("mmdebstrap", "zstd", "debian-archive-keyring"),
    *("iproute2", "mount", "openssh-client"),
)
# py3compile: each of the packages would run it, and one program does it all.
_EXCLUDED = (
    *("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*"),
    "/usr/bin/py3compile",
)
_COMPILE = ("python3", "-m", "compileall", "-q", "-j", "0", "/usr/lib/python3")
_TAR = (
    *("tar", "--zstd", "--numeric-owner", "--xattrs"),
    "--xattrs-include=*",
)
_POLICY = "usr/sbin/policy-rc.d"
# Mount points of the container.
_DIRECTORIES = ("proc", "sys", "dev", "run", "tmp", "lib/modules")
# unshare, in this root, requires that the root is a mount point.
_ENTER = """
set -e
root=$1 directory=$2
shift 2
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
[ ! -e /etc/resolv.conf ] ||
    mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root$directory"
mount --bind "$directory" "$root$directory"
exec chroot "$root" "$@"
"""


def get_age(folders: layout.Layout) -> datetime.timedelta:
    """Return the time since the packages were installed; 0 without any."""
    try:
        installed = folders.tarball.stat().st_mtime
    except FileNotFoundError:
        return datetime.timedelta()
    return datetime.timedelta(seconds=time.time() - installed)


def provide(
    folders: layout.Layout, say: collections.abc.Callable[[str], None]
) -> None:
    """Make the root file system, unless it is there.

    Packages that are too old are reported, or not unpacked again.

    :param folders: The paths of the cloud.
    :param say: The function that prints a step.
    :raises HostError: If the packages cannot be installed.
    """
    age = get_age(folders)
    if folders.package_root.is_dir():
        if age > MAX_AGE:
            say(
                f"the packages of the container are {age.days} days old; to "
                "update them: python -m tests.cloud up --rebuild"
            )
        return
    say("installing the packages of the container")
    draft = folders.root / "root.part"
    removal.remove(draft, folders.root)
    if folders.tarball.exists() and age <= MAX_AGE:
        draft.mkdir()
        commands.run([*_TAR, "-xpf", folders.tarball, "-C", draft])
    else:
        _install(draft, folders.log / "packages.log")
        archive = folders.root / "root.tar.part"
        commands.run([*_TAR, "-cpf", archive, "-C", draft, "."])
        archive.rename(folders.tarball)
    draft.rename(folders.package_root)
    say("packages of the container")


def add(
    folders: layout.Layout,
    names: collections.abc.Sequence[str],
    say: collections.abc.Callable[[str], None],
) -> None:
    """Install further packages, also while the container runs.

    They are not in the archive.

    :param folders: The paths of the cloud.
    :param names: The names of the packages.
    :param say: The function that prints a step.
    :raises HostError: If the packages cannot be installed.
    """
    root = folders.package_root

    def enter_root(argv: list[str]) -> list[str]:
        return enter(root, folders.root, argv)

    if not packages.find_missing(names, enter_root):
        return
    say("installing further packages of the container")
    # Without mmdebstrap, nothing else keeps Debian from starting services.
    atomic.write(root / _POLICY, "#!/bin/sh\nexit 101\n", mode=0o755)
    _, proxies = mirror.split_proxy_options()
    packages.install(names, folders.log / "packages.log", enter_root, proxies)
    commands.run(enter_root(["apt-get", "clean"]))
    commands.quietly(enter_root([*_COMPILE]))
    say("further packages of the container")


def _install(root: pathlib.Path, log: pathlib.Path) -> None:
    """Install the packages into a new directory."""
    path = layout.SHIPPED / "packages.txt"
    packages.bootstrap(
        SUITE,
        root,
        packages.listed(path),
        [
            *("--variant=apt", "--skip=output/dev"),
            # An interrupted installation is deleted.
            "--dpkgopt=force-unsafe-io",
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in _EXCLUDED),
            "--dpkgopt=path-include=/usr/share/doc/*/copyright",
            f'--customize-hook=chroot "$1" {" ".join(_COMPILE)} || true',
        ],
        log,
        sources=mirror.for_suite(SUITE),
    )
    for name in _DIRECTORIES:
        (root / name).mkdir(parents=True, exist_ok=True)
    resolver = root / "etc/resolv.conf"
    resolver.unlink(missing_ok=True)
    resolver.touch()


def enter(
    root: pathlib.Path,
    directory: pathlib.Path,
    argv: collections.abc.Iterable[str | os.PathLike[str]],
) -> list[str]:
    """Return the command that runs a program of the root file system.

    :param root: The root file system.
    :param directory: A directory that has the same path in there.
    :param argv: The program and its arguments.
    """
    return [
        *("unshare", "--mount", "--propagation", "private"),
        *("sh", "-c", _ENTER, "sh", str(root), str(directory)),
        *(os.fspath(word) for word in argv),
    ]
