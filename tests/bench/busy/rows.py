# SPDX-License-Identifier: Apache-2.0
"""Put other people's servers, ports and hosts into a cloud's databases.

No row is invented: those of one server, of its port and of the machine are
copied, each copy under a name, an identifier and a number of its own.  A row
has what this release of Nova and Neutron puts into it, and is listed and
joined as any other.  No host runs or serves the copies: theirs are down.
"""

import collections.abc
import dataclasses
import pathlib

from tests.cloud.container import container
from tests.cloud.system import layout

#: Project, hosts and identifiers of all copies begin like this.
PROJECT = "b05b05b05b05b05b05b05b05b05b05b0"
HOST = "vmperf-busy-"
ID = "b05b05b0-{kind}-4000-8000-"
SERVER, PORT, OTHER = "0001", "0002", "0003"
#: Of so many hosts one has room; Placement names at most a thousand with room.
WITH_ROOM = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Template:
    """The resources that are copied.

    :param server: The identifier of a server.
    :param port: The identifier of its port.
    :param host: The name of the host that it runs on.
    :param network: The identifier of the network of the copies.
    """

    server: str
    port: str
    host: str
    network: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Size:
    """The number of copies of each."""

    hosts: int
    servers: int
    ports: int


class Rows:
    """The copies in the databases of an embedded cloud.

    :param root: folder of its state
    """

    def __init__(self, root: pathlib.Path) -> None:
        folders = layout.Layout(root)
        self._container = container.Container(folders)
        self._socket = folders.run / "mariadb/mysql.sock"

    def ask(self, statement: str) -> list[str]:
        """Return a cloud's answer, a string for each row."""
        answer = self._container.run(
            *("mariadb", f"--socket={self._socket}", "-uroot", "--batch"),
            *("--skip-column-names", "--execute", statement),
        )
        return answer.splitlines()

    def copy(
        self,
        table: str,
        where: str,
        number: int,
        changes: collections.abc.Mapping[str, str],
        joined: str = "",
    ) -> None:
        """Copy rows of a table.

        :param table: The table, such as nova.instances.
        :param where: The condition for the rows, each of which is copied.
        :param number: The number of copies of each row; ``one.n`` counts them
            from 1.
        :param changes: The value in a copy by column, in SQL; ``old`` is the
            row, and columns that number themselves are omitted.
        :param joined: Further tables, in SQL.
        """
        schema, _, name = table.partition(".")
        columns = self.ask(
            "SELECT column_name FROM information_schema.columns "
            f"WHERE table_schema = '{schema}' AND table_name = '{name}' "
            "AND extra NOT LIKE '%auto_increment%' "
            "AND COALESCE(generation_expression, '') = '' "
            "ORDER BY ordinal_position"
        )
        unknown = changes.keys() - set(columns)
        if unknown or not columns:
            raise LookupError(f"{table}: no columns {sorted(unknown)}")
        values = [changes.get(column, f"old.`{column}`") for column in columns]
        quoted = ", ".join(f"`{column}`" for column in columns)
        self.ask(
            f"INSERT INTO {table} ({quoted}) SELECT {', '.join(values)} "
            f"FROM {table} AS old JOIN (SELECT seq AS n FROM "
            f"{schema}.seq_1_to_{number}) AS one {joined} WHERE {where}"
        )

    def fill(self, template: Template, size: Size) -> None:
        """Make all copies."""
        self._hosts(template, size.hosts)
        self._servers(template, size)
        self._ports(template, size)

    def _hosts(self, template: Template, number: int) -> None:
        name, old = f"CONCAT('{HOST}', one.n)", template.host
        down = {"updated_at": "'2020-01-01'"}
        self.copy(
            "nova.services",
            f"old.host = '{old}' AND old.`binary` = 'nova-compute' "
            "AND old.deleted = 0",
            number,
            {
                **down,
                "uuid": _id(OTHER),
                "host": name,
                "last_seen_up": "'2020-01-01'",
            },
        )
        self.copy(
            "nova.compute_nodes",
            f"old.host = '{old}' AND old.deleted = 0",
            number,
            {
                **down,
                "uuid": _id(OTHER),
                "host": name,
                "hypervisor_hostname": name,
            },
        )
        self.copy(
            "nova_api.host_mappings",
            f"old.host = '{old}'",
            number,
            {"host": name},
        )
        node = (
            "(SELECT uuid FROM nova.compute_nodes WHERE "
            f"host = '{old}' AND deleted = 0)"
        )
        self.copy(
            "placement.resource_providers",
            f"old.uuid = {node}",
            number,
            {
                "uuid": _id(OTHER),
                "name": name,
                "root_provider_id": "NULL",
            },
        )
        self.ask(
            "UPDATE placement.resource_providers SET root_provider_id = id "
            f"WHERE name LIKE '{HOST}%'"
        )
        self.copy(
            "placement.inventories",
            "old.resource_provider_id = (SELECT id FROM "
            f"placement.resource_providers WHERE uuid = {node})",
            number,
            {
                "resource_provider_id": "made.id",
                "reserved": f"IF(one.n % {WITH_ROOM}, old.total, "
                "old.reserved)",
            },
            f"JOIN placement.resource_providers AS made ON made.name = {name}",
        )

    def _servers(self, template: Template, size: Size) -> None:
        server = _id(SERVER)
        host = f"CONCAT('{HOST}', 1 + one.n % {size.hosts})"
        self.copy(
            "nova.instances",
            f"old.uuid = '{template.server}'",
            size.servers,
            {
                "uuid": server,
                "project_id": f"'{PROJECT}'",
                "host": host,
                "node": host,
                "display_name": "CONCAT('somebody-', one.n)",
                "hostname": "CONCAT('somebody-', one.n)",
            },
        )
        for table in (
            "nova.instance_extra",
            "nova.instance_info_caches",
            "nova.instance_system_metadata",
            "nova.block_device_mapping",
        ):
            more = {"uuid": "UUID()"} if "block_device" in table else {}
            self.copy(
                table,
                f"old.instance_uuid = '{template.server}' AND old.deleted = 0",
                size.servers,
                {"instance_uuid": server, **more},
            )
        self.copy(
            "nova_api.instance_mappings",
            f"old.instance_uuid = '{template.server}'",
            size.servers,
            {"instance_uuid": server, "project_id": f"'{PROJECT}'"},
        )

    def _ports(self, template: Template, size: Size) -> None:
        port, old = _id(PORT), f"'{template.port}'"
        attributes = (
            f"(SELECT standard_attr_id FROM neutron.ports WHERE id = {old})"
        )
        last = int(
            self.ask("SELECT MAX(id) FROM neutron.standardattributes")[0]
        )
        columns = "id, resource_type, description, revision_number"
        self.ask(
            f"INSERT INTO neutron.standardattributes ({columns}, created_at, "
            f"updated_at) SELECT {last} + one.seq, old.resource_type, "
            f"'{PROJECT}', old.revision_number, old.created_at, "
            "old.updated_at FROM neutron.standardattributes AS old JOIN "
            f"neutron.seq_1_to_{size.ports} AS one WHERE old.id = {attributes}"
        )
        self.copy(
            "neutron.ports",
            f"old.id = {old}",
            size.ports,
            {
                "id": port,
                "network_id": f"'{template.network}'",
                "project_id": f"'{PROJECT}'",
                "name": "CONCAT('somebody-', one.n)",
                "mac_address": "CONCAT('fa:16:b0:', "
                + ", ':', ".join(
                    f"LOWER(LPAD(HEX((one.n >> {bits}) & 255), 2, '0'))"
                    for bits in (16, 8, 0)
                )
                + ")",
                "device_id": f"CONCAT('{ID.format(kind=SERVER)}', "
                f"LOWER(LPAD(HEX(1 + one.n % {size.servers}), 12, '0')))",
                "standard_attr_id": f"{last} + one.n",
            },
        )
        host = f"CONCAT('{HOST}', 1 + one.n % {size.hosts})"
        for table, changes in (
            ("neutron.ml2_port_bindings", {"host": host}),
            ("neutron.ml2_port_binding_levels", {"host": host}),
            ("neutron.portsecuritybindings", {}),
        ):
            self.copy(
                table,
                f"old.port_id = {old}",
                size.ports,
                {"port_id": port, **changes},
            )

    def remove(self) -> None:
        """Remove all copies, also those of an earlier, killed run."""
        server = ID.format(kind=SERVER)
        for table in (
            "nova.instance_extra",
            "nova.instance_info_caches",
            "nova.instance_system_metadata",
            "nova.block_device_mapping",
            "nova_api.instance_mappings",
        ):
            self.ask(
                f"DELETE FROM {table} WHERE instance_uuid LIKE '{server}%'"
            )
        self.ask(
            f"DELETE FROM nova.instances WHERE uuid LIKE '{server}%'; "
            # A port goes with its attributes, and its bindings with it.
            "DELETE FROM neutron.standardattributes "
            f"WHERE description = '{PROJECT}'; "
            "DELETE FROM placement.inventories WHERE resource_provider_id IN "
            "(SELECT id FROM placement.resource_providers "
            f"WHERE name LIKE '{HOST}%'); "
            "UPDATE placement.resource_providers SET root_provider_id = NULL "
            f"WHERE name LIKE '{HOST}%'; "
            f"DELETE FROM placement.resource_providers WHERE name LIKE "
            f"'{HOST}%'; "
            + "; ".join(
                f"DELETE FROM {table} WHERE host LIKE '{HOST}%'"
                for table in (
                    "nova_api.host_mappings",
                    "nova.compute_nodes",
                    "nova.services",
                )
            )
        )

    def counted(self) -> dict[str, int]:
        """Return how many rows tables have, whosever they are.

        Nova keeps the rows of servers that are gone; these are not counted.
        """
        return {
            table: int(
                self.ask(f"SELECT COUNT(*) FROM {table} WHERE {condition}")[0]
            )
            for table, condition in (
                ("nova.instances", "deleted = 0"),
                ("nova.services", "deleted = 0"),
                ("nova.compute_nodes", "deleted = 0"),
                ("nova_api.host_mappings", "TRUE"),
                ("nova_api.instance_mappings", "NOT queued_for_delete"),
                ("neutron.ports", "TRUE"),
                ("neutron.standardattributes", "TRUE"),
                ("placement.resource_providers", "TRUE"),
                ("placement.inventories", "TRUE"),
            )
        }


def _id(kind: str) -> str:
    """Return in SQL the identifier of a copy."""
    number = "LOWER(LPAD(HEX(one.n), 12, '0'))"
    return f"CONCAT('{ID.format(kind=kind)}', {number})"
