"""Bring the embedded cloud up."""

import functools
import typing as t
import uuid

from rally_vmperf.cloud import console
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import database
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import graph
from rally_vmperf.cloud import guest_image
from rally_vmperf.cloud import handover
from rally_vmperf.cloud import identity
from rally_vmperf.cloud import inventory
from rally_vmperf.cloud import keys
from rally_vmperf.cloud import kvm
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import lock
from rally_vmperf.cloud import machine
from rally_vmperf.cloud import network
from rally_vmperf.cloud import ownership
from rally_vmperf.cloud import packages
from rally_vmperf.cloud import preflight
from rally_vmperf.cloud import services
from rally_vmperf.cloud import settings
from rally_vmperf.cloud import supervisor
from rally_vmperf.cloud import templates

AGENTS = tuple(
    f"neutron-{name}-agent"
    for name in ("linuxbridge", "dhcp", "l3", "metadata")
)
EMULATED = (
    "warning: no guest runs under KVM here, so guests are emulated (TCG): "
    "their figures say nothing about virtualisation on hardware"
)


def up(
    place: layout.Layout, progress: console.Progress, disk_cache: str | None
) -> None:
    """Have the whole cloud running.

    :param place: the state root's folders
    :param progress: tells the user
    :param disk_cache: cache mode of guests' disks; as before if None
    """
    keeper = supervisor.Supervisor(place)
    owner = ownership.Ownership(place, keeper.processes)
    preflight.check(preflight.gather(place, owner))
    place.make_folders()
    with lock.hold(place.root):
        machine.remember(place)
        bringup = Bringup(place, progress, keeper, disk_cache)
        graph.run(bringup.tasks(), progress.say)
    progress.say(
        f"the cloud is ready: export OS_CLIENT_CONFIG_FILE={place.clouds}"
    )


class Bringup:
    """The steps of one bring-up and what they share.

    :param place: the state root's folders
    :param progress: tells the user
    :param keeper: starts the services
    :param disk_cache: cache mode of guests' disks; as before if None
    """

    def __init__(
        self,
        place: layout.Layout,
        progress: console.Progress,
        keeper: supervisor.Supervisor,
        disk_cache: str | None,
    ) -> None:
        self._place = place
        self._progress = progress
        self._keeper = keeper
        self._disk_cache = disk_cache or settings.load(place).disk_cache
        self._secrets = credentials.load(place.etc / "secrets.json")
        self._values = {
            "secrets": self._secrets,
            "host_uuid": str(uuid.UUID(hex=self._secrets["libvirt_host"])),
        }
        self._shipped = templates.Templates(place, self._values)
        self._resources = self._shipped.data("resources.yaml.j2")

    def tasks(self) -> dict[str, graph.Task]:
        """Return every step with what must be done before it."""
        task = graph.Task
        tasks = {
            "image tools": task([], self._install_tools),
            "image": task(["image tools"], self._build_image),
            "packages": task(["image tools"], self._install),
            "bridges": task(["packages"], network.up),
            "keys": task(["packages"], self._make_keys),
            "configuration": task(
                ["packages", "keys", "image"], self._configure
            ),
            "database-files": task(["configuration"], self._database_files),
            "databases": task(["mariadb"], self._grant),
            "identity": task(["keystone"], self._ensure_identity),
            "image upload": task(["image", "glance"], self._upload),
            "flavors": task(["nova-api"], self._flavors),
            "networks": task(["neutron-linuxbridge-agent"], self._networks),
            "quotas": task(["nova-api", "neutron-server"], self._quotas),
            "hypervisor": task(
                ["nova-compute", "nova-scheduler", "nova-api"],
                self._hypervisor,
            ),
            "agents": task([*AGENTS, "networks"], self._agents),
        }
        schema = self._shipped.data("schema.yaml.j2")
        for name, steps in schema.items():
            action = functools.partial(database.fill, self._place, name, steps)
            tasks[f"schema-{name}"] = task(["databases"], action)
        for service in services.parse(self._shipped.data("services.yaml.j2")):
            action = functools.partial(self._keeper.ensure, service)
            tasks[service.name] = task(service.needs, action)
        return tasks

    def _install_tools(self) -> None:
        packages.install(guest_image.TOOLS, self._place.log / "apt.log")

    def _install(self) -> None:
        packages.install(
            packages.cloud_packages(), self._place.log / "apt.log"
        )

    def _build_image(self) -> None:
        if not self._place.image.exists():
            guest_image.build(
                guest_image.Recipe(output=self._place.image),
                self._place.log / "image.log",
            )

    def _make_keys(self) -> None:
        keys.make(self._place)

    def _configure(self) -> None:
        hardware = kvm.works(
            self._place.image,
            self._place.data / "kvm.json",
            self._keeper.processes.boot_id(),
        )
        virtualization = "kvm" if hardware else "qemu"
        if not hardware:
            self._progress.say(EMULATED)
        chosen = settings.Settings(self._disk_cache, virtualization)
        shipped = templates.Templates(
            self._place, {**self._values, **vars(chosen)}
        )
        templates.write_all(shipped, self._place)
        handover.write(self._place, self._secrets)
        settings.save(self._place, chosen)

    def _database_files(self) -> None:
        database.prepare_files(self._place)

    def _grant(self) -> None:
        database.grant(self._place, self._shipped)

    def _connect(self) -> t.Any:
        return identity.connect(self._place)

    def _ensure_identity(self) -> None:
        identity.ensure(
            self._connect(),
            self._shipped.data("identity.yaml.j2"),
            self._secrets,
        )

    def _upload(self) -> None:
        inventory.ensure_image(
            self._connect(), self._resources["image"], self._place.image
        )

    def _flavors(self) -> None:
        inventory.ensure_flavors(self._connect(), self._resources["flavors"])

    def _networks(self) -> None:
        inventory.ensure_networks(self._connect(), self._resources)

    def _quotas(self) -> None:
        inventory.ensure_quotas(self._connect(), self._resources["quotas"])

    def _hypervisor(self) -> None:
        cloud = self._connect()
        inventory.wait_for_hypervisor(cloud, self._since("nova-compute"))
        if self._place.guests_gone.exists():
            inventory.forget_guests(cloud)
            self._place.guests_gone.unlink()

    def _agents(self) -> None:
        starts = {name: self._since(name) for name in AGENTS}
        inventory.wait_for_agents(self._connect(), starts)

    def _since(self, name: str) -> float:
        """Return when a service was started, to the second like the APIs."""
        record = self._keeper.running(name)
        if record is None:
            raise errors.CloudError(
                f"{name} ended; see {self._place.log}/{name}.log"
            )
        return record.since // 1
