# SPDX-License-Identifier: Apache-2.0
"""Tests of the program that configures a guest, run with fake programs."""

import base64
import functools
import http.server
import json
import os
import pathlib
import runpy
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import ddt
import yaml

from rally_vmperf import resources
from rally_vmperf.guests.booting import host_keys

PROGRAM = resources.path("etc", "guest-image", "configure.py")
#: The fakes of programs log their arguments; mount shows the drive, if any.
LOG = 'echo "$(basename "$0") $*" >> "$LAB/log"\n'
FAKES = {
    "mount": '[ -d "$LAB/drive" ] && cp -r "$LAB/drive/." "$4"',
    "umount": 'rm -r "$1"/*',
    "ssh-keygen": 'echo private > "$7"; echo "ssh-ed25519 AAAA" > "$7.pub"',
    "hostname": "",
    "systemctl": "",
    "chown": "",
}
CLIENT_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFuse rally-vmperf"
METADATA = {
    "uuid": "6f1b2c3d-0000-4000-8000-000000000001",
    "hostname": "g1.novalocal",
    "public_keys": {"lab": "ssh-ed25519 AAAAC3NzaC1 lab\n"},
}
DRIVE = "finished with the instance data of the config drive\n"


class Case(unittest.TestCase):
    """A root file system of a guest that has not been configured."""

    def setUp(self):
        super().setUp()
        self.lab = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        self.root = self.lab / "root"
        self.ssh = self.root / "etc/ssh"
        self.identity = self.root / "sys/class/dmi/id/product_uuid"
        for folder in (self.identity.parent, self.root / "home/debian"):
            folder.mkdir(parents=True)
        self.ssh.mkdir(parents=True)
        self.identity.write_text("one\n")
        programs = self.lab / "bin"
        programs.mkdir()
        for name, command in FAKES.items():
            path = programs / name
            path.write_text(f"#!/bin/sh\n{LOG}{command}\n")
            path.chmod(0o755)

    def put_drive(self, metadata=METADATA, user_data=None):
        """Attach a config drive; replace an earlier one."""
        latest = self.lab / "drive/openstack/latest"
        latest.mkdir(parents=True, exist_ok=True)
        if not isinstance(metadata, str):
            metadata = json.dumps(metadata)
        (latest / "meta_data.json").write_text(metadata)
        if user_data is not None:
            (latest / "user_data").write_text(user_data)

    def put_document(self, metadata=METADATA, **document):
        """Attach a config drive with a cloud-config document."""
        text = f"#cloud-config\n{yaml.safe_dump(document)}"
        self.put_drive(metadata, text)

    def configure(self, expected=0, service="127.0.0.1:9", seconds="0"):
        """Run the program; return its output."""
        process = subprocess.run(
            [sys.executable, PROGRAM, self.root, service, seconds],
            env={
                **os.environ,
                "LAB": str(self.lab),
                "PATH": f"{self.lab / 'bin'}:{os.environ['PATH']}",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        output = process.stdout + process.stderr
        self.assertEqual(expected, process.returncode, output)
        self.assertNotIn("Traceback", output)
        return output

    def read_log(self):
        """Return the command lines of the fakes."""
        return (self.lab / "log").read_text()

    def read_keys(self):
        """Return the lines that may log in."""
        path = self.root / "home/debian/.ssh/authorized_keys"
        self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        self.assertEqual(0o700, stat.S_IMODE(path.parent.stat().st_mode))
        return path.read_text().splitlines()


class UserDataTestCase(Case):
    """User data as a run composes it."""

    def compose(self, source, document=None):
        """Return the host key and the user data."""
        host_key = host_keys.choose_host_key(source)
        encoded = host_keys.compose_user_data(host_key, CLIENT_KEY, document)
        return host_key, base64.b64decode(encoded).decode()

    def test_generated_host_key(self):
        """The guest has the key pair, and prints no part of it."""
        host_key, user_data = self.compose({"generated": True})
        (self.ssh / "ssh_host_rsa_key").write_text("of the image")
        self.put_drive(user_data=user_data)
        output = self.configure()
        self.assertTrue(output.endswith(DRIVE), output)
        self.assertNotIn("SSH HOST KEY", output)
        self.assertNotIn("ignored", output)
        public = (self.ssh / "ssh_host_ed25519_key.pub").read_text()
        self.assertEqual(host_key.public, public.strip())
        private = self.ssh / "ssh_host_ed25519_key"
        self.assertEqual(0o600, stat.S_IMODE(private.stat().st_mode))
        self.assertIn("PRIVATE KEY", private.read_text())
        self.assertEqual(2, len(list(self.ssh.iterdir())))
        self.assertEqual(
            ["ssh-ed25519 AAAAC3NzaC1 lab", CLIENT_KEY], self.read_keys()
        )
        self.assertNotIn("ssh-keygen", self.read_log())

    def test_host_key_on_the_console(self):
        _, user_data = self.compose({"console": True})
        self.put_drive(user_data=user_data)
        self.assertIn(
            "-----BEGIN SSH HOST KEY KEYS-----\n"
            "ssh-ed25519 AAAA\n"
            "-----END SSH HOST KEY KEYS-----\n",
            self.configure(),
        )

    def test_host_key_in_the_image(self):
        _, user_data = self.compose({"public_key": "ssh-ed25519 AAAA"})
        path = self.ssh / "ssh_host_ed25519_key"
        path.write_text("of the image")
        self.put_drive(user_data=user_data)
        self.configure()
        self.assertEqual("of the image", path.read_text())

    def test_document_of_the_user(self):
        """The keys of the run override those of the user."""
        document = yaml.safe_dump(
            {
                "ssh_authorized_keys": ["ssh-rsa AAAA mine"],
                "write_files": [
                    {
                        "path": "/usr/local/bin/fio",
                        "permissions": "0755",
                        "encoding": "b64",
                        "content": base64.b64encode(b"\xff\n").decode(),
                        "owner": "root:debian",
                    },
                    {"path": "/etc/motd", "content": "a\n"},
                    {"path": "/etc/motd", "content": "b\n", "append": True},
                ],
                "packages": ["fio"],
            }
        )
        _, user_data = self.compose({"generated": True}, document)
        self.put_drive(user_data=user_data)
        output = self.configure()
        self.assertIn("ignored: 1 keys are not supported", output)
        program = self.root / "usr/local/bin/fio"
        self.assertEqual(b"\xff\n", program.read_bytes())
        self.assertEqual(0o755, stat.S_IMODE(program.stat().st_mode))
        self.assertEqual("a\nb\n", (self.root / "etc/motd").read_text())
        self.assertIn(f"chown -- root:debian {program}\n", self.read_log())
        self.assertNotIn("ssh-rsa AAAA mine", self.read_keys())


@ddt.ddt
class ConfigureTestCase(Case):
    """Metadata, commands, and what is invalid."""

    def test_host_name(self):
        self.put_drive()
        self.configure()
        self.assertIn("hostname g1\n", self.read_log())
        self.assertEqual("g1\n", (self.root / "etc/hostname").read_text())
        hosts = (self.root / "etc/hosts").read_text()
        self.assertIn("127.0.1.1 g1\n", hosts)

    def test_commands(self):
        """Those of bootcmd run at each boot, the others once, later."""
        words = ["echo", "a  b; exit 1"]
        self.put_document(
            bootcmd=[f"echo booted >> {self.lab}/boots"],
            runcmd=[f"echo first > {self.lab}/out", words],
        )
        self.configure()
        start = "systemctl start --no-block vmperf-commands\n"
        self.assertIn(start, self.read_log())
        commands = self.root / "run/vmperf-guest/commands"
        output = subprocess.check_output(["sh", commands], text=True)
        self.assertEqual("a  b; exit 1\n", output)
        self.assertEqual("first\n", (self.lab / "out").read_text())
        self.assertEqual("", self.configure())
        self.assertEqual("booted\n" * 2, (self.lab / "boots").read_text())
        self.assertEqual(1, self.read_log().count(start))

    @ddt.data("other\n", None)
    def test_other_instance(self, identity):
        """Its metadata replaces that of the guest in the snapshot."""
        self.put_drive()
        if identity is None:
            self.identity.unlink()
        self.configure()
        if identity:
            self.identity.write_text(identity)
        self.put_drive({**METADATA, "public_keys": {"lab": "ssh-rsa AAAA"}})
        self.configure()
        self.assertEqual(["ssh-rsa AAAA"], self.read_keys())

    @ddt.data(
        "g1; touch {lab}/executed",
        "$(touch {lab}/executed)",
        "`touch {lab}/executed`",
        "-F/etc/shadow",
        "g1\nuser",
        "",
        7,
        None,
    )
    def test_hostile_host_name(self, hostname):
        """It is not set, and the guest can be reached."""
        if isinstance(hostname, str):
            hostname = hostname.format(lab=self.lab)
        self.put_drive({**METADATA, "hostname": hostname})
        self.assertIn("vmperf-guest: host name: ", self.configure(1))
        self.assertNotIn("\nhostname", f"\n{self.read_log()}")
        self.assertFalse((self.lab / "executed").exists())
        self.assertEqual(1, len(self.read_keys()))

    @ddt.data("ssh-rsa AAAA\nssh-rsa BBBB", "ssh-rsa \0", 7, None)
    def test_hostile_key(self, key):
        self.put_drive({**METADATA, "public_keys": {"lab": key}})
        self.assertIn("vmperf-guest: authorized keys: ", self.configure(1))
        path = self.root / "home/debian/.ssh/authorized_keys"
        self.assertFalse(path.exists())

    @ddt.data(
        ("ssh_keys: {../../x_private: secret}", "host keys"),
        ("ssh_keys: {ed25519_private: [secret]}", "host keys"),
        ("ssh_keys: {secret_private: x, ed25519_private: x}", "host keys"),
        ("ssh_keys: [secret]", "host keys"),
        ("secret: " + "[" * 5000 + "]" * 5000, "user data"),
        ("secret: " + "{a: " * 900 + "1" + "}" * 900, "user data"),
        ("bootcmd: [[sh, -c, 'echo secret >/dev/null; exit 3']]", "bootcmd"),
        ("write_files: [{path: /secret/\0, content: x}]", "user data"),
        ("write_files: [{path: /x, permissions: secret}]", "write_files"),
        ("secret_key: &x [1]\nother: [" + "*x, " * 70 + "1]", "user data"),
        ("write_files: [{path: /x, content: secret, encoding: z}]",
         "write_files"),
        ("write_files: secret", "write_files"),
        ("bootcmd: 7", "bootcmd"),
        ("runcmd: 7", "runcmd"),
        ("secret", "user data"),
        ("[secret: secret", "user data"),
        ("!!python/object/apply:os.system [touch secret]", "user data"),
    )  # fmt: skip
    @ddt.unpack
    def test_invalid_user_data(self, document, step):
        """The step is named without the content, the others are done."""
        self.put_drive(user_data=f"#cloud-config\n{document}\n")
        output = self.configure(1)
        self.assertIn(f"vmperf-guest: {step}: ", output)
        self.assertNotIn("secret", output)
        self.assertEqual(1, len(self.read_keys()))
        self.assertTrue(list(self.ssh.glob("ssh_host_*_key")))
        self.assertFalse((self.root / "x").exists())
        self.assertTrue(output.endswith(DRIVE), output)

    def test_user_data_of_another_kind(self):
        self.put_drive(user_data=f"#!/bin/sh\ntouch {self.lab}/executed\n")
        self.assertIn("ignored: a part is no cloud-config", self.configure())
        self.assertFalse((self.lab / "executed").exists())

    def test_no_source(self):
        """The SSH server has a key, and the next boot tries again."""
        output = self.configure(1)
        self.assertIn("No instance datasource found: config drive: ", output)
        self.assertIn("; metadata service: ", output)
        self.assertTrue((self.ssh / "ssh_host_ed25519_key").exists())
        self.put_drive()
        self.assertIn(DRIVE, self.configure())

    @ddt.data("", "{", "[]", "null", '"text"')
    def test_invalid_metadata(self, metadata):
        self.put_drive(metadata)
        self.assertIn("No instance datasource found", self.configure(1))
        self.assertIn("umount", self.read_log())


class Handler(http.server.BaseHTTPRequestHandler):
    """A metadata service that fails at first."""

    def __init__(self, answers, *arguments):
        self._answers = answers
        super().__init__(*arguments)

    def do_GET(self):
        """Return the next answer for the path."""
        name = self.path.removeprefix("/openstack/latest/")
        status, content = self._answers[name].pop(0)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        """Print nothing."""


class ServiceTestCase(Case):
    """The metadata service."""

    def serve(self, **answers):
        """Start a service with these answers; return its address."""
        server = http.server.HTTPServer(
            ("127.0.0.1", 0),
            functools.partial(
                Handler,
                {"meta_data.json": answers["metadata"], **answers},
            ),
        )
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"127.0.0.1:{server.server_port}"

    def test_service_that_is_late(self):
        content = json.dumps(METADATA).encode()
        document = b"#cloud-config\nssh_authorized_keys: [ssh-rsa AAAA]\n"
        service = self.serve(
            metadata=[(503, b""), (200, b"{"), (200, content)],
            user_data=[(200, b""), (200, document)],
        )
        output = self.configure(service=service, seconds="60")
        self.assertIn("instance data of the metadata service", output)
        self.assertEqual(
            ["ssh-ed25519 AAAAC3NzaC1 lab", "ssh-rsa AAAA"], self.read_keys()
        )

    def test_service_without_user_data(self):
        content = json.dumps(METADATA).encode()
        service = self.serve(
            metadata=[(200, content)], user_data=[(404, b"not found")]
        )
        self.configure(service=service)
        self.assertEqual(1, len(self.read_keys()))

    def test_service_without_end(self):
        """A longer text than a document is not read."""
        service = self.serve(
            metadata=[(200, b" " * ((1 << 20) + 1))], user_data=[]
        )
        output = self.configure(1, service=service)
        self.assertIn(
            "metadata service: meta_data.json has more than 1048576 bytes",
            output,
        )

    def test_slow_service(self):
        """It is given up at the deadline, although it still answers."""
        service = self.serve(metadata=[(200, b"{")], user_data=[])
        program = runpy.run_path(str(PROGRAM))
        with self.assertRaisesRegex(ValueError, "is not complete in time"):
            program["read_service"](self.root, service, time.monotonic())

    def test_deep_metadata(self):
        service = self.serve(
            metadata=[(200, b'{"secret": ' + b"[" * 100_000)],
            user_data=[(404, b"")],
        )
        output = self.configure(1, service=service)
        self.assertIn("metadata service: RecursionError", output)
        self.assertNotIn("secret", output)

    def test_service_that_does_not_know_the_guest(self):
        service = self.serve(metadata=[(404, b"")], user_data=[])
        output = self.configure(1, service=service)
        self.assertIn("metadata service: meta_data.json: status 404", output)
