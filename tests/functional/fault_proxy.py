# SPDX-License-Identifier: Apache-2.0
"""A proxy before a cloud's APIs that fails on demand and remembers calls.

Clients are given its address in place of Keystone's. It learns the other
services from the catalog in Keystone's answers, and puts addresses of its own
in their place in whatever passes through.
"""

import contextlib
import dataclasses
import http.server
import json
import re
import socket
import struct
import threading
import typing as t
import urllib.parse

import requests

#: What answers the client instead of the service, besides a status: nothing;
#: a closed connection; one that is closed after the service did its work; the
#: service's own answer, late or cut in half; something that is no answer.
Action = t.Literal["hang", "reset", "lost", "slow", "truncated", "garbage"]

#: What the user agent of our own requests begins with, and not of Rally's.
OURS = "rally-vmperf"
#: Seconds that a slow answer takes longer.
DELAY = 3.0

_IDENTIFIER = re.compile(r"/(?:[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})")
_NAME = re.compile(r"/c_rally_\w+")
_CLOSE_AT_ONCE = struct.pack("ii", 1, 0)
_GARBAGE = b"<html><body>It works!</body></html>"


@dataclasses.dataclass(frozen=True)
class Call:
    """A request as it came in.

    :param path: The path with ``{id}`` for identifiers and names, without its
        query.
    """

    service: str
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.service} {self.method} {self.path}"


@dataclasses.dataclass(kw_only=True)
class Rule:
    """A fault, and the calls that it strikes.

    :param call: The pattern for all of ``service method path``.
    :param action: The status of HTTP, or the name of another fault.
    :param message: The message of the service with the status.
    :param skip: The number of such calls that succeed first.
    :param times: The number of calls that fail then; None for all.
    :param each: True if every distinct call is counted by itself.
    """

    call: str
    action: int | Action
    message: str = "a fault of the test's"
    skip: int = 0
    times: int | None = 1
    each: bool = False
    _calls: dict[str, int] = dataclasses.field(default_factory=dict)

    def strikes(self, call: Call) -> bool:
        """Return whether this call fails, and count it."""
        if not re.fullmatch(self.call, str(call)):
            return False
        key = str(call) if self.each else ""
        number = self._calls.get(key, 0)
        self._calls[key] = number + 1
        end = None if self.times is None else self.skip + self.times
        return self.skip <= number and (end is None or number < end)

    @property
    def struck(self) -> bool:
        """Return whether the rule struck a call."""
        return any(number > self.skip for number in self._calls.values())


class FaultProxy:
    """The proxy; a context manager.

    ``calls`` are our own so far, ``rules`` what shall fail from now on; the
    first rule that strikes decides.

    :param keystone: address of the real Keystone
    """

    def __init__(self, keystone: str) -> None:
        self.calls: list[Call] = []
        self.rules: list[Rule] = []
        self._servers: dict[str, _Server] = {}
        self._lock = threading.Lock()
        parts = urllib.parse.urlsplit(keystone)
        self._keystone, self._path = _origin(keystone), parts.path

    def __enter__(self) -> t.Self:
        self._listen(self._keystone, "identity")
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.released.set()
            server.shutdown()
            server.server_close()

    @property
    def auth_url(self) -> str:
        """Return where clients find Keystone."""
        return self._servers[self._keystone].address + self._path

    def forget(self) -> None:
        """Drop all rules and calls, and release the calls that hang."""
        with self._lock:
            self.calls, self.rules = [], []
        for server in self._servers.values():
            server.released.set()
            server.released = threading.Event()

    def judge(self, call: Call, is_ours: bool) -> Rule | None:
        """Note a call; return the rule by which it fails, if any does."""
        if not is_ours:
            return None
        with self._lock:
            self.calls.append(call)
            return next((r for r in self.rules if r.strikes(call)), None)

    def learn(self, answer: bytes) -> None:
        """Listen for the services in a catalog, if the answer has one."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            for service in json.loads(answer)["token"]["catalog"]:
                for endpoint in service["endpoints"]:
                    self._listen(_origin(endpoint["url"]), service["type"])

    def translate(self, answer: bytes) -> bytes:
        """Put the proxy's addresses in place of the services'."""
        for origin, server in self._servers.items():
            answer = answer.replace(origin.encode(), server.address.encode())
        return answer

    def _listen(self, origin: str, service: str) -> None:
        with self._lock:
            if origin not in self._servers:
                self._servers[origin] = _Server(self, origin, service)


class _Server(http.server.ThreadingHTTPServer):
    """One service's place in the proxy."""

    daemon_threads = True

    def __init__(self, proxy: FaultProxy, origin: str, service: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy
        self.origin = origin
        self.service = service
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.released = threading.Event()
        threading.Thread(
            target=self.serve_forever, args=(0.01,), daemon=True
        ).start()

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Say nothing: clients that go away are what this is for."""


class _Handler(http.server.BaseHTTPRequestHandler):
    """Forwards one request after another, or does not."""

    protocol_version = "HTTP/1.1"
    # The head and the body of a response do not wait for each other.
    disable_nagle_algorithm = True
    server: _Server

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_ours = self.headers.get("User-Agent", "").startswith(OURS)
        call = Call(self.server.service, self.command, template(self.path))
        rule = self.server.proxy.judge(call, is_ours)
        action = rule.action if rule else None
        if isinstance(action, int):
            error = {"code": action, "message": rule.message}
            kind = [("Content-Type", "application/json")]
            self._answer(action, kind, json.dumps({"error": error}).encode())
        elif action == "garbage":
            self._answer(200, [("Content-Type", "text/html")], _GARBAGE)
        elif action == "hang":
            self.server.released.wait()
            self._cut()
        elif action == "reset":
            self._cut()
        else:
            if action == "slow":
                self.server.released.wait(DELAY)
            status, headers, answer = self._forward(body)
            if action == "lost":
                self._cut()
            else:
                self._answer(status, headers, answer, action == "truncated")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def _forward(
        self, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        proxy = self.server.proxy
        host = urllib.parse.urlsplit(self.server.origin).netloc
        headers = {**self.headers, "Host": host, "Accept-Encoding": "identity"}
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(
                self.command,
                self.server.origin + self.path,
                data=body,
                headers=headers,
                timeout=600,
                allow_redirects=False,
            )
        content = answer.content
        proxy.learn(content)
        answer_headers = [
            (name, proxy.translate(value.encode()).decode())
            for name, value in answer.headers.items()
            if name.lower()
            not in ("connection", "content-length", "transfer-encoding")
        ]
        return answer.status_code, answer_headers, proxy.translate(content)

    def _answer(
        self,
        status: int,
        headers: list[tuple[str, str]],
        content: bytes,
        cut: bool = False,
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.wfile.flush()
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_AT_ONCE
        )
        # The handler's own files keep the socket open; end them as well.
        self.rfile.close()
        self.connection.close()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def template(path: str) -> str:
    """Return a path without query, identifiers and names of the product."""
    bare = urllib.parse.urlsplit(path).path.rstrip("/") or "/"
    return _NAME.sub("/{id}", _IDENTIFIER.sub("/{id}", bare))


def pattern(call: str) -> str:
    """Return the pattern of exactly one call, such as ``Rule`` takes."""
    return re.escape(call)


def _origin(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
