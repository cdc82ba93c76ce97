"""The hosts that an audit shall measure, as the argument of its task."""

import argparse
import collections
import collections.abc
import itertools
import json
import typing as t

import yaml

from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd.audit import run_selection

#: The default age in days at which a host is measured again.
OLDER_THAN = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the list of hosts."""
    parser.add_argument(
        "--list-hosts",
        action="store_true",
        help="write the argument hosts of tasks/capacity-audit.yaml: the "
        "enabled hosts, as administrator, without those with a result of an "
        "audit of the last days (--older-than)",
    )
    parser.add_argument(
        "--aggregate",
        metavar="NAME",
        help="with --list-hosts: only the hosts of this host aggregate",
    )
    parser.add_argument(
        "--older-than",
        type=base.create_number_parser(0, base.MAX_DAYS),
        default=OLDER_THAN,
        metavar="DAYS",
        help="with --list-hosts: omit the hosts with a result of an audit of "
        "the last DAYS days, but not those with other runs alone; 0 lists "
        "all; default: %(default)s",
    )


def list_hosts(
    parsed: argparse.Namespace, warn: run_selection.Warn
) -> collections.abc.Iterator[str]:
    """Yield the arguments of the task as YAML.

    :raises VMPerfError: If the environment has no administrator.
    """
    from rally_vmperf.guests.planning import compute_hosts

    admin = connect_admin(parsed.config_file)
    usable = compute_hosts.list_usable(admin, parsed.aggregate)
    measured = _list_measured(parsed) if parsed.older_than else set()
    due = [host for host in usable if host not in measured]
    recent = len(usable) - len(due)
    warn(
        f"{len(due)} of {len(usable)} enabled hosts"
        + (
            f"; {recent} have a result of an audit of the last "
            f"{parsed.older_than} days"
            if recent
            else ""
        )
    )
    if parsed.placement:
        save_inventories(parsed.placement, admin, usable)
    yield yaml.safe_dump({"hosts": due})


#: The components that a test of the audit's task measures.
_COMPONENTS = frozenset({"cpu", "memory", "disk"})


def _list_measured(parsed: argparse.Namespace) -> set[str]:
    """Return the hosts with a result of the last days, a set of names.

    An audit compares results of the same test. Those of a test on one host
    alone count if it is the first one and has the metrics of the audit's task.
    """
    try:
        results = run_selection.read_hosts(
            parsed, (), parsed.older_than, lambda line: None
        )
    except run_selection.SelectionError:
        return set()
    tests = {
        host.name: {figure.setting for figure in host.means}
        for host in results
        if not host.reason
    }
    counts = collections.Counter(itertools.chain.from_iterable(tests.values()))
    shared = {test for test, count in counts.items() if count > 1}
    if shared:
        return {name for name, of_host in tests.items() if of_host & shared}
    return {
        host.name
        for host in results
        if not host.reason
        and {figure.metric.name.partition(".")[0] for figure in host.means}
        >= _COMPONENTS
    }


def connect_admin(config_file: str | None) -> t.Any:
    """Return a connection as the administrator of Rally's environment.

    :param config_file: The path of Rally's configuration file, or None.
    :raises VMPerfError: If the environment has no administrator.
    """
    from rally_vmperf.guests import cloud

    rally_api.load(config_file)
    admin = rally_api.get_platform(None)["admin"]
    if admin is None:
        raise errors.VMPerfError(
            "Rally's environment has no admin, and only an administrator can "
            "list hosts; add admin to its specification: rally env create"
        )
    return cloud.connect(admin)


def save_inventories(
    path: str, admin: t.Any, names: collections.abc.Collection[str]
) -> None:
    """Write the inventories of hosts in Placement to a JSON file."""
    from rally_vmperf.guests.planning import compute_hosts

    inventories = compute_hosts.read_inventories(admin, names)
    text = json.dumps(inventories, indent=1, sort_keys=True)
    base.write_file(path, [f"{text}\n"], "--placement")
