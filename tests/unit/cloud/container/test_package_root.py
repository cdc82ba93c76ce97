# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import tempfile
import time
import unittest
from unittest import mock

from rally_vmperf.image import commands
from rally_vmperf.image import mirror
from tests.cloud.container import package_root
from tests.unit.cloud import base

OPTIONS = [
    'Acquire::http::Proxy "http://192.0.2.3:3128";',
    'Acquire::https::Proxy "http://user:pw@192.0.2.2:3128";',
]
LINE = "deb http://mirror.example/debian bookworm main"


class ProvideTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        for name, value in (("proxy_options", OPTIONS), ("for_suite", [LINE])):
            patch = mock.patch.object(
                mirror, name, autospec=True, return_value=value
            )
            self.enterContext(patch)
        self.draft = self.folders.root / "root.part"
        (self.draft / "stale").mkdir(parents=True)

    def run_program(self, argv, **_options):
        """Do in short what the programs do."""
        if "mmdebstrap" in argv:
            self.assertFalse(self.draft.exists())
            (self.draft / "etc").mkdir(parents=True)
            (self.draft / "etc/resolv.conf").symlink_to("/run/elsewhere")
        elif "-cpf" in argv:
            argv[argv.index("-cpf") + 1].touch()

    def provide(self):
        """Return the calls that make the root file system."""
        with mock.patch.object(commands, "run", autospec=True) as run:
            run.side_effect = self.run_program
            package_root.provide(self.folders, self.progress.say)
        return run.call_args_list

    def test_from_packages(self):
        install, archive = self.provide()
        arguments = install.args[0]
        self.assertIn(
            "--include=mariadb-server,rabbitmq-server,", str(arguments)
        )
        self.assertEqual(["bookworm", str(self.draft), LINE], arguments[-3:])
        self.assertIn(f"--aptopt={OPTIONS[0]}", arguments)
        self.assertNotIn("user:pw", " ".join(arguments))
        self.assertEqual(
            "http://user:pw@192.0.2.2:3128",
            install.kwargs["env"]["https_proxy"],
        )
        self.assertIn(self.draft, archive.args[0])
        self.assertTrue(self.folders.tarball.exists())
        root = self.folders.package_root
        self.assertTrue((root / "lib/modules").is_dir())
        self.assertFalse((root / "etc/resolv.conf").is_symlink())
        self.assertFalse(self.draft.exists())
        self.assertEqual([], self.provide())

    def test_from_the_archive(self):
        self.folders.tarball.touch()
        (unpack,) = self.provide()
        self.assertEqual("tar", unpack.args[0][0])
        self.assertEqual(
            ["-xpf", self.folders.tarball, "-C", self.draft],
            unpack.args[0][-4:],
        )
        self.assertEqual([], [*self.folders.package_root.iterdir()])

    def age(self):
        """Install the packages 40 days ago."""
        then = time.time() - 40 * 24 * 3600
        os.utime(self.folders.tarball, (then, then))

    def test_old_packages_are_not_unpacked(self):
        """They lack the security updates of a month."""
        self.folders.tarball.touch()
        self.age()
        install, archive = self.provide()
        self.assertIn("mmdebstrap", install.args[0])
        self.assertIn("-cpf", archive.args[0])

    def test_old_packages_in_use_are_reported(self):
        self.provide()
        self.assertNotIn("days old", self.output.getvalue())
        self.age()
        self.assertEqual([], self.provide())
        self.assertIn(
            "the packages of the container are 40 days old; to update them: "
            "python -m tests.cloud up --rebuild",
            self.output.getvalue(),
        )

    def test_a_failure_leaves_a_draft(self):
        """The next command does not take it for the whole."""
        with (
            mock.patch.object(
                self, "run_program", autospec=True, side_effect=OSError
            ),
            self.assertRaises(OSError),
        ):
            self.provide()
        self.assertFalse(self.folders.package_root.exists())


class AddTestCase(base.CloudTestCase):
    """Packages that only some clouds have."""

    def add(self, status):
        """Return the programs that run in the root file system."""
        self.folders.package_root.mkdir()
        with (
            mock.patch.object(
                mirror,
                "proxy_options",
                autospec=True,
                return_value=OPTIONS,
            ),
            mock.patch.object(
                commands,
                "run",
                autospec=True,
                return_value=f"ceph-osd {status}\n",
            ) as run,
        ):
            package_root.add(self.folders, ["ceph-osd"], self.progress.say)
        self.calls = run.call_args_list
        programs = []
        for call in self.calls:
            self.assertEqual("unshare", call.args[0][0])
            arguments = call.args[0][call.args[0].index("sh", 6) + 1 :]
            root, directory, *program = arguments
            self.assertEqual(str(self.folders.package_root), root)
            self.assertEqual(str(self.folders.root), directory)
            programs.append(program)
        return programs

    def test_missing(self):
        """They start no service, and the proxy's password is not shown."""
        programs = self.add("unknown")
        *_, simulation, install, clean, compilation = programs
        self.assertIn(["dpkg", "--configure", "-a"], programs)
        self.assertEqual(["--simulate", "ceph-osd"], simulation[-2:])
        self.assertEqual(["install", "ceph-osd"], install[-2:])
        self.assertEqual(["apt-get", "clean"], clean)
        self.assertIn("compileall", compilation)
        environment = self.calls[-3].kwargs["env"]
        self.assertEqual(
            "http://user:pw@192.0.2.2:3128", environment["https_proxy"]
        )
        self.assertNotIn("user:pw", str(programs))
        policy = self.folders.package_root / "usr/sbin/policy-rc.d"
        self.assertEqual("#!/bin/sh\nexit 101\n", policy.read_text())
        self.assertTrue(os.access(policy, os.X_OK))

    def test_installed(self):
        (query,) = self.add("installed")
        self.assertEqual("dpkg-query", query[0])
        self.assertEqual("", self.output.getvalue())


@unittest.skipUnless(
    commands.quietly(["unshare", "--mount", "true"]), "no namespaces"
)
class EnterTestCase(unittest.TestCase):
    def test_program(self):
        """It has one directory of the host, and its mounts remain inside."""
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
            pathlib.Path(name, "file").touch()
            script = f"ls {name} && ls -A /tmp && exit 3"
            argv = package_root.enter(
                pathlib.Path("/"), pathlib.Path(name), ["sh", "-c", script]
            )
            self.assertEqual("file\n", commands.run(argv, accept=(3,)))
        mounted = pathlib.Path("/proc/self/mounts").read_text()
        self.assertNotIn(name, mounted)
