# SPDX-License-Identifier: Apache-2.0
"""The embedded cloud on a host of another release of Debian.

The host is simulated: a root file system with namespaces of its own.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from rally_vmperf.image import commands
from rally_vmperf.image import mirror
from tests import patience
from tests.cloud.container import package_root
from tests.cloud.system import layout
from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import recovering
from tests.long import long

SUITE, VERSION = "trixie", "13"
#: What a host has whose user follows the pages.
PACKAGES = (
    *("mmdebstrap", "zstd", "debian-archive-keyring", "iproute2"),
    *("python3", "python3-venv", "mount", "procps", "openssh-client"),
)
#: Installs the checkout in $1.
INSTALL = """
python3 -m venv /opt/venv
/opt/venv/bin/pip install -q --require-hashes -r "$1/constraints-cloud.txt"
PBR_VERSION=1.0 /opt/venv/bin/pip install -q --no-deps \
    --no-build-isolation "$1"
"""
#: The checkout on the host, and the program that it contains.
CHECKOUT = "/opt/checkout"
COMMAND = ("env", f"--chdir={CHECKOUT}", "python", "-m", "tests.cloud")
#: Becomes the first process of a host with the root $1 and the cloud in $2.
START = f"""
set -e
hostname other-host
ip link set lo up
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/run"
mount -t sysfs sysfs "$1/sys"
mount --rbind /sys/fs/cgroup "$1/sys/fs/cgroup"
mount --rbind /dev "$1/dev"
mkdir -p "$1{layout.DEFAULT_ROOT}"
mount --bind "$2" "$1{layout.DEFAULT_ROOT}"
cd "$1"
pivot_root . .
umount -l .
exec sleep infinity
"""


def make_root(root: pathlib.Path, log: pathlib.Path) -> None:
    """Install the packages of the host."""
    commands.run(
        [
            *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
            *("--mount-proc", "mmdebstrap", "--mode=root", "--variant=apt"),
            *("--skip=output/dev", '--aptopt=APT::Install-Recommends "false"'),
            *(f"--aptopt={option}" for option in mirror.proxy_options()),
            f"--include={','.join(PACKAGES)}",
            *(SUITE, root, *mirror.for_suite(SUITE)),
        ],
        log=log,
        timeout=patience.seconds(900),
    )


def install(root: pathlib.Path, folder: pathlib.Path) -> None:
    """Copy this checkout, and install it as its users do.

    :param root: The root file system of the host.
    :param folder: The directory of the cloud.
    """
    d.run("git", "-C", str(laboratory.TOP), "checkout-index", "--all",
          f"--prefix={root}{CHECKOUT}/")  # fmt: skip
    certificates = "etc/ssl/certs/ca-certificates.crt"
    for name in ("etc/resolv.conf", "etc/hosts", certificates):
        source = pathlib.Path("/", name)
        if source.exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).unlink(missing_ok=True)
            shutil.copy(source, root / name)
    command = ("sh", "-ec", INSTALL, "sh", CHECKOUT)
    commands.run(
        package_root.enter(root, folder, command),
        timeout=patience.seconds(900),
    )


class Host:
    """A host whose first process runs until the end of the block.

    :param root: The root file system.
    :param folder: The folder of its cloud.
    """

    def __init__(self, root: pathlib.Path, folder: pathlib.Path) -> None:
        self._process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--uts", "--ipc", "--net",
             "--fork", "--kill-child", "sh", "-c", START, "sh", root, folder]
        )  # fmt: skip
        laboratory.wait_for("first process of the host", self._started, 30)

    def _started(self) -> bool:
        if self._process.poll() is not None:
            raise AssertionError("the host has ended")
        number = self._process.pid
        listed = pathlib.Path(f"/proc/{number}/task/{number}/children")
        self.pid = listed.read_text().strip()
        command = pathlib.Path(f"/proc/{self.pid or number}/cmdline")
        return command.read_bytes() == b"sleep\0infinity\0"

    def __enter__(self) -> "Host":
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()

    def run(self, *arguments: str) -> str:
        """Run a program on the host; return what it printed."""
        return commands.run(
            [
                *("nsenter", "--target", self.pid, "--mount", "--pid"),
                *("--uts", "--ipc", "--net", "--root", "--wd", "env", "-i"),
                *(f"PATH=/opt/venv/bin:{commands.SYSTEM_PATH}", "HOME=/root"),
                *arguments,
            ],
            timeout=patience.seconds(900),
        )

    def python(self, *arguments: str) -> str:
        """Run a module of this checkout in the host's network."""
        return commands.run(
            ["env", f"--chdir={laboratory.TOP}", "nsenter", "--target",
             self.pid, "--net", sys.executable, "-m", *arguments],
            env={**os.environ},
            timeout=patience.seconds(900),
        )  # fmt: skip


@long.LONG
class TestHosts(recovering.Case):
    """A user installs the package there, and has a cloud."""

    def test_debian(self):
        """Up, a guest that answers at its floating IP, down."""
        work = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir="/var/tmp"))
        )
        root, folder = work / "root", work / "cloud"
        make_root(root, work / "packages.log")
        folder.mkdir()
        install(root, folder)
        # These take minutes, and do not depend on the host.
        for path in (d.PLACE.tarball, d.PLACE.image):
            shutil.copy2(path, folder)
        # Control groups are those of this machine, with the same names.
        d.run(*d.COMMAND, "down", *d.ROOT)
        self.addCleanup(self.up)
        host = self.enterContext(Host(root, folder))
        release = host.run("cat", "/etc/os-release")
        self.assertIn(f'VERSION_ID="{VERSION}"', release)
        print(host.run(*COMMAND, "up"))
        print(host.python("tests.long.guest", str(folder)))
        print(host.run(*COMMAND, "down"))
        self.assertEqual({}, d.processes())
        self.assertEqual(["lo"], host.run("ls", "/sys/class/net").split())
        mounts = host.run("cat", "/proc/mounts")
        self.assertNotIn(f"{layout.DEFAULT_ROOT}/", mounts)
