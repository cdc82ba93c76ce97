"""A jump host of our own: an OpenSSH server beside the cloud's router."""

import contextlib
import pathlib
import tempfile
import time

from rally_vmperf.machines.remote import hostkey
from tests.functional import breakage

PORT = 2222


def router(admin):
    """Return the router that has a way out.

    :param admin: a connection to the embedded cloud
    """
    (found,) = (
        one for one in admin.network.routers() if one.external_gateway_info
    )
    return found


def namespace(admin) -> str:
    """Return the router's network namespace."""
    return f"qrouter-{router(admin).id}"


@contextlib.contextmanager
def served(admin):
    """Have a server in the router's namespace that forwards, and no more.

    Yields the jump host as a task names it. The container has the same path
    for its keys as the host.
    """
    with (
        tempfile.TemporaryDirectory(dir=breakage.PLACE.data) as name,
        _served(admin, pathlib.Path(name)) as found,
    ):
        yield found


@contextlib.contextmanager
def _served(admin, folder: pathlib.Path):
    host, client = hostkey.generate("jump"), hostkey.generate("client")
    for name, content in (
        ("host", host.private),
        ("client", client.private),
        ("authorized", client.public),
    ):
        path = folder / name
        path.write_text(content)
        path.chmod(0o600)
    (address,) = (
        one["ip_address"]
        for one in router(admin).external_gateway_info["external_fixed_ips"]
    )
    known = folder / "known_hosts"
    known.write_text(f"[{address}]:{PORT} {host.public}\n")
    words = ("ip", "netns", "exec", namespace(admin), *_sshd(folder, address))
    with breakage.running(*words) as process:
        time.sleep(1)
        if process.poll() is not None:
            raise AssertionError("sshd has ended at once")
        yield {
            "address": address,
            "port": PORT,
            "user": "root",
            "key_file": str(folder / "client"),
            "known_hosts": str(known),
        }


def _sshd(folder: pathlib.Path, address: str) -> list[str]:
    settings = [
        f"HostKey={folder}/host",
        f"AuthorizedKeysFile={folder}/authorized",
        "StrictModes=no",
        "UsePAM=yes",
        "PidFile=none",
        "MaxSessions=0",
        f"ListenAddress={address}:{PORT}",
    ]
    words = [word for one in settings for word in ("-o", one)]
    return ["/usr/sbin/sshd", "-D", "-f", "/dev/null", *words]
