import dataclasses
import pathlib
import shutil
import unittest
from unittest import mock

from rally_vmperf.cloud.image import mirror
from rally_vmperf.cloud.image import tool_packages
from rally_vmperf.cloud.system import errors
from rally_vmperf.toolbox import folder
from tests.unit.cloud import base
from tests.unit.toolbox import made

WISH = tool_packages.PackageRequest(
    suite="bookworm", architecture="amd64", packages=("mbw",)
)
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
        found = [mirror.Source("http://m.example/d", "bookworm", "main")]
        with mock.patch.object(
            mirror, "sources", autospec=True, return_value=found
        ) as asked:
            self.assertEqual(
                [f"{KEYS} http://m.example/d bookworm main"],
                self.sources(tool_packages.DEBIAN),
            )
        asked.assert_called_once_with(
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
            self.assertRaisesRegex(errors.CloudError, "trixie; .*--mirror"),
        ):
            self.sources(tool_packages.DEBIAN, suite="trixie")


class FetchTestCase(base.CloudTestCase):
    def fetch(self, **changed):
        return tool_packages.fetch(
            dataclasses.replace(WISH, **changed),
            self.folder / "tools",
            self.folder / "log",
        )

    @unittest.skipUnless(shutil.which("apt-get"), "no apt here")
    def test_all_that_a_tool_stands_on(self):
        """The machine's own packages do not count as there."""
        served = self.folder / "served"
        served.mkdir()
        made.deb(served, "libc6", "1:2.36")
        made.deb(served, "other", "1")
        made.deb(served, "mbw", "1.2", depends="Depends: libc6 (>= 1:2)\n")
        tool_packages.indexing.index(served, "", "bookworm")
        (packages,) = folder.load(served).sets
        for one in packages.packages:
            (served / one.path).rename(served / one.target)
        lines = [f"deb [trusted=yes] copy:{served} ./"]
        for _ in range(2):  # again, in place of what is there
            with mock.patch.object(
                tool_packages, "sources", autospec=True, return_value=lines
            ):
                fetched = self.fetch()
        self.assertEqual(
            {"libc6": "1:2.36", "mbw": "1.2"},
            {one.package: one.version for one in fetched.packages},
        )
        loaded = folder.load(self.folder / "tools")
        self.assertEqual((fetched,), loaded.sets)
        names = {path.name for path in (self.folder / "tools").iterdir()}
        self.assertEqual({"tools.json", "bookworm-amd64"}, names)

    def test_an_unknown_release(self):
        with self.assertRaisesRegex(
            errors.CloudError, "'rocky-9' .*known: bookworm.*tools index"
        ):
            self.fetch(suite="rocky-9")

    def test_no_keys(self):
        nobody = dataclasses.replace(
            tool_packages.UBUNTU, keyring=pathlib.Path("/none.gpg")
        )
        with (
            mock.patch.dict(tool_packages.ARCHIVES, {"jammy": nobody}),
            self.assertRaisesRegex(
                errors.CloudError, "verified without /none.gpg; install ubun"
            ),
        ):
            self.fetch(suite="jammy")

    def test_the_machines_proxy_reaches_the_mirror(self):
        line = 'Acquire::http::Proxy "http://p.example:1/";'
        with mock.patch.object(
            mirror, "proxy_options", autospec=True, return_value=[line]
        ):
            environment = tool_packages.make_apt_root(self.folder, "arm64", [])
        config = pathlib.Path(environment["APT_CONFIG"]).read_text()
        self.assertIn(line, config.splitlines())
        self.assertIn('APT::Architecture "arm64";', config)
