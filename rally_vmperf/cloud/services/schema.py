"""The services' tables: created once, and checked from then on."""

import collections.abc
import json
import pathlib
import re
import typing as t

from rally_vmperf import atomic
from rally_vmperf.cloud.services import database
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

# Without a row in these, what the other databases refer to is unknown.
SEEDS = ("keystone.project", "keystone.user", "nova_api.cell_mappings")
ALL_TABLES = (
    "SELECT CONCAT(table_schema, '.', table_name)"
    " FROM information_schema.tables"
    " WHERE table_type = 'BASE TABLE' ORDER BY 1"
)
# Nova's cells, with the accounts of nova.conf in place of those of the past.
CELLS = """
UPDATE nova_api.cell_mappings
  SET transport_url = '{scheme}://{username}:{password}@{hostname}:{port}/'
  WHERE name = 'cell1';
UPDATE nova_api.cell_mappings
  SET database_connection = CONCAT(
    '{scheme}://{username}:{password}@{hostname}/',
    IF(name = 'cell0', 'nova_cell0', 'nova'), '?{query}');
"""
# A table is not there or not readable, or the server died of reading it.
DAMAGED = re.compile(
    r"ERROR (1030|1034|1146|1194|1712|1812|1814|1877|1932|2013) "
)


def mark(folders: layout.Layout, name: str) -> pathlib.Path:
    """Return the file that exists once a group is complete.

    :param folders: the state root's folders
    :param name: the group, see schema.yaml.j2
    """
    return folders.data / "done" / f"schema-{name}"


def known_tables(folders: layout.Layout) -> list[str]:
    """Return the tables of the groups that are complete so far."""
    found: list[str] = []
    for name in templates.DATABASE_ACCOUNTS:
        content = documents.read(mark(folders, name)) or {}
        found += content.get("tables", [])
    return found


def any_filled(folders: layout.Layout) -> bool:
    """Return whether the databases hold data that could be lost."""
    return any((folders.data / "done").glob("schema-*"))


def ensure(
    folders: layout.Layout,
    name: str,
    steps: list[t.Any],
    found: collections.abc.Callable[[str, str], None],
    *,
    again: bool = False,
) -> None:
    """Create the tables of one group, or check that they are still there.

    :param folders: the state root's folders
    :param name: the group, see schema.yaml.j2
    :param steps: the commands that fill it
    :param found: called with what was wrong and what was done
    :param again: carry out the steps even if they have been
    :raises errors.DamageError: when tables were lost
    """
    done = mark(folders, name)
    databases = templates.DATABASE_ACCOUNTS[name]
    if not done.exists():
        try:
            fill(folders, name, steps)
        except errors.CloudError as failed:
            # Nobody has used them yet: what an interrupted run left can go.
            found(f"database {name} was half made ({failed})", "recreated")
            database.empty(folders, databases)
            fill(folders, name, steps)
    else:
        check(folders, name)
        if again:
            fill(folders, name, steps)
    if again or not documents.read(done):
        content = json.dumps({"tables": tables(folders, databases)})
        atomic.write(done, content + "\n")


def fill(folders: layout.Layout, name: str, steps: list[t.Any]) -> None:
    """Carry out the steps of one group.

    :param folders: the state root's folders
    :param name: the group, see schema.yaml.j2
    :param steps: its commands
    """
    for step in steps:
        commands.run(
            step["argv"],
            env=commands.environment(folders, step.get("environment", {})),
            log=folders.log / f"schema-{name}.log",
            accept=step.get("accept", (0,)),
        )


def tables(
    folders: layout.Layout, databases: collections.abc.Container[str]
) -> list[str]:
    """Return the tables in some databases, such as nova.instances."""
    found = database.query(folders, ALL_TABLES)
    return [name for name in found if name.partition(".")[0] in databases]


def check(folders: layout.Layout, name: str) -> None:
    """Read from every table of one group.

    :param folders: the state root's folders
    :param name: the group, see schema.yaml.j2
    :raises errors.DamageError: naming the first that is gone or broken
    """
    try:
        now = tables(folders, templates.DATABASE_ACCOUNTS[name])
        before = documents.read(mark(folders, name)) or {}
        wrong = lost(name, before.get("tables", []), now)
        wrong = wrong or unseeded(
            name, now, database.query(folders, reads(now))
        )
    except errors.CloudError as failed:
        if not DAMAGED.search(str(failed)):
            raise
        reason = str(failed).rpartition(" at line ")[2]
        wrong = f"database {name}: {reason.partition(': ')[2]}"
    if wrong:
        raise errors.DamageError(wrong)


def lost(
    name: str,
    before: collections.abc.Iterable[str],
    now: collections.abc.Iterable[str],
) -> str | None:
    """Return what is missing in a group of tables.

    :param name: the group
    :param before: its tables when it was made
    :param now: its tables
    """
    if not now:
        return f"database {name} is empty"
    gone = sorted(set(before) - set(now))
    return f"database {name}: table {gone[0]} is gone" if gone else None


def reads(names: collections.abc.Iterable[str]) -> str:
    """Return statements that read every table and list those with a row."""
    return "; ".join(
        f"SELECT '{name}' FROM {name} LIMIT 1"  # noqa: S608
        for name in names
    )


def unseeded(
    name: str,
    names: collections.abc.Iterable[str],
    filled: collections.abc.Container[str],
) -> str | None:
    """Return which table is empty and never may be.

    :param name: the group
    :param names: its tables
    :param filled: the tables that have a row
    """
    for table in names:
        always = table.endswith(".alembic_version") or table in SEEDS
        if always and table not in filled:
            return f"database {name}: table {table} is empty"
    return None
