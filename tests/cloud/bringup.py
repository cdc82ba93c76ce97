# SPDX-License-Identifier: Apache-2.0
"""Bring the embedded cloud up."""

import concurrent.futures
import errno
import json
import typing as t

import openstack

from rally_vmperf import atomic
from rally_vmperf.image import commands
from rally_vmperf.image import guest_image
from rally_vmperf.image import packages
from tests.cloud import preflight
from tests.cloud import teardown
from tests.cloud.container import container
from tests.cloud.container import kvm
from tests.cloud.container import package_root
from tests.cloud.resources import inventory
from tests.cloud.resources import services
from tests.cloud.state import addresses
from tests.cloud.state import credentials
from tests.cloud.state import settings
from tests.cloud.state import state_root
from tests.cloud.state import templates
from tests.cloud.system import layout

EMULATED = (
    "warning: no guest runs under KVM here, so guests are emulated (TCG): "
    "their figures say nothing about virtualisation on hardware"
)
_FULL = (errno.ENOSPC, errno.EDQUOT)
# The programs that report to Nova, Neutron or Cinder.
_REPORTING = ("nova-compute", *layout.AGENTS, *layout.VOLUME_SERVICES)


def up(
    folders: layout.Layout,
    progress: commands.Progress,
    *,
    disk_cache: str | None = None,
    network: addresses.Addresses | None = None,
    hypervisor_count: int | None = None,
    with_volumes: bool | None = None,
    rebuild: bool = False,
) -> None:
    """Bring the whole cloud up, or change the settings of one that runs.

    :param folders: The paths of the cloud.
    :param progress: The output for the user.
    :param disk_cache: The cache mode of the disks of guests; None selects
        the previous one.
    :param network: The address ranges; None selects the previous ones,
        initially free ones.
    :param hypervisor_count: 1 or 2; None selects the previous number.
    :param with_volumes: Whether the cloud has volumes; None selects what it
        had.
    :param rebuild: Whether to start with empty databases.
    :raises errors.HostError: With the reason and the way out.
    """
    preflight.check(folders)
    try:
        state_root.claim(folders)
        with commands.hold_lock(folders.root):
            if rebuild:
                teardown.discard(folders, progress)
            bringup = Bringup(folders, progress)
            bringup.prepare(network)
            bringup.configure(disk_cache, hypervisor_count, with_volumes)
            bringup.start()
            bringup.serve()
    except openstack.exceptions.SDKException as error:
        raise commands.HostError(
            f"the cloud rejected a request: {error}; see 'python -m "
            f"tests.cloud status' and {folders.log}"
        ) from error
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise commands.HostError(
            f"the disk is full: {error.filename or folders.root} cannot be "
            "written; free some, then run 'python -m tests.cloud up' again"
        ) from error
    progress.say(
        f"the cloud is ready: export OS_CLIENT_CONFIG_FILE={folders.clouds}"
    )


