import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads.network import wget
from tests.unit.workloads import golden

ENDS = base.Ends(peer="192.0.2.1", shared_ports=(5301,))


@ddt.ddt
class DownloadTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = wget.Download()

    def command(self, arguments, ends=ENDS):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), ends
        )
        return command

    def test_command_lines(self):
        self.assertEqual(
            "wget -nv -O /dev/null --no-proxy --tries=1 --timeout=60 "
            "http://192.0.2.1:5301/data",
            " ".join(self.command({}).argv),
        )
        self.assertIn("loaded", self.command({"to_disk": True}).argv)

    def test_both_protocols(self):
        """Each has its server; data of FTP have ports that are known."""
        arguments = self.workload.complete({"protocols": ["ftp", "http"]})
        shared = self.workload.ports(arguments).shared
        ends = base.Ends(
            peer="2001:db8::1", shared_ports=range(5301, 5301 + shared)
        )
        http, ftp = self.workload.commands(arguments, ends)
        self.assertEqual("http://[2001:db8::1]:5301/data", http.argv[-1])
        self.assertEqual("ftp://[2001:db8::1]:5302/data", ftp.argv[-1])
        self.assertEqual(5302, ftp.server.port)
        written = ftp.server.files["vsftpd.conf"].splitlines()
        self.assertLessEqual(
            {
                *("listen_ipv6=YES", "listen_port=5302"),
                *("pasv_min_port=5303", f"pasv_max_port={5300 + shared}"),
            },
            set(written),
        )

    @ddt.data((["http"], "vsftpd", 1), (["ftp"], "nginx", 129))
    @ddt.unpack
    def test_only_what_a_protocol_needs(self, protocols, other, shared):
        arguments = self.workload.complete({"protocols": protocols})
        needed = {tool.command for tool in self.workload.tools(arguments)}
        self.assertEqual(4, len(needed | {other}))
        self.assertEqual(3, len(needed))
        self.assertEqual(shared, self.workload.ports(arguments).shared)

    def test_one_server_for_all(self):
        server = self.command({}).server
        self.assertEqual("nginx -p . -c nginx.conf", " ".join(server.argv))
        self.assertEqual(
            ("peer", 5301, "repetition", "many"),
            (server.on, server.port, server.lifetime, server.clients),
        )
        self.assertIn("listen 5301;", server.files["nginx.conf"])

    def test_both_ends_speak_ipv6(self):
        ends = base.Ends(peer="2001:db8::1", shared_ports=(5301,))
        command = self.command({}, ends)
        self.assertEqual("http://[2001:db8::1]:5301/data", command.argv[-1])
        text = command.server.files["nginx.conf"]
        self.assertIn("listen [::]:5301;", text)

    def test_the_file_is_made_on_the_peer(self):
        arguments = self.workload.complete({"size_mib": 7, "seed": 3})
        (command,) = self.workload.prepare_peer(arguments)
        self.assertEqual(
            "python3 generate.py --size-mib=7 --seed=3 data",
            " ".join(command.argv),
        )
        self.assertEqual((), self.workload.prepare(arguments))
        self.assertEqual({"peer"}, self.workload.needs(arguments))

    def test_without_a_peer(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "the file is on the peer, and there is none"
        ):
            self.command({}, base.Ends(shared_ports=(5301,)))

    def parse(self, text, **arguments):
        complete = self.workload.complete({"size_mib": 8, **arguments})
        outcome = golden.outcome("http", seconds=2.0, stderr=text)
        return self.workload.parse(complete, {"http": outcome})

    def test_bytes_by_seconds(self):
        (one,) = self.parse(golden.text("wget-1.21.3-http.txt"))
        self.assertEqual(4 << 20, one.value)

    @ddt.data(
        ("", "wget said '' instead of that it loaded 8388608 bytes"),
        ("ERROR 404: Not Found.\n", "wget said 'ERROR 404"),
        (golden.text("wget-1.21.3-http.txt")[:-5], "instead of that"),
        (
            golden.text("wget-1.21.3-http.txt").replace("[8388608/", "[83/"),
            "instead of that it loaded",
        ),
    )
    @ddt.unpack
    def test_refused_outputs(self, text, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(text)

    def test_another_size(self):
        with self.assertRaisesRegex(base.WorkloadError, "9437184 bytes"):
            self.parse(golden.text("wget-1.21.3-http.txt"), size_mib=9)


@ddt.ddt
class RealDownloadTestCase(unittest.TestCase):
    """The wget and the servers of this machine, where it has them."""

    @ddt.data(("http", "nginx"), ("ftp", "vsftpd"))
    @ddt.unpack
    def test_from_a_real_server(self, protocol, program):
        path = "/usr/sbin:/usr/bin:/bin"
        if not (shutil.which("wget") and shutil.which(program, path=path)):
            self.skipTest(f"this machine has no wget or no {program}")
        workload = wget.Download()
        arguments = workload.complete({"size_mib": 4, "protocols": [protocol]})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        count = workload.ports(arguments).shared
        (command,) = workload.commands(
            arguments,
            base.Ends(
                peer="127.0.0.1", shared_ports=range(port, port + count)
            ),
        )
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        (script,) = workload.files(arguments)
        (top / script.name).write_bytes(files.read(script))
        for name, text in command.server.files.items():
            (top / name).write_text(text)
        (generate,) = workload.prepare_peer(arguments)
        subprocess.run(
            [sys.executable, *generate.argv[1:]],
            cwd=top,
            check=True,
            stdout=subprocess.DEVNULL,
            umask=0o077,
        )
        server = subprocess.Popen(
            command.server.argv,
            cwd=top,
            env={"PATH": path},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            outcome = self.load(command, top, port)
        finally:
            server.terminate()
            server.wait()
        (one,) = workload.parse(arguments, {protocol: outcome})
        self.assertGreater(one.value, 1e5)
        self.assertEqual(4 << 20, workload.work(arguments, outcome).amount)

    def load(self, command, top, port):
        for _ in range(300):
            with socket.socket() as trial:
                if not trial.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        begun = time.monotonic()
        done = subprocess.run(
            command.argv,
            cwd=top,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        return golden.outcome(
            command.name,
            seconds=time.monotonic() - begun,
            stderr=done.stderr,
        )
