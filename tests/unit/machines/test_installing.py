# SPDX-License-Identifier: Apache-2.0
"""The real script, with package managers that play back real outputs."""

import os
import pathlib
import unittest
from unittest import mock

import ddt

from rally_vmperf.machines import local
from rally_vmperf.machines.provisioning import provision
from tests.unit.machines import programs

DATA = pathlib.Path(__file__).parent / "data"
PROXY = "http://192.0.2.1:3128"
WITH_LOGIN = "http://me:p%40ss@192.0.2.1:3128"
APT = (
    *("apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"),
    *("-o", "Dpkg::Use-Pty=0", "-o", "Acquire::Retries=1"),
    *("-o", "Acquire::http::Timeout=30"),
)
APT_PROXY = (
    *("-o", f"Acquire::http::Proxy={PROXY}"),
    *("-o", f"Acquire::https::Proxy={PROXY}"),
)
INSTALL = ("install", "-y", "--no-install-recommends", "--")
DNF = ("-y", "--setopt=timeout=30", "--setopt=retries=1")
ZYPPER = ("zypper", "--non-interactive", "--quiet", "install")
STRONG = "--setopt=install_weak_deps=False"


@ddt.ddt
class InstallingTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        super().setUp()
        self.programs = programs.Programs(self)

    async def install(self, manager, *names, **proxy):
        return await provision.install_from_mirror(
            local.Local("g1"), manager, names, **{"proxy": "", **proxy}
        )

    @ddt.data(
        ("apt-get", [(*APT, "update"), (*APT, *INSTALL, "fio", "mbw")]),
        ("dnf", [("dnf", *DNF, STRONG, "install", "fio", "mbw")]),
        ("yum", [("yum", *DNF, "install", "fio", "mbw")]),
        ("microdnf", [("microdnf", "install", "-y", "fio", "mbw")]),
        ("zypper", [(*ZYPPER, "--no-recommends", "fio", "mbw")]),
    )
    @ddt.unpack
    async def test_command_lines(self, manager, command_lines):
        self.programs.fake(manager)
        await self.install(manager, "fio", "mbw")
        self.assertEqual(
            [list(line) for line in command_lines], self.programs.calls
        )
        self.assertEqual(set(), self.programs.proxies)

    @ddt.data(
        ("apt-get", (*APT, *APT_PROXY, *INSTALL, "fio")),
        (
            "dnf",
            ("dnf", *DNF, STRONG, f"--setopt=proxy={PROXY}", "install", "fio"),
        ),
        ("microdnf", ("microdnf", "install", "-y", "fio")),
        ("zypper", (*ZYPPER, "--no-recommends", "fio")),
    )
    @ddt.unpack
    async def test_proxy(self, manager, command_line):
        """It is in the environment, and where the image's own would win."""
        self.programs.fake(manager)
        with mock.patch.dict(os.environ, {"no_proxy": "*"}):
            await self.install(manager, "fio", proxy=PROXY)
        self.assertEqual(list(command_line), self.programs.calls[-1])
        self.assertEqual({PROXY}, self.programs.proxies)

    @ddt.data(
        (
            "apt-get",
            f'Acquire::http::Proxy "{WITH_LOGIN}";\n'
            f'Acquire::https::Proxy "{WITH_LOGIN}";\n',
        ),
        ("dnf", f"[main]\nproxy={WITH_LOGIN}\n"),
    )
    @ddt.unpack
    async def test_proxy_with_a_login(self, manager, content):
        """It is in no command line, and in a file of root's for the while."""
        detail, mode = (
            self.programs.folder / "detail",
            self.programs.folder / "m",
        )
        self.programs.fake(
            manager,
            'while [ "$1" != -c ]; do shift; done\n'
            f'cat "$2" >{detail}; stat -c "%a %n" "$2" >{mode}',
            stderr="Error: proxy http://me:p%40ss@192.0.2.1:3128, me:p@ss\n",
            exit_status=1,
        )
        message = await self.install(
            manager, "fio", proxy=PROXY, proxy_login="me:p%40ss"
        )
        self.assertEqual(
            "Error: proxy http://(hidden)@192.0.2.1:3128, (hidden)", message
        )
        text = detail.read_text()
        self.assertEqual(content, text[: len(content)])
        bits, path = mode.read_text().split()
        self.assertEqual("600", bits)
        self.assertFalse(pathlib.Path(path).exists())
        self.assertNotIn("p%40ss", str(self.programs.calls))
        self.assertEqual({WITH_LOGIN}, self.programs.proxies)

    @ddt.data("microdnf", "zypper")
    async def test_proxy_with_a_login_in_the_environment(self, manager):
        self.programs.fake(manager)
        await self.install(
            manager, "fio", proxy=PROXY, proxy_login="me:p%40ss"
        )
        self.assertNotIn("p%40ss", str(self.programs.calls))
        self.assertEqual({WITH_LOGIN}, self.programs.proxies)

    @ddt.data(
        (
            "apt-get",
            "apt-2.6.2-no-mirror.txt",
            "W: Failed to fetch http://mirror.invalid/debian/dists/bookworm/"
            "InRelease  Could not resolve 'mirror.invalid', "
            "E: Unable to locate package mbw",
        ),
        (
            "dnf",
            "dnf-4.14.0-no-match.txt",
            "Error: Unable to find a match: mbw sysbench",
        ),
        (
            "dnf",
            "dnf-4.14.0-no-mirror.txt",
            "- Curl error (6): Couldn't resolve host name for http://mirror."
            "invalid/repo/repodata/repomd.xml [Could not resolve host: "
            "mirror.invalid], Error: Failed to download metadata for repo "
            "'far': Cannot download repomd.xml: Cannot download repodata/"
            "repomd.xml: All mirrors were tried",
        ),
        (
            "zypper",
            "zypper-1.14.42-no-provider.txt",
            "No provider of 'mbw' found., No provider of 'sysbench' found.",
        ),
        (
            "zypper",
            "zypper-1.14.42-no-mirror.txt",
            "Error message: Could not resolve host: mirror.invalid",
        ),
    )
    @ddt.unpack
    async def test_reasons(self, manager, golden, message):
        """The message has the cause and the effect."""
        text = (DATA / golden).read_text()
        self.programs.fake(manager, stderr=text, exit_status=1)
        self.assertEqual(message, await self.install(manager, "mbw"))

    async def test_a_mirror_that_fails_is_not_the_end(self):
        """Another one may have the packages."""
        self.programs.fake("apt-get", 'case "$*" in *update) exit 100 ;; esac')
        await self.install("apt-get", "mbw")
        self.assertEqual(2, len(self.programs.calls))

    async def test_no_known_package_manager(self):
        self.assertIn("'pacman'", await self.install("pacman", "mbw"))