class Bringup:
    """The steps of one bring-up and what they share.

    :param folders: The paths of the cloud.
    :param progress: The output for the user.
    """

    def __init__(
        self, folders: layout.Layout, progress: commands.Progress
    ) -> None:
        self._folders = folders
        self._progress = progress
        self._container = container.Container(folders)
        self._secrets: dict[str, str] = {}
        self._settings = settings.load(folders)

    def prepare(self, network: addresses.Addresses | None) -> None:
        """Provide what outlives a rebuild: packages, image, addresses.

        :param network: The address ranges that the user asked for.
        """
        folders = self._folders
        for name in guest_image.sweep(folders.root):
            self._progress.say(f"{name} of an interrupted build removed")
        folders.make_directories()
        packages.install(package_root.TOOLS, folders.log / "apt.log")
        chosen = addresses.choose(folders, addresses.find_used(), network)
        ranges = ", ".join(map(str, chosen.ranges))
        self._progress.say(f"address ranges: {ranges}")
        # Both download and unpack packages; the disk of the image needs
        # tools of the package root.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            root = pool.submit(
                package_root.provide, folders, self._progress.say
            )
            image = pool.submit(self._provide_image, root)
            root.result()
            image.result()

    def _provide_image(self, root: "concurrent.futures.Future[None]") -> None:
        recipe = guest_image.Recipe(output=self._folders.image)
        if guest_image.is_current(recipe):
            return

        def enter(argv: list[str]) -> list[str]:
            root.result()
            return package_root.enter(
                self._folders.package_root, self._folders.root, argv
            )

        guest_image.build(
            recipe,
            self._folders.log / "image.log",
            enter,
        )
        self._progress.say("guest image")

    def configure(
        self,
        disk_cache: str | None,
        hypervisor_count: int | None,
        with_volumes: bool | None,
    ) -> None:
        """Write the configuration files.

        :param disk_cache: The cache mode that the user asked for.
        :param hypervisor_count: The number that the user asked for.
        :param with_volumes: Whether the user asked for volumes.
        """
        folders, before = self._folders, self._settings
        path = folders.etc / "secrets.json"
        self._secrets = credentials.load(
            path, used=folders.used, has_volumes=folders.has_volumes
        )
        hardware = kvm.works(folders)
        if not hardware:
            self._progress.say(EMULATED)
        self._settings = settings.Settings(
            disk_cache or before.disk_cache,
            "kvm" if hardware else "qemu",
            hypervisor_count or before.hypervisors,
            before.volumes if with_volumes is None else with_volumes,
        )
        for is_removed, option, content, check in (
            (
                self._settings.hypervisors < before.hypervisors,
                "--hypervisors=1",
                "the second hypervisor has guests",
                services.check_hypervisor_removable,
            ),
            (
                self._settings.volumes < before.volumes,
                "--no-volumes",
                "volumes exist",
                services.check_volumes_removable,
            ),
        ):
            if not is_removed or not folders.used:
                continue
            if self._container.pid is None:
                raise commands.HostError(
                    f"{option}: the cloud must run, because it knows whether "
                    f"{content}; run 'python -m tests.cloud up' first"
                )
            check(inventory.connect(folders))
        if self._settings.volumes:
            names = packages.listed(layout.SHIPPED / "packages-volumes.txt")
            package_root.add(folders, names, self._progress.say)
        self._templates = templates.Templates(
            folders, self._secrets, self._settings
        )
        credentials.make_keys(folders)
        self._templates.write_all()
        settings.save(folders, self._settings)

    def start(self) -> None:
        """Start the container, or the services that were configured anew."""
        if self._container.pid is None:
            # What is left of one whose waiting process was killed, too.
            self._container.end()
            self._container.start()
            self._progress.say("container")
        else:
            self._container.update()

    def serve(self) -> None:
        """Create what users find in the cloud, and wait until it works."""
        folders, progress = self._folders, self._progress
        done = folders.data / "done" / "identity"
        identity = self._templates.data("identity.yaml.j2")
        resources = self._templates.data("resources.yaml.j2")
        cloud = inventory.connect(folders)
        self._wait_for("keystone", 5000)
        created = json.dumps(identity)
        if not done.exists() or done.read_text() != created:
            inventory.ensure_identity(cloud, identity, self._secrets)
            atomic.write(done, created)
            progress.say("identity")
            # Its catalog has what was created.
            cloud = inventory.connect(folders)
        self._wait_for("glance-api", 9292)
        inventory.ensure_image(cloud, resources["image"], folders.image)
        progress.say("image")
        self._wait_for("nova-api", 8774)
        inventory.ensure_flavors(cloud, resources["flavors"])
        self._wait_for("neutron-server", 9696)
        if self._settings.volumes:
            self._wait_for("cinder-api", 8776)
            inventory.ensure_volume_types(cloud, resources["volume_types"])
            progress.say("volume types")
        inventory.ensure_quotas(cloud, resources["quotas"])
        if self._settings.hypervisors == 1:
            # Also after a removal that was interrupted.
            services.forget_hypervisor(cloud)
        if not self._settings.volumes:
            services.forget_volumes(cloud)
        # Nobody but agents binds ports.
        services.wait(
            f"a report of {', '.join(_REPORTING[:-1])} or {_REPORTING[-1]}",
            lambda: self._have_reported(cloud),
        )
        router = inventory.ensure_networks(cloud, resources)
        progress.say("networks")
        count = self._settings.hypervisors
        services.wait(
            f"hypervisor {' or '.join(layout.HYPERVISORS[:count])}",
            lambda: len(list(cloud.compute.hypervisors())) == count,
        )
        if folders.guests_gone.exists():
            services.forget_guests(cloud)
            folders.guests_gone.unlink()
        self._wait_for_networks(cloud, router.id)
        progress.say("hypervisor")
        inventory.write_tempest_conf(folders, self._templates, cloud)

    def _wait_for(self, name: str, port: int) -> None:
        """Wait until an API answers."""
        controller = addresses.load(self._folders).controller
        url = f"http://{controller}:{port}/"
        self._wait_for_success(
            f"{name} at {url}", ["curl", "-sfo", "/dev/null", "-m", "10", url]
        )

    def _wait_for_success(self, what: str, argv: list[str]) -> None:
        """Wait until a program in the container succeeds."""
        services.wait(
            what, lambda: commands.quietly(self._container.command(argv))
        )

    def _have_reported(self, cloud: t.Any) -> bool:
        """Return whether the programs of all hypervisors have reported."""
        starts = {
            (host, process["name"]): process["start"]
            for host, name in container.SUPERVISORS.items()
            for process in self._container.processes(name)
            if process["name"] in _REPORTING
        }
        if len({host for host, _ in starts}) < self._settings.hypervisors:
            return False
        return services.have_reported(cloud, starts)

    def _wait_for_networks(self, cloud: t.Any, router: str) -> None:
        """Wait until the addresses of the networks answer in the router.

        They are those of DHCP servers, router, peer and control machine.
        """
        ports = [
            *cloud.network.ports(device_owner="network:dhcp"),
            *cloud.network.ports(device_id=router),
        ]
        port_addresses = [
            fixed_ip["ip_address"]
            for port in ports
            for fixed_ip in port.fixed_ips
        ]
        ranges = addresses.load(self._folders)
        for address in (*port_addresses, ranges.peer, ranges.control):
            ping = ["ping", "-c", "1", "-W", "1", address]
            self._wait_for_success(
                f"an answer of {address} to ping",
                ["ip", "netns", "exec", f"qrouter-{router}", *ping],
            )
