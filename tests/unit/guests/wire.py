"""A cloud on a socket: the SDK talks to it as to a real one.

It answers with documents in the form of the services' API references, and
keeps what it was sent.
"""

import contextlib
import http.server
import json
import threading
import typing as t

from rally_vmperf.guests import cloud

TOKEN = {
    "token": {
        "methods": ["password"],
        "expires_at": "2099-01-01T00:00:00.000000Z",
        "issued_at": "2026-01-01T00:00:00.000000Z",
        "user": {
            "id": "u1",
            "name": "member",
            "domain": {"id": "default", "name": "Default"},
        },
        "project": {
            "id": "p1",
            "name": "demo",
            "domain": {"id": "default", "name": "Default"},
        },
        "roles": [{"id": "r1", "name": "member"}],
    }
}


class Wire:
    """The answers of a cloud, and the requests to it.

    :param answers: (method, path) -> document; an empty text is sent as 202
        without a body, and bytes are sent unchanged, with the status 204 if
        there are none
    :param services: The services of the catalogue, type -> path.
    """

    def __init__(
        self,
        answers: dict[tuple[str, str], t.Any],
        services: dict[str, str],
    ) -> None:
        self.answers = answers
        self.services = services
        self.sent: list[tuple[str, str, dict[str, str], t.Any]] = []
        #: The paths that were read, with their queries.
        self.read: list[str] = []
        self.url = ""
        #: The address of the services in the catalogue, if it is not ``url``.
        self.catalog_url = ""

    def body(self, method: str, path: str) -> t.Any:
        """Return the body of the only such request."""
        (body,) = (s[3] for s in self.sent if s[:2] == (method, path))
        return body

    def headers(self, method: str, path: str) -> dict[str, str]:
        """Return the headers of the only such request."""
        (headers,) = (s[2] for s in self.sent if s[:2] == (method, path))
        return headers

    def document(self, method: str, path: str) -> t.Any:
        """Return the answer to a request, None where there is none."""
        if path == "/identity/v3":
            return version("v3.14", "", self.url + path)
        if path == "/identity/v3/auth/tokens":
            catalog = [
                {
                    "id": kind,
                    "type": kind,
                    "name": kind,
                    "endpoints": [
                        {
                            "id": f"{kind}-public",
                            "interface": "public",
                            "region": "RegionOne",
                            "region_id": "RegionOne",
                            "url": (self.catalog_url or self.url) + where,
                        }
                    ],
                }
                for kind, where in self.services.items()
            ]
            return {"token": {**TOKEN["token"], "catalog": catalog}}
        return self.answers.get((method, path))


def version(identifier: str, newest: str, url: str) -> dict[str, t.Any]:
    """Return the version document of a service."""
    return {
        "version": {
            "id": identifier,
            "status": "CURRENT",
            "version": newest,
            "min_version": identifier[1:] if newest else "",
            "updated": "2013-07-23T11:33:21Z",
            "links": [{"rel": "self", "href": url}],
            "media-types": [
                {
                    "base": "application/json",
                    "type": "application/vnd.openstack.identity-v3+json",
                }
            ],
        }
    }


@contextlib.contextmanager
def served(wire: Wire) -> t.Iterator[None]:
    """Serve the wire at its URL in the block."""

    class Handler(http.server.BaseHTTPRequestHandler):
        """One request."""

        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            path = self.path.partition("?")[0].rstrip("/")
            if self.command == "GET":
                wire.read.append(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            wire.sent.append((self.command, path, dict(self.headers), body))
            document = wire.document(self.command, path)
            status = 404 if document is None else 200
            if isinstance(document, bytes):
                text, status = document, 200 if document else 204
            else:
                text = json.dumps(document).replace("URL", wire.url).encode()
            if document == "":
                status, text = 202, b""
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Subject-Token", "secret")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = _answer

        def log_message(self, *arguments: t.Any) -> None:
            """Do nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    wire.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def connected(wire: Wire) -> t.Iterator[t.Any]:
    """Serve the wire, and return a connection to it."""
    with served(wire):
        connection = cloud.connect(credential(f"{wire.url}/identity/v3"))
        try:
            yield connection
        finally:
            connection.close()


def credential(auth_url: str) -> dict[str, str]:
    """Return the credential of the only user.

    :param auth_url: The address of Keystone.
    """
    return {
        "auth_url": auth_url,
        "username": "member",
        "password": "secret",
        "tenant_name": "demo",
        "region_name": "RegionOne",
    }
