"""As much of a cloud's HTTP as makes the SDK ask it something."""

import http.server
import json
import threading


class StubCloud(http.server.ThreadingHTTPServer):
    """A Keystone or a Nova, without any state but what was made.

    :param nova: address of the Nova in the catalog
    """

    daemon_threads = True

    def __init__(self, nova=""):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.nova = nova
        self.made = []
        threading.Thread(
            target=self.serve_forever, args=(0.01,), daemon=True
        ).start()

    def close(self):
        """End it."""
        self.shutdown()
        self.server_close()

    def catalog(self):
        """Return where its Nova is."""
        url = f"{self.nova}/v2.1"
        place = {"interface": "public", "region": "R", "region_id": "R"}
        return [
            {
                "type": "compute",
                "name": "nova",
                "endpoints": [place | {"url": url}],
            }
        ]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/auth/tokens"):
            token = {
                "methods": ["password"],
                "user": {"id": "u", "name": "u", "domain": {"id": "d"}},
                "project": {"id": "p", "name": "p", "domain": {"id": "d"}},
                "expires_at": "2100-01-01T00:00:00.000000Z",
                "issued_at": "2000-01-01T00:00:00.000000Z",
                "roles": [],
                "catalog": self.server.catalog(),
            }
            self._answer(201, {"token": token})
        else:
            self.server.made.append(json.loads(body))
            self._answer(200, json.loads(body))

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        link = [{"rel": "self", "href": self.server.address + self.path}]
        if self.path.startswith("/v3"):
            version = {"id": "v3.14", "status": "stable", "links": link}
            self._answer(200, {"version": version})
        elif self.path.rstrip("/") == "/v2.1":
            version = {
                "id": "v2.1",
                "status": "CURRENT",
                "version": "2.90",
                "min_version": "2.1",
                "links": link,
            }
            self._answer(200, {"version": version})
        else:
            self._answer(200, {"servers": []})

    def _answer(self, status, content):
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("X-Subject-Token", "t")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *arguments):
        pass
