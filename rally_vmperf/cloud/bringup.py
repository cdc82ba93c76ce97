"""Bring the embedded cloud up."""

import concurrent.futures
import errno
import secrets
import typing as t
import urllib.error
import urllib.request

from rally_vmperf import atomic
from rally_vmperf.cloud import preflight
from rally_vmperf.cloud import teardown
from rally_vmperf.cloud.container import container
from rally_vmperf.cloud.container import kvm
from rally_vmperf.cloud.container import package_root
from rally_vmperf.cloud.image import guest_image
from rally_vmperf.cloud.resources import client_credentials
from rally_vmperf.cloud.resources import identity
from rally_vmperf.cloud.resources import inventory
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import credentials
from rally_vmperf.cloud.state import hypervisors
from rally_vmperf.cloud.state import settings
from rally_vmperf.cloud.state import state_root
from rally_vmperf.cloud.state import templates
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import lock
from rally_vmperf.cloud.system import packages

EMULATED = (
    "warning: no guest runs under KVM here, so guests are emulated (TCG): "
    "their figures say nothing about virtualisation on hardware"
)
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: The file of the secret by which Erlang's nodes trust each other.
_COOKIE = "rabbitmq/.erlang.cookie"


def up(
    folders: layout.Layout,
    progress: console.Progress,
    *,
    disk_cache: str | None = None,
    network: addresses.Addresses | None = None,
    hypervisor_count: int | None = None,
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
    :param rebuild: Whether to start with empty databases.
    :raises errors.CloudError: With the reason and the way out.
    """
    preflight.check(preflight.gather(folders))
    try:
        state_root.claim(folders)
        with lock.hold(folders.root):
            if rebuild:
                teardown.discard(folders, progress)
            bringup = Bringup(folders, progress)
            bringup.prepare(network)
            bringup.configure(disk_cache, hypervisor_count)
            bringup.start()
            bringup.serve()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise errors.CloudError(
            f"the disk is full: {error.filename or folders.root} cannot be "
            "written; free some, then run 'rally-vmperf cloud up' again"
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
        self, folders: layout.Layout, progress: console.Progress
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
        used = addresses.find_used(addresses.routes(), addresses.resolvers())
        chosen = addresses.settle(folders, used, network, made=folders.used)
        if chosen != addresses.USUAL:
            self._progress.say(
                f"networks: {', '.join(map(str, chosen.ranges))}"
            )
        # Both download and unpack packages; the disk of the image needs
        # tools of the package root.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            root = pool.submit(self._provide_root)
            image = pool.submit(self._provide_image, root)
            root.result()
            image.result()

    def _provide_root(self) -> None:
        if not self._folders.package_root.is_dir():
            self._progress.say("installing the packages of the container")
            package_root.provide(self._folders)
            self._progress.say("packages of the container")

    def _provide_image(self, root: "concurrent.futures.Future[None]") -> None:
        if self._folders.image.exists():
            return

        def enter(argv: list[str]) -> list[str]:
            root.result()
            return package_root.enter(
                self._folders.package_root, self._folders.root, argv
            )

        guest_image.build(
            guest_image.Recipe(output=self._folders.image),
            self._folders.log / "image.log",
            enter,
        )
        self._progress.say("guest image")

    def configure(
        self, disk_cache: str | None, hypervisor_count: int | None
    ) -> None:
        """Write the configuration files.

        :param disk_cache: The cache mode that the user asked for.
        :param hypervisor_count: The number that the user asked for.
        """
        folders, before = self._folders, self._settings
        self._secrets = credentials.load(
            folders.etc / "secrets.json", used=folders.used
        )
        hardware = kvm.works(
            folders.image, folders.data / "kvm.json", folders.package_root
        )
        if not hardware:
            self._progress.say(EMULATED)
        self._settings = settings.Settings(
            disk_cache or before.disk_cache,
            "kvm" if hardware else "qemu",
            hypervisor_count or before.hypervisors,
        )
        fewer = self._settings.hypervisors < before.hypervisors
        if fewer and folders.used:
            self._check_removal()
        self._templates = templates.Templates(
            folders, self._secrets, self._settings
        )
        client_credentials.make_keys(folders)
        cookie = folders.data / _COOKIE
        if not cookie.exists():
            # Erlang's own has 36 bits.
            atomic.write(cookie, secrets.token_hex(32), mode=0o400)
        self._templates.write_all()
        client_credentials.write(folders, self._secrets)
        settings.save(folders, self._settings)

    def _check_removal(self) -> None:
        """Reject fewer hypervisors while the second one is in use."""
        if self._container.pid is None:
            raise errors.CloudError(
                "--hypervisors=1: the cloud must run, because it knows "
                "whether the second hypervisor has guests; run "
                "'rally-vmperf cloud up' first"
            )
        inventory.check_hypervisor_removable(self._connect())

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
        """Create what users find in the cloud."""
        done = self._folders.data / "done" / "identity"
        wanted = self._templates.data("resources.yaml.j2")
        self._wait_for("keystone", "http://{}:5000/")
        if not done.exists():
            identity.ensure(
                self._connect(),
                self._templates.data("identity.yaml.j2"),
                self._secrets,
            )
            done.touch()
            self._progress.say("identity")
        cloud = self._connect()
        self._wait_for("glance", "http://{}:9292/")
        inventory.ensure_image(cloud, wanted["image"], self._folders.image)
        self._progress.say("image")
        self._wait_for("nova-api", "http://{}:8774/")
        inventory.ensure_flavors(cloud, wanted["flavors"])
        self._wait_for("neutron-server", "http://{}:9696/")
        inventory.ensure_quotas(cloud, wanted["quotas"])
        # Nobody else binds ports.
        inventory.wait_for_agents(cloud, self._starts_of_agents())
        inventory.ensure_networks(cloud, wanted)
        self._progress.say("networks")
        if self._settings.hypervisors == 1:
            # Also after a removal that was interrupted.
            inventory.forget_hypervisor(cloud)
        inventory.wait_for_hypervisors(cloud, self._starts_of_hypervisors())
        if self._folders.guests_gone.exists():
            inventory.forget_guests(cloud)
            self._folders.guests_gone.unlink()
        self._wait_for_networks(cloud, wanted)
        self._progress.say("hypervisor")
        client_credentials.write_tempest_conf(
            self._folders, self._templates, cloud
        )

    def _connect(self) -> t.Any:
        return identity.connect(self._folders)

    def _wait_for(self, name: str, url: str) -> None:
        """Wait until an API answers."""
        address = url.format(addresses.load(self._folders).controller)
        inventory.wait(f"{name} at {address}", lambda: _answers(address))

    def _wait_for_networks(self, cloud: t.Any, wanted: t.Any) -> None:
        """Wait until DHCP servers, router and peer answer in the router."""
        router = cloud.network.find_router(wanted["router"]["name"])
        ports = [
            *cloud.network.ports(device_owner="network:dhcp"),
            *cloud.network.ports(device_id=router.id),
        ]
        found = [one["ip_address"] for port in ports for one in port.fixed_ips]
        for address in (*found, addresses.load(self._folders).peer):
            ping = ["ping", "-c", "1", "-W", "1", address]
            self._wait_for_success(
                ["ip", "netns", "exec", f"qrouter-{router.id}", *ping],
                f"an answer of {address} to ping",
            )

    def _wait_for_success(self, argv: list[str], what: str) -> None:
        """Wait until a program in the container succeeds."""
        inventory.wait(
            what, lambda: commands.quietly(self._container.command(argv))
        )

    def _starts(self) -> dict[str, float]:
        """Return the time when each program of the container started."""
        return {
            process["name"]: process["start"]
            for process in self._container.processes()
        }

    def _starts_of_agents(self) -> dict[tuple[str, str], float]:
        starts = self._starts()
        found = {
            (hypervisors.NAMES[0], name): starts.get(name, 0)
            for name in hypervisors.AGENTS
        }
        if self._settings.hypervisors == 2:
            name = hypervisors.AGENTS[0]
            found[hypervisors.NAMES[1], name] = starts.get("hypervisor-2", 0)
        return found

    def _starts_of_hypervisors(self) -> dict[str, float]:
        starts = self._starts()
        names = ("nova-compute", "hypervisor-2")
        return {
            host: starts.get(name, 0)
            for host, name in zip(hypervisors.NAMES, names, strict=True)
            if name in starts
        }


def _answers(url: str) -> bool:
    """Return whether a server answers with anything but a server error."""
    # No proxy: the address is one of this host.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, timeout=10).close()
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False
    return True
