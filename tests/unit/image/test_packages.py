# SPDX-License-Identifier: Apache-2.0
from unittest import mock

from rally_vmperf.image import packages
from tests.unit.cloud import base


class InstallTestCase(base.CloudTestCase):
    def install(self, output):
        """Return the programs that run, with the last argument of each."""
        with (
            mock.patch.object(
                packages.commands, "run", autospec=True, return_value=output
            ) as run,
            mock.patch.object(
                packages.commands, "quietly", autospec=True, return_value=False
            ),
        ):
            packages.install(["zstd", "mount"], self.folder / "log")
        return [(call.args[0][0], call.args[0][-1]) for call in run.mock_calls]

    def test_only_what_is_missing(self):
        query = ("dpkg-query", "mount")
        self.assertEqual(
            [query], self.install("zstd installed\nmount installed\n")
        )
        self.assertEqual(
            [query, ("dpkg", "-a"), ("apt-get", "update"),
             ("apt-get", "zstd")],
            self.install("zstd config-files\nmount installed\n"),
        )  # fmt: skip

    def test_elsewhere(self):
        """Each program runs in the other root file system."""
        with mock.patch.object(
            packages.commands, "run", autospec=True, return_value=""
        ) as run:
            packages.install(
                ["zstd"],
                self.folder / "log",
                lambda argv: ["chroot", "/x", *argv],
                {"https_proxy": "http://192.0.2.1"},
            )
        for call in run.mock_calls:
            self.assertEqual(["chroot", "/x"], call.args[0][:2])
        install = run.mock_calls[-1]
        self.assertEqual("zstd", install.args[0][-1])
        self.assertEqual(
            "http://192.0.2.1", install.kwargs["env"]["https_proxy"]
        )


class ListedTestCase(base.CloudTestCase):
    def test_comments_and_blanks(self):
        path = self.folder / "list"
        path.write_text("# tools\nfio\n\n  mbw  \n")
        self.assertEqual(["fio", "mbw"], packages.listed(path))
