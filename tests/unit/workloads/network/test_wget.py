# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import wget
from tests.unit.workloads import golden

ENDS = base.Endpoints(peer="192.0.2.1", shared_ports=(5301,))


@ddt.ddt
class DownloadTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = wget.Wget()

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
        ends = base.Endpoints(
            peer="2001:db8::1", shared_ports=range(5301, 5301 + shared)
        )
        http, ftp = self.workload.commands(arguments, ends)
        self.assertEqual("http://[2001:db8::1]:5301/data", http.argv[-1])
        self.assertEqual("ftp://[2001:db8::1]:5302/data", ftp.argv[-1])
        self.assertEqual(5302, ftp.server.port)
        self.assertEqual(
            f"python3 serve_ftp.py serve :: 5302 5303 {5300 + shared}",
            " ".join(ftp.server.argv),
        )

    @ddt.data((["http"], "vsftpd", 1), (["ftp"], "nginx", 129))
    @ddt.unpack
    def test_only_tools_and_ports_of_the_protocols(
        self, protocols, other, shared
    ):
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
        self.assertIn("listen 0.0.0.0:5301;", server.files["nginx.conf"])
        self.assertEqual(("data",), server.prepared_files)

    def test_both_ends_speak_ipv6(self):
        ends = base.Endpoints(peer="2001:db8::1", shared_ports=(5301,))
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

    def test_ftp_needs_root(self):
        """The program that requires it runs before the file is generated."""
        arguments = self.workload.complete({"protocols": ["ftp"]})
        self.assertEqual({"peer", "peer_root"}, self.workload.needs(arguments))
        names = [file.name for file in self.workload.files(arguments)]
        self.assertEqual(["generate.py", "serve_ftp.py"], names)
        publish, generate = self.workload.prepare_peer(arguments)
        self.assertEqual(
            "python3 serve_ftp.py publish data", " ".join(publish.argv)
        )
        self.assertEqual("generate", generate.name)

    def test_without_a_peer(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "the file is on the peer, which is missing"
        ):
            self.command({}, base.Endpoints(shared_ports=(5301,)))

    def parse(self, text, **arguments):
        complete = self.workload.complete({"size_mib": 8, **arguments})
        outcome = golden.outcome("http", seconds=2.0, stderr=text)
        return self.workload.parse_all(complete, {"http": outcome})

    def test_bytes_by_seconds(self):
        (bandwidth,) = self.parse(golden.text("wget-1.21.3-http.txt"))
        self.assertEqual(4 << 20, bandwidth.value)

    @ddt.data(
        ("", "wget printed '' instead of a download of 8388608 bytes"),
        ("ERROR 404: Not Found.\n", "wget printed 'ERROR 404"),
        (golden.text("wget-1.21.3-http.txt")[:-5], "instead of a download"),
        (
            golden.text("wget-1.21.3-http.txt").replace("[8388608/", "[83/"),
            "instead of a download",
        ),
    )
    @ddt.unpack
    def test_refused_outputs(self, text, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(text)

    def test_another_size(self):
        with self.assertRaisesRegex(base.WorkloadError, "9437184 bytes"):
            self.parse(golden.text("wget-1.21.3-http.txt"), size_mib=9)

    @ddt.data(
        ("/data", "/other"),
        ("http://", "ftp://"),
        ("/dev/null", "loaded"),
    )
    @ddt.unpack
    def test_another_download(self, old, new):
        text = golden.text("wget-1.21.3-http.txt")
        self.assertIn(old, text)
        with self.assertRaisesRegex(
            base.WorkloadError, "bytes from http://.../data to /dev/null"
        ):
            self.parse(text.replace(old, new))

    def test_to_disk(self):
        text = golden.text("wget-1.21.3-http.txt")
        with self.assertRaisesRegex(base.WorkloadError, "to loaded"):
            self.parse(text, to_disk=True)
        (bandwidth,) = self.parse(
            text.replace("/dev/null", "loaded"), to_disk=True
        )
        self.assertEqual(4 << 20, bandwidth.value)
