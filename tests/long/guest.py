# SPDX-License-Identifier: Apache-2.0
"""A guest with a fixed address and a floating IP.

    python -m tests.long.guest FOLDER

boots one in the cloud of a folder, logs in and removes it, for a cloud whose
host is a network namespace.
"""

import collections.abc
import contextlib
import pathlib
import subprocess
import sys

import openstack

from tests import patience
from tests.functional import laboratory


class Guest:
    """A guest that answers SSH sooner or later.

    :param cloud: A connection as administrator.
    :param folder: The folder of the cloud.
    :param server: The server.
    :param address: The floating IP.
    """

    def __init__(self, cloud, folder, server, address):
        self._cloud = cloud
        self._key = f"{folder}/etc/id_ed25519"
        self.server = server
        self.address = address

    def run(self, command: str) -> subprocess.CompletedProcess:
        """Run a command in the guest."""
        options = (
            *("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"),
            *("LogLevel=ERROR", "ConnectTimeout=5", "BatchMode=yes"),
        )
        login_options = [word for option in options for word in ("-o", option)]
        login = [
            "ssh",
            "-i",
            self._key,
            *login_options,
            f"debian@{self.address}",
        ]
        return subprocess.run(
            [*login, command],
            capture_output=True,
            text=True,
            timeout=patience.seconds(60),
            check=False,
        )

    def read_output(self, command: str) -> str:
        """Return what a command prints in the guest."""
        process = self.run(command)
        if process.returncode:
            raise AssertionError(
                f"{command}: {process.stdout}{process.stderr}"
            )
        return process.stdout.strip()

    def wait(self) -> None:
        """Wait until it answers SSH."""
        laboratory.wait_for(
            "SSH", lambda: not self.run("true").returncode, 400
        )

    def status(self) -> str:
        """Return Nova's status of it."""
        return self._cloud.compute.get_server(self.server).status


@contextlib.contextmanager
def booted(
    cloud, folder, name: str, host: str = ""
) -> collections.abc.Iterator[Guest]:
    """Boot a guest, and remove all of it in the end.

    :param cloud: A connection as administrator.
    :param folder: The folder of the cloud.
    :param name: The name of the guest and its resources.
    :param host: The hypervisor; any if it is empty.
    """
    compute, network = cloud.compute, cloud.network
    key = pathlib.Path(folder, "etc/id_ed25519.pub").read_text()
    with contextlib.ExitStack() as stack:
        compute.create_keypair(name=name, public_key=key)
        stack.callback(compute.delete_keypair, name)
        group = network.create_security_group(name=name)
        stack.callback(network.delete_security_group, group.id)
        for protocol, port in (("icmp", None), ("tcp", 22)):
            network.create_security_group_rule(
                security_group_id=group.id,
                direction="ingress",
                protocol=protocol,
                port_range_min=port,
                port_range_max=port,
            )
        zone = {"availability_zone": f"nova:{host}"} if host else {}
        server = compute.create_server(
            name=name,
            key_name=name,
            flavor_id=compute.find_flavor("vmperf.tiny").id,
            image_id=cloud.image.find_image("vmperf-guest").id,
            networks=[{"uuid": network.find_network("private").id}],
            security_groups=[{"name": name}],
            **zone,
        )
        stack.callback(_delete, compute, server)
        server = compute.wait_for_server(
            server, interval=1, wait=patience.seconds(400)
        )
        (port,) = network.ports(device_id=server.id)
        floating = network.create_ip(
            floating_network_id=network.find_network("public").id,
            port_id=port.id,
        )
        stack.callback(network.delete_ip, floating.id)
        yield Guest(cloud, folder, server, floating.floating_ip_address)


def _delete(compute, server) -> None:
    compute.delete_server(server)
    compute.wait_for_delete(server, interval=1, wait=patience.seconds(120))


def main(folder: str) -> None:
    """Boot a guest and log in."""
    config = openstack.config.OpenStackConfig(
        config_files=[f"{folder}/clouds.yaml"], load_envvars=False
    )
    cloud = openstack.connection.Connection(
        config=config.get_one("vmperf-admin")
    )
    with booted(cloud, folder, "vmperf-visited") as guest:
        guest.wait()
        print(guest.read_output("cat /proc/uptime"))


if __name__ == "__main__":
    main(*sys.argv[1:])
