# SPDX-License-Identifier: Apache-2.0
"""Serve one file by anonymous FTP with vsftpd, and nothing else.

It runs on the peer as root with Python 3.6 or later.  vsftpd confines the
sessions to the directory of the file, and runs them as an unprivileged user;
it can do so only if root starts it.
"""

import argparse
import os
import sys

#: Directories in the working directory: the served one, and an empty one in
#: which vsftpd confines itself before the login.
SERVED, EMPTY = "ftp", "ftp-empty"

#: Guests behind a router share one address, so both numbers of clients are the
#: same.
CONFIGURATION = """\
{listen}=YES
listen_address{version}={address}
listen_port={port}
pasv_min_port={first}
pasv_max_port={last}
anonymous_enable=YES
no_anon_password=YES
ftp_username=daemon
nopriv_user=nobody
anon_root={folder}/{served}
secure_chroot_dir={folder}/{empty}
max_clients={clients}
max_per_ip={clients}
seccomp_sandbox=NO
xferlog_enable=NO
"""


def publish(name: str) -> None:
    """Create the file that is served; what writes to it here fills it.

    :param name: The name of the file in both directories.
    """
    for directory in (SERVED, EMPTY):
        os.makedirs(directory, exist_ok=True)
        os.chmod(directory, 0o755)  # noqa: S103 - daemon must enter them
    path = os.path.join(SERVED, name)
    with open(path, "ab"):
        os.chmod(path, 0o644)
    if not os.path.exists(name):
        os.link(path, name)


def configuration(address: str, port: int, first: int, last: int) -> str:
    """Return the configuration file of vsftpd as text.

    Each download requires a port for data. Twice as many clients can connect,
    because the session of an interrupted download outlives its client.

    :param address: The address of this machine on which the server listens.
    :param port: The port of the server.
    :param first: The first port for data.
    :param last: The last port for data.
    """
    version = "6" if ":" in address else ""
    return CONFIGURATION.format(
        listen="listen_ipv6" if version else "listen",
        version=version,
        address=address,
        port=port,
        first=first,
        last=last,
        clients=2 * (last - first + 1),
        folder=os.getcwd(),
        served=SERVED,
        empty=EMPTY,
    )


def main() -> None:
    """Publish a file, or become vsftpd."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action")
    actions.add_parser("publish").add_argument("name")
    server = actions.add_parser("serve")
    server.add_argument("address")
    for port in ("port", "first", "last"):
        server.add_argument(port, type=int)
    arguments = vars(parser.parse_args())
    action = arguments.pop("action")
    if os.geteuid():
        sys.exit(
            "protocols=ftp: the login on the peer must be root, because "
            "vsftpd confines clients to the file only as root; log in as "
            "root, or use http"
        )
    if action == "publish":
        publish(**arguments)
        return
    with open("vsftpd.conf", "w") as stream:
        stream.write(configuration(**arguments))
    os.execvp("vsftpd", ["vsftpd", "vsftpd.conf"])  # noqa: S606


if __name__ == "__main__":
    main()
