"""A jump host of our own: an OpenSSH server beside the cloud's router."""

import contextlib
import pathlib
import subprocess
import time

from rally_vmperf.machines.remote import hostkey

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
def served(admin, folder: pathlib.Path):
    """Have a server in the router's namespace that forwards, and no more.

    Yields the jump host as a task names it.

    :param folder: for its keys
    """
    folder.mkdir(exist_ok=True)
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
    process = _serve(namespace(admin), folder, address)
    try:
        yield {
            "address": address,
            "port": PORT,
            "user": "root",
            "key_file": str(folder / "client"),
            "known_hosts": str(known),
        }
    finally:
        process.terminate()
        process.wait()


def _serve(inside: str, folder: pathlib.Path, address: str):
    settings = [
        f"HostKey={folder}/host",
        f"AuthorizedKeysFile={folder}/authorized",
        "StrictModes=no",
        "UsePAM=no",
        "PidFile=none",
        "MaxSessions=0",
        f"ListenAddress={address}:{PORT}",
    ]
    words = [word for one in settings for word in ("-o", one)]
    sshd = ["/usr/sbin/sshd", "-D", "-f", "/dev/null", *words]
    process = subprocess.Popen(
        ["ip", "netns", "exec", inside, *sshd],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(1)
    if process.poll() is not None:
        raise AssertionError("sshd has ended at once")
    return process
