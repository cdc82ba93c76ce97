"""Bring the embedded cloud up."""

import functools
import typing as t
import uuid

from rally_vmperf.cloud.image import guest_image
from rally_vmperf.cloud.network import network
from rally_vmperf.cloud.network import network_check
from rally_vmperf.cloud.network import paths
from rally_vmperf.cloud.resources import agents
from rally_vmperf.cloud.resources import client_credentials
from rally_vmperf.cloud.resources import fernet
from rally_vmperf.cloud.resources import identity
from rally_vmperf.cloud.resources import image_store
from rally_vmperf.cloud.resources import inventory
from rally_vmperf.cloud.resources import keys
from rally_vmperf.cloud.services import database
from rally_vmperf.cloud.services import messages
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.services import service_health
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import settings
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import graph
from rally_vmperf.cloud.system import kvm
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import packages
from rally_vmperf.cloud.system import units

EMULATED = (
    "warning: no guest runs under KVM here, so guests are emulated (TCG): "
    "their figures say nothing about virtualisation on hardware"
)


class Bringup:
    """The steps of one bring-up and what they share.

    :param folders: the state root's folders
    :param progress: tells the user
    :param keeper: starts the services
    :param disk_cache: cache mode of guests' disks; as before if None
    """

    def __init__(
        self,
        folders: layout.Layout,
        progress: console.Progress,
        keeper: supervisor.Supervisor,
        disk_cache: str | None,
    ) -> None:
        self._folders = folders
        self._progress = progress
        self._keeper = keeper
        self._disk_cache = disk_cache or settings.load(folders).disk_cache
        self._found = progress.found
        self._addresses = addresses.load(folders)
        self._secrets = client_credentials.load_secrets(
            folders, progress.found
        )
        self._values = {
            "secrets": self._secrets,
            "host_uuid": str(uuid.UUID(hex=self._secrets["libvirt_host"])),
        }
        self._shipped = templates.Templates(folders, self._values)
        self._resources = self._shipped.data("resources.yaml.j2")
        self._services = {
            service.name: service
            for service in services.parse(
                self._shipped.data("services.yaml.j2")
            )
        }

    def tasks(self) -> dict[str, graph.Task]:
        """Return every step, with the steps that it needs."""
        task, partial = graph.Task, functools.partial
        tasks = {
            "image tools": task(
                [], partial(packages.provide, self._folders, guest_image.TOOLS)
            ),
            "image": task(["image tools"], self._build_image),
            "packages": task(["image tools"], self._install),
            "bridges": task(["packages"], self._bridges),
            "keys": task(
                ["packages"], partial(keys.make, self._folders, self._found)
            ),
            "configuration": task(
                ["packages", "keys", "image"], self._configure
            ),
            "database-files": task(["configuration"], self._database_files),
            "databases": task(["mariadb"], self._grant),
            "identity": task(["keystone"], self._ensure_identity),
            "image upload": task(["image", "glance"], self._upload),
            "flavors": task(["nova-api"], self._flavors),
            # Else there is nobody to bind ports, and none to serve DHCP.
            "networks": task(["agents"], self._networks),
            "quotas": task(["nova-api", "neutron-server"], self._quotas),
            "hypervisor": task(
                ["nova-compute", "nova-scheduler", "nova-api"],
                self._hypervisor,
            ),
            "agents": task([*agents.NAMES], self._agents),
            "paths": task(["networks", "peer-sshd"], self._paths),
            "tempest.conf": task(
                ["image upload", "flavors", "networks"], self._tempest
            ),
            "passwords": task(["identity", "schema-nova"], self._passwords),
        }
        for name, steps in self._shipped.data("schema.yaml.j2").items():
            action = partial(self._schema, name, steps)
            tasks[f"schema-{name}"] = task(["databases"], action)
        for service in self._services.values():
            action = partial(self._ensure, service)
            tasks[service.name] = task(service.needs, action)
        return tasks

    def _install(self) -> None:
        packages.provide(self._folders, packages.cloud_packages())
        units.mask(self._folders)

    def _build_image(self) -> None:
        path = self._folders.image
        if path.exists() and not image_store.readable(path):
            self._found(f"{path.name} is not a complete image", "rebuilt")
            path.unlink()
        if not path.exists():
            guest_image.build(
                guest_image.Recipe(output=path),
                self._folders.log / "image.log",
            )

    def _bridges(self) -> None:
        boot_id = self._keeper.processes.boot_id()
        if network_check.expected(self._folders, boot_id):
            for trouble in network_check.troubles(self._addresses):
                self._found(trouble, "put right")
        network.up(self._addresses)
        network_check.note(self._folders, boot_id)

    def _configure(self) -> None:
        hardware = kvm.works(
            self._folders.image,
            self._folders.data / "kvm.json",
            self._keeper.processes.boot_id(),
        )
        virtualization = "kvm" if hardware else "qemu"
        if not hardware:
            self._progress.say(EMULATED)
        chosen = settings.Settings(self._disk_cache, virtualization)
        shipped = templates.Templates(
            self._folders, {**self._values, **vars(chosen)}
        )
        if schema.any_filled(self._folders):
            for name in templates.gone(self._folders):
                self._found(f"{name} is gone or empty", "rewritten")
        templates.write_all(shipped, self._folders)
        self._folders.let_qemu_pass()
        client_credentials.write(self._folders, self._secrets)
        settings.save(self._folders, chosen)

    def _database_files(self) -> None:
        database.prepare_files(
            self._folders, schema.known_tables(self._folders)
        )

    def _grant(self) -> None:
        database.grant(self._folders, self._shipped)

    def _schema(self, name: str, steps: list[t.Any]) -> None:
        renewed = client_credentials.passwords_changed(
            self._folders, self._secrets
        )
        again = False
        if name == "keystone":
            broken = fernet.broken(self._folders)
            if broken and schema.mark(self._folders, name).exists():
                self._found(
                    f"Keystone's keys ({', '.join(broken)}) cannot be used",
                    "recreated; tokens issued before are void",
                )
            fernet.forget(self._folders, broken)
            again = bool(broken) or renewed
        schema.ensure(self._folders, name, steps, self._found, again=again)
        if name == "nova" and renewed:
            database.client(self._folders, schema.CELLS)

    def _ensure(self, service: services.Service) -> None:
        if service.name == "mariadb":
            trouble = database.start(self._keeper, service)
        elif service.name == "rabbitmq":
            trouble = messages.ensure(
                self._folders,
                self._keeper,
                service,
                self._secrets["rabbitmq"],
                self._found,
            )
        else:
            trouble = self._keeper.ensure(service)
        if trouble not in (None, service_health.NEW, service_health.REBOOTED):
            self._found(f"{service.name} {trouble}", "restarted")

    def _connect(self) -> t.Any:
        return identity.connect(self._folders)

    def _ensure_identity(self) -> None:
        identity.ensure(
            self._connect(),
            self._shipped.data("identity.yaml.j2"),
            self._secrets,
            reset=client_credentials.passwords_changed(
                self._folders, self._secrets
            ),
        )

    def _passwords(self) -> None:
        client_credentials.note_passwords(self._folders, self._secrets)

    def _upload(self) -> None:
        image_store.ensure(
            self._connect(),
            self._resources["image"],
            self._folders.image,
            self._folders.data / "glance" / "images",
            self._found,
        )

    def _flavors(self) -> None:
        inventory.ensure_flavors(self._connect(), self._resources["flavors"])

    def _networks(self) -> None:
        inventory.ensure_networks(self._connect(), self._resources)

    def _quotas(self) -> None:
        inventory.ensure_quotas(self._connect(), self._resources["quotas"])

    def _hypervisor(self) -> None:
        cloud = self._connect()
        inventory.wait_for_hypervisor(
            cloud, agents.since(self._keeper, "nova-compute")
        )
        if self._folders.guests_gone.exists():
            inventory.forget_guests(cloud)
            self._folders.guests_gone.unlink()

    def _tempest(self) -> None:
        client_credentials.write_tempest_conf(
            self._folders, self._shipped, self._connect()
        )

    def _agents(self) -> None:
        agents.wait(self._connect(), self._keeper)

    def _paths(self) -> None:
        cloud = self._connect()
        data_paths = paths.expected(cloud, self._resources, self._folders)
        wanted = [self._services[name] for name in agents.NAMES]
        agents.ensure_paths(
            self._folders, self._keeper, cloud, data_paths, wanted, self._found
        )
