# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
import unittest
from unittest import mock

from rally_vmperf.image import commands
from tests.cloud.container import container
from tests.unit.cloud import base

# A script in place of enter.sh, whose container is one process.
ENTER = """
cloud=$1
[ "${2:-}" != clean ] || { touch "$cloud/clean"; exit; }
exec 8>"$cloud/container.lock"
flock -n 8 || exit 1
sleep 60 8>&- &
echo "$! $(readlink "/proc/$!/ns/pid")" >"$cloud/container.pid"
wait
rm -f "$cloud/container.pid"
"""


class ContainerTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.container = container.Container(self.folders)
        self.pid_file = self.folders.root / "container.pid"

    def contain_test(self):
        """Let the process of the test be the first one of the container."""
        namespace = os.readlink("/proc/self/ns/pid")
        self.pid_file.write_text(f"{os.getpid()} {namespace}\n")


class PidTestCase(ContainerTestCase):
    def test_running(self):
        self.contain_test()
        self.assertEqual(os.getpid(), self.container.pid)

    def test_ended(self):
        self.assertIsNone(self.container.pid)
        for text in ("", "x", f"{2**30} pid:[1]", f"{os.getpid()} pid:[1]"):
            with self.subTest(text):
                self.pid_file.write_text(text)
                self.assertIsNone(self.container.pid)


class StartTestCase(ContainerTestCase):
    def setUp(self):
        super().setUp()
        self.script = self.folders.scripts / "enter.sh"
        self.script.write_text(ENTER)

    def start(self):
        """Start a container whose supervisord answers at once."""

        def processes(instance):
            return [base.process("x")] if instance.pid else []

        with mock.patch.object(
            container.Container, "processes", autospec=True
        ) as method:
            method.side_effect = processes
            self.container.start()

    def test_start_and_end(self):
        stale = self.folders.run / "supervisord.sock"
        stale.touch()
        self.start()
        self.assertIsNotNone(self.container.pid)
        self.assertFalse(stale.exists())
        self.assertFalse(self.folders.guests_gone.exists())
        (self.folders.etc / "container.env").touch()
        self.container.end()
        self.assertIsNone(self.container.pid)
        self.assertTrue((self.folders.root / "clean").exists())

    def test_guests_of_an_earlier_start_have_ended(self):
        self.fill_databases()
        self.start()
        self.container.end()
        self.assertTrue(self.folders.guests_gone.exists())

    def test_another_one_has_the_lock(self):
        with (self.folders.root / "container.lock").open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            with (
                mock.patch.object(container, "_END_TIMEOUT", -1),
                self.assertRaisesRegex(
                    commands.HostError, "the end of the container is still"
                ),
            ):
                self.container.end()
            with self.assertRaisesRegex(commands.HostError, "printed nothing"):
                self.container.start()

    def test_failure(self):
        self.script.write_text("echo first; echo 'unshare: no' >&2; exit 1")
        with self.assertRaisesRegex(
            commands.HostError, r"has ended: unshare: no \(see .*container.log"
        ):
            self.container.start()


class ProcessesTestCase(ContainerTestCase):
    def test_of_both_hypervisors(self):
        first, second = base.process("mariadb"), base.process("libvirtd")
        self.serve(lambda: [first])
        self.serve(lambda: [second], "supervisord-2")
        self.assertEqual([first], self.container.processes())
        self.assertEqual([second], self.container.processes("supervisord-2"))

    def test_no_answer(self):
        self.assertEqual([], self.container.processes())

        def shut_down():
            raise RuntimeError("SHUTDOWN_STATE")

        self.serve(shut_down)
        self.assertEqual([], self.container.processes())

    def test_update(self):
        """Only a supervisord that runs reads its configuration again."""
        self.serve(lambda: [base.process("mariadb")])
        with mock.patch.object(
            container.Container, "run", autospec=True
        ) as run:
            self.container.update()
        path = self.folders.etc / "supervisord.conf"
        self.assertEqual(
            [("supervisorctl", "-c", path, "update")],
            [call.args[1:] for call in run.call_args_list],
        )


class CommandTestCase(ContainerTestCase):
    def test_stopped(self):
        with self.assertRaisesRegex(
            commands.HostError, "root does not run; start it: python -m"
        ):
            self.container.command(["id"])

    @unittest.skipUnless(
        commands.quietly(["unshare", "--mount", "true"]), "no namespaces"
    )
    def test_environment(self):
        """A program inherits no variable of the caller."""
        self.contain_test()
        lines = self.container.run("env").splitlines()
        names = {line.partition("=")[0] for line in lines}
        self.assertEqual({"HOME", "LANG", "PATH"}, names)
        self.assertIn(f"HOME={self.folders.data}", lines)


class ModulesTestCase(ContainerTestCase):
    def test_loaded_since_the_start(self):
        now = self.folder / "modules"
        with mock.patch.object(container, "_MODULES", now):
            self.folders.modules.write_text("")
            self.assertEqual([], self.container.new_modules())
        self.folders.modules.unlink()
        now.write_text("vxlan 1 0 - Live\next4 1 0 - Live\ntun 1 0 - Live\n")
        with mock.patch.object(container, "_MODULES", now):
            self.assertEqual([], self.container.new_modules())
            self.folders.modules.write_text("ext4\n")
            self.assertEqual(["tun", "vxlan"], self.container.new_modules())
