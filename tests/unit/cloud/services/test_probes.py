import http.server
import os
import socket
import tempfile
import threading
import unittest

from rally_vmperf.cloud.services import probes
from rally_vmperf.cloud.system import errors


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, *words):
        """Say nothing."""


class ProbesTestCase(unittest.TestCase):
    def test_no_probe_is_ready(self):
        self.assertTrue(probes.ready({}))

    def test_tcp(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            self.assertTrue(probes.ready({"tcp": address}))
        self.assertFalse(probes.ready({"tcp": address}))

    def test_unix(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            self.assertFalse(probes.ready({"unix": path}))
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(path)
                server.listen()
                self.assertTrue(probes.ready({"unix": path}))

    def test_http(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        for status, ready in ((200, True), (300, True), (401, True),
                              (500, False), (503, False)):  # fmt: skip
            with self.subTest(status):
                probe = {"http": f"{url}/{status}"}
                self.assertIs(ready, probes.ready(probe))

    def test_http_nobody(self):
        self.assertFalse(probes.ready({"http": "http://127.0.0.1:1/"}))

    def test_unknown(self):
        with self.assertRaisesRegex(errors.CloudError, "unknown .*'udp'"):
            probes.ready({"udp": "127.0.0.1:53"})
