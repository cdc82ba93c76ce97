# SPDX-License-Identifier: Apache-2.0
"""A jump host for tests: an OpenSSH server next to the cloud's router."""

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
    (gateway,) = (
        candidate
        for candidate in admin.network.routers()
        if candidate.external_gateway_info
    )
    return gateway


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
        _served(admin, pathlib.Path(name)) as settings,
    ):
        yield settings


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
        fixed_ip["ip_address"]
        for fixed_ip in router(admin).external_gateway_info[
            "external_fixed_ips"
        ]
    )
    known_hosts = folder / "known_hosts"
    known_hosts.write_text(f"[{address}]:{PORT} {host.public}\n")
    command = (
        "ip",
        "netns",
        "exec",
        namespace(admin),
        *_sshd(folder, address),
    )
    with breakage.running(*command) as process:
        time.sleep(1)
        if process.poll() is not None:
            raise AssertionError("sshd has ended at once")
        yield {
            "address": address,
            "port": PORT,
            "user": "root",
            "key_file": str(folder / "client"),
            "known_hosts": str(known_hosts),
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
    options = [word for setting in settings for word in ("-o", setting)]
    return ["/usr/sbin/sshd", "-D", "-f", "/dev/null", *options]
