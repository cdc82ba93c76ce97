"""Ask a service whether it is ready."""

import collections.abc
import http.client
import socket
import urllib.parse

from rally_vmperf.cloud.system import errors


def tcp(address: str) -> bool:
    """Return whether something listens on HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=2).close()
    except OSError:
        return False
    return True


def unix(path: str) -> bool:
    """Return whether something listens on a Unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return False
    return True


def http_answers(url: str) -> bool:
    """Return whether a server answers with anything but a server error.

    Never asks by a proxy: the cloud's addresses are this machine's.
    """
    parts = urllib.parse.urlsplit(url)
    client = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        client.request("GET", parts.path or "/")
        return client.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        client.close()


KINDS: dict[str, collections.abc.Callable[[str], bool]] = {
    "tcp": tcp,
    "unix": unix,
    "http": http_answers,
}


def ready(probe: dict[str, str]) -> bool:
    """Carry out a probe such as ``{"tcp": "172.30.0.1:5672"}``.

    :param probe: kind -> what to ask; ready at once when there is none
    """
    for kind, target in probe.items():
        if kind not in KINDS:
            raise errors.CloudError(
                f"unknown readiness probe '{kind}' for {target}; "
                f"known are: {', '.join(sorted(KINDS))}"
            )
        if not KINDS[kind](target):
            return False
    return True
