# SPDX-License-Identifier: Apache-2.0
import contextlib
import dataclasses
import pathlib
import unittest
from unittest import mock

from rally_vmperf.image import commands
from rally_vmperf.image import mirror
from rally_vmperf.image import tool_packages
from tests import repository
from tests import skips
from tests.unit.bundles import made
from tests.unit.cloud import base

WISH = tool_packages.PackageRequest(suite="bookworm", packages=("mbw",))
KEYS = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
UBUNTU = "deb [signed-by=/usr/share/keyrings/ubuntu-archive-keyring.gpg]"


class SourcesTestCase(unittest.TestCase):
    def sources(self, archive, **changed):
        return tool_packages.sources(
            dataclasses.replace(WISH, **changed), archive
        )

    def test_a_mirror_of_debian(self):
        self.assertEqual(
            [
                f"{KEYS} http://m.example/debian trixie main",
                f"{KEYS} http://m.example/debian trixie-updates main",
                f"{KEYS} http://m.example/debian-security trixie-security "
                "main",
            ],
            self.sources(
                tool_packages.DEBIAN,
                suite="trixie",
                mirror="http://m.example/debian/",
            ),
        )

    def test_a_mirror_of_ubuntu(self):
        lines = self.sources(
            tool_packages.UBUNTU,
            suite="jammy",
            mirror="http://m.example/ubuntu",
        )
        self.assertEqual(6, len(lines))
        for suite in ("jammy", "jammy-updates", "jammy-security"):
            for component in ("main", "universe"):
                self.assertIn(
                    f"{UBUNTU} http://m.example/ubuntu {suite} {component}",
                    lines,
                )

    def test_the_machines_own(self):
        sources = [
            mirror.PackageSource("http://m.example/d", "bookworm", "main")
        ]
        with mock.patch.object(
            mirror, "sources", autospec=True, return_value=sources
        ) as create_sources:
            self.assertEqual(
                [f"{KEYS} http://m.example/d bookworm main"],
                self.sources(tool_packages.DEBIAN),
            )
        create_sources.assert_called_once_with(
            "bookworm", origin="Debian", components=("main",)
        )

    def test_a_mirror_on_this_machine(self):
        """apt would leave its packages where they are."""
        (first, *_) = self.sources(tool_packages.DEBIAN, mirror="file:/mnt/d")
        self.assertEqual(f"{KEYS} copy:/mnt/d bookworm main", first)

    def test_none(self):
        with (
            mock.patch.object(
                mirror, "sources", autospec=True, return_value=[]
            ),
            self.assertRaisesRegex(commands.HostError, "trixie; .*--mirror"),
        ):
            self.sources(tool_packages.DEBIAN, suite="trixie")


class FetchTestCase(base.CloudTestCase):
    def fetch(self, **changed):
        return tool_packages.fetch(
            dataclasses.replace(WISH, **changed),
            self.folder / "apt",
            self.folder / "log",
        )

    @skips.requires("apt-get")
    def test_all_that_a_tool_stands_on(self):
        """The machine's own packages do not count as there."""
        served = self.folder / "served"
        served.mkdir()
        repository.make(
            served,
            [
                made.deb(self.folder, "libc6", "1:2.36"),
                made.deb(self.folder, "other", "1"),
                made.deb(
                    *(self.folder, "mbw", "1.2"),
                    depends="Depends: libc6 (>= 1:2)\n",
                ),
            ],
        )
        lines = [f"deb [trusted=yes] copy:{served} ./"]
        with mock.patch.object(
            tool_packages, "sources", autospec=True, return_value=lines
        ):
            paths = self.fetch()
        self.assertEqual(
            ["libc6_1%3a2.36_amd64.deb", "mbw_1.2_amd64.deb"],
            [path.name for path in paths],
        )
        self.assertIn("mbw", (self.folder / "log").read_text())

    def test_an_unknown_release(self):
        with self.assertRaisesRegex(
            commands.HostError, "distribution=rocky-9: must be one of bookworm"
        ):
            self.fetch(suite="rocky-9")

    def test_no_keys(self):
        nobody = dataclasses.replace(
            tool_packages.UBUNTU, keyring=pathlib.Path("/none.gpg")
        )
        with (
            mock.patch.dict(tool_packages.ARCHIVES, {"jammy": nobody}),
            self.assertRaisesRegex(
                commands.HostError, "verified without /none.gpg; install ubun"
            ),
        ):
            self.fetch(suite="jammy")

    def test_relative_path(self):
        """apt would search it below /etc/apt, and find no package."""
        with contextlib.chdir(self.folder):
            environment = tool_packages.make_apt_root(pathlib.Path("apt"), [])
        config = pathlib.Path(environment["APT_CONFIG"])
        self.assertEqual(self.folder / "apt/apt.conf", config)
        self.assertIn(
            f'Dir::Etc::sourcelist "{self.folder}/apt/sources.list";',
            config.read_text(),
        )

    def test_the_machines_proxy_reaches_the_mirror(self):
        line = 'Acquire::http::Proxy "http://p.example:1/";'
        with mock.patch.object(
            mirror, "proxy_options", autospec=True, return_value=[line]
        ):
            environment = tool_packages.make_apt_root(self.folder, [])
        config = pathlib.Path(environment["APT_CONFIG"]).read_text()
        self.assertIn(line, config.splitlines())
