# SPDX-License-Identifier: Apache-2.0
"""Tests for the context that boots guests."""

import ipaddress
import pathlib
import pickle
import tempfile
import typing as t
import unittest
from unittest import mock

import ddt
from rally.common import cfg
from rally.task import context as rally_context

from rally_vmperf import opts
from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import errors
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import contexts
from rally_vmperf.records import journal
from tests.unit import made
from tests.unit.guests import test_console_keys
from tests.unit.guests import testing
from tests.unit.guests.cleanup import test_ledger

CONF = cfg.CONF
OWNER = "1234abcd-0000-4000-8000-000000000000"
CREDENTIAL = {
    "auth_url": "http://keystone/v3",
    "username": "member",
    "password": "secret",
    "tenant_name": "member",
}
GROUP = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
#: One guest with a boot volume, one with data volumes.
GROUPS = [
    {"name": "a", **GROUP, "boot_volume": {"size_gib": 8}},
    {"name": "b", **GROUP, "volumes": [{"size_gib": 3, "count": 2}]},
]
#: The network that Rally's machine is in.
HERE = ipaddress.ip_network("192.0.2.0/24")
ARRIVE = "rally_vmperf.execution.stations.arrival.ConnectedGuests.wait"


@rally_context.configure(name="vmperf_test_early", order=1)
class Early(rally_context.Context):
    """Set up before the guests."""

    cleaned: t.ClassVar[list[str]] = []

    def setup(self):
        raise AssertionError

    def cleanup(self):
        self.cleaned.append(self.get_fullname())


@rally_context.configure(name="vmperf_test_late", order=1000)
class Late(Early):
    """Set up after the guests."""


def stored(name, workload):
    """Return a workload of two guests, as Rally's database has it."""
    levels = {"levels": [1, 2]} if name == "VMPerf.density" else {}
    return {
        "name": name,
        "args": {"workloads": [workload], **levels},
        "contexts": {"vmperf_guests@openstack": {**GROUP, "count": 2}},
        "sla": {},
        "runner_type": "serial",
        "runner": {"times": 1},
    }


class Interruption:
    """Ctrl-C at the k-th call, before or after it takes effect."""

    def __init__(self, at, after, more=()):
        self.left = [at, *more]
        self.after = after
        self.count = 0

    def __call__(self, name, done):
        if done is self.after:
            self.count += 1
            if self.left and self.count == self.left[0]:
                del self.left[0]
                raise KeyboardInterrupt


class Case(unittest.TestCase):
    stored: t.ClassVar[dict[str, t.Any]] = {"name": "Dummy.dummy", "args": {}}

    def setUp(self):
        self.cloud = testing.FakeCloud()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Rally registers them where the plugins are loaded by entry point.
        CONF.register_opts(opts.OPTIONS, group=opts.GROUP)
        CONF.set_override("journal_dir", folder.name, group=opts.GROUP)
        self.addCleanup(CONF.clear_override, "journal_dir", group=opts.GROUP)
        for target, new in (
            ("time.sleep", lambda seconds: None),
            (
                "rally_vmperf.guests.cloud.connect",
                lambda credential: self.cloud,
            ),
            ("rally.common.db.workload_get", lambda uuid: self.stored),
            (
                "rally_vmperf.machines.remote.routes.source_network",
                lambda *_: HERE,
            ),
        ):
            patch = mock.patch(target, new)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch(
            ARRIVE, autospec=True, return_value=[arrival.Arrival()] * 2
        )
        self.reach = patch.start()
        self.addCleanup(patch.stop)

    def context(self, *, admin=None, **options):
        config = {"network": {"name": "private"}}
        if "groups" not in options:
            config |= {**GROUP, "count": 2}
        config |= options
        config = {key: config[key] for key in config if config[key]}
        return contexts.Guests(
            {
                "task": {"uuid": "task-1"},
                "owner_id": OWNER,
                "config": {"vmperf_guests@openstack": config},
                "users": [{"credential": CREDENTIAL, "tenant_id": "p1"}],
                "tenants": {"p1": {}},
                **({"admin": {"credential": admin}} if admin else {}),
            }
        )

    def entries(self):
        return list(ledger.Ledger(self.folder).entries())


class SetUpTest(Case):
    def test_ports_are_open_to_what_the_scenario_runs(self):
        """Both guests have three of iperf3's, where they talk to another."""
        between = {"directions": ["guest_to_guest"]}
        for name, arguments, expected in (
            ("VMPerf.density", between, {(5201, 5206)}),
            ("VMPerf.density", {}, set()),
            ("Dummy.dummy", between, set()),
        ):
            workload = {"name": "iperf3", "arguments": arguments}
            self.stored = stored(name, workload)
            self.context().setup()
            ranges = {
                (rule["port_range_min"], rule["port_range_max"])
                for rule in self.cloud.network.rules
                if "port_range_min" in rule
            }
            self.assertEqual(expected, ranges - {(22, 22)}, name)
            self.cloud.network.rules.clear()

    def test_levels_as_a_ratio_of_the_cpus_of_the_host(self):
        """They are read once; without them, nothing is booted."""
        self.cloud.compute.hypervisors = [
            {"hypervisor_hostname": "h1", "vcpus": 4}
        ]
        self.stored = stored("VMPerf.density", {"name": "sysbench"})
        self.stored["args"]["levels"] = {"ratio": [1], "vcpus": 2}
        del self.stored["contexts"]["vmperf_guests@openstack"]["count"]
        place = {"host": "h1", "count": None}
        self.stored["contexts"]["vmperf_guests@openstack"]["host"] = "h1"
        context = self.context(admin=CREDENTIAL, **place)
        context.setup()
        self.assertEqual(4, context.context["vmperf_host_cpus"])
        self.assertEqual(2, len(self.cloud.compute.requests))
        self.cloud.compute.hypervisors = None
        context.cleanup()
        self.assertEqual([], self.cloud.left())
        failed = self.context(admin=CREDENTIAL, **place)
        with self.assertRaisesRegex(errors.GuestError, "^levels: host_cpus"):
            failed.setup()
        self.assertEqual(2, len(self.cloud.compute.requests))
        failed.cleanup()

    def test_guests_that_are_compared_share_a_host(self):
        """As copies on bare metal did; those of others are Nova's to place."""
        baseline = {"vmperf_baseline": {"name": "metal"}}
        for name, config, groups in (
            ("Dummy.dummy", baseline, 0),
            ("VMPerf.overhead", {}, 0),
            ("VMPerf.overhead", baseline, 1),
            ("VMPerf.density", {}, 2),
        ):
            self.stored = stored(name, {"name": "sysbench"})
            self.stored["contexts"].update(config)
            self.context().setup()
            self.assertEqual(
                groups, self.cloud.calls.count("create_server_group"), name
            )

    def test_peer_that_cannot_be_used(self):
        """Nothing is created in the cloud, and the ledger has no entry."""
        self.stored = stored("VMPerf.overhead", {"name": "iperf3"})
        self.stored["args"]["peer"] = {"address": "127.0.0.1", "port": 1}
        with self.assertRaisesRegex(
            base.MachineError, "^peer: no SSH at root@127.0.0.1:1: "
        ):
            self.context().setup()
        self.assertEqual([], self.cloud.calls)
        self.assertEqual([], self.entries())

    def test_a_boot_that_does_not_end_is_told(self):
        self.reach.return_value = [
            arrival.Arrival(),
            arrival.Arrival(busy="cloud-init"),
        ]
        context = self.context(ssh_timeout=90)
        context.setup()
        self.assertIn(
            finding.Finding(
                "still_booting",
                "g2",
                "cloud-init was still at work in g2 after 90 s",
            ),
            context.context["vmperf_guests"]["booted"].findings,
        )
        context.cleanup()

    def test_a_guest_that_does_not_answer_is_left_out(self):
        """The run goes on without it, its server goes, and that is said."""
        self.reach.return_value = [
            arrival.Arrival(),
            arrival.Arrival(error="no route"),
        ]
        self.cloud.compute.console = "Kernel panic - not syncing: VFS"
        context = self.context()
        context.setup()
        booted = context.context["vmperf_guests"]["booted"]
        self.assertEqual(["g1"], [guest.name for guest in booted.guests])
        self.assertEqual(("g2",), booted.absent)
        (detail,) = (
            finding.detail
            for finding in booted.findings
            if (finding.kind, finding.subject) == ("guest_unavailable", "g2")
        )
        self.assertIn("no route; by its console its kernel panicked", detail)
        self.assertEqual(1, self.cloud.calls.count("delete_server"))
        context.cleanup()
        self.assertEqual([], self.cloud.left())

    def test_life(self):
        context = self.context()
        context.setup()
        data = context.context["vmperf_guests"]
        self.assertEqual(data, pickle.loads(pickle.dumps(data)))
        self.assertIs(True, data["config"]["install"])
        names = [guest.name for guest in data["booted"].guests]
        self.assertEqual(["g1", "g2"], names)
        self.assertEqual(
            [OWNER], [ledger_entry.owner for ledger_entry in self.entries()]
        )
        context.cleanup()
        self.assertEqual([], self.cloud.left())
        self.assertEqual([], self.entries())

    def test_verdicts_are_told_in_the_end(self):
        """Rally reports SLAs before it has them all in one table."""
        table = self.verdicts(made.records())
        self.assertIn("Verdicts\nOverhead of", table)
        self.assertRegex(table, "passed +cpu.events.rate")

    def test_verdicts_with_a_full_journal_disk(self):
        """They include repetitions that are in Rally's database only."""
        records = made.records()
        for written in (0, 2, len(records)):
            table = self.verdicts(records[:written], records[written:])
            with self.subTest(written=written):
                self.assertRegex(table, "passed +cpu.events.rate")
                self.assertNotIn("not started", table)

    def verdicts(self, written, unwritten=()):
        """Return the verdicts in the log of a run.

        :param written: The records in the journal.
        :param unwritten: The records that did not fit on its disk.
        """
        run_journal = journal.Journal(CONF.vmperf.journal_dir, OWNER)
        run_journal.path.unlink(missing_ok=True)
        for record in written:
            run_journal.append(record)
        context = self.context()
        context.setup()
        booted_as, self.stored = (
            self.stored,
            {
                **stored("VMPerf.overhead", {"name": "sysbench"}),
                "sla": {"vmperf_overhead": made.LIMITS},
            },
        )
        run = mock.Mock(unwritten=unwritten)
        contexts.open_runs.OPEN_RUNS.get_run(OWNER, lambda: run)
        with mock.patch.object(contexts.LOG, "info", autospec=True) as log:
            context.cleanup()
        self.stored = booted_as
        return log.call_args.args[0]

    def test_groups(self):
        context = self.context(groups=GROUPS)
        context.setup()
        booted = context.context["vmperf_guests"]["booted"].guests
        self.assertEqual(
            [("g1", "a"), ("g2", "b")],
            [(guest.name, guest.group) for guest in booted],
        )
        self.assertEqual(
            [f"{guest.id}#1" for guest in booted],
            [guest.boot for guest in booted],
        )
        context.cleanup()
        self.assertEqual([], self.cloud.left())

    def test_a_guest_that_does_not_answer(self):
        self.reach.return_value = [
            arrival.Arrival(error="no route"),
            arrival.Arrival(error="no route"),
        ]
        with self.assertRaises(errors.GuestError) as caught:
            self.context().setup()
        self.assertIn("guest g1 at 172.24.4.10", str(caught.exception))
        self.assertIn("no route", str(caught.exception))
        self.assertIn(
            "SSH is permitted from 192.0.2.0/24; to change it: "
            '"allowed_sources": [NETWORK]',
            str(caught.exception),
        )
        self.assertIn("\nBooting\nlogin:", str(caught.exception))
        self.assertEqual([], self.cloud.left())
        self.assertEqual([], self.entries())

    def fail(self, console, **more):
        self.cloud.compute.console = console
        self.reach.return_value = [
            arrival.Arrival(error="g1: no SSH", **more),
            arrival.Arrival(error="g2: no SSH", **more),
        ]
        with self.assertRaises(errors.GuestError) as caught:
            self.context().setup()
        return str(caught.exception)

    def test_the_console_says_why(self):
        text = self.fail("Kernel panic - not syncing: VFS")
        self.assertIn("g1: no SSH; by its console its kernel panicked", text)
        self.assertNotIn("allowed_sources", text)

    def test_another_key_on_the_console(self):
        text = self.fail(test_console_keys.block(test_console_keys.FIRST))
        self.assertIn("another SSH host key", text)

    def test_a_jump_host_is_not_blamed_on_the_guest(self):
        text = self.fail("login:", at_jump=True)
        self.assertIn("was not tried: g1: no SSH; end of the guest's", text)
        self.assertIn("\nlogin:", text)

    def test_a_key_from_the_console(self):
        line = test_console_keys.bare(test_console_keys.FIRST)
        self.cloud.compute.console = test_console_keys.block(line)
        context = self.context(host_key={"console": True})
        context.setup()
        booted = context.context["vmperf_guests"]["booted"]
        self.assertEqual(
            [line] * 2, [guest.host_key for guest in booted.guests]
        )
        context.cleanup()

    def test_no_key_on_the_console(self):
        self.cloud.compute.console = "<script>\nlogin:"
        with self.assertRaises(errors.GuestError) as caught:
            self.context(host_key={"console": True}, ssh_timeout=1e-9).setup()
        self.assertIn("shows no host key", str(caught.exception))
        self.assertNotIn("<script>", str(caught.exception))
        self.assertEqual([], self.cloud.left())

    def test_nobody_to_boot_for(self):
        context = self.context()
        del context.context["users"]
        with self.assertRaisesRegex(errors.GuestError, "neither users nor"):
            context.setup()

    def test_killed_runs_are_reported_first(self):
        entry = test_ledger.entry("99999999-1", process=test_ledger.dead())
        ledger.Ledger(self.folder).write(entry)
        self.cloud.network.create_ip(description="c_rally_99999999_00000000")
        with self.assertLogs(contexts.LOG.logger) as logs:
            self.context().setup()
        self.assertIn(
            "left by a run that was killed (task task-1, started 2026-01-01 "
            "12:03 UTC): 1 floating IP; remove with: rally-vmperf "
            "cleanup --yes",
            logs.output[0],
        )

    def test_the_remedy_names_the_configuration_in_use(self):
        entry = test_ledger.entry("99999999-1", process=test_ledger.dead())
        ledger.Ledger(self.folder).write(entry)
        self.cloud.network.create_ip(description="c_rally_99999999_00000000")
        with (
            mock.patch.object(
                contexts.opts,
                "config_files",
                autospec=True,
                return_value=["/etc/mine.conf"],
            ),
            self.assertLogs(contexts.LOG.logger) as logs,
        ):
            self.context().setup()
        self.assertIn("--yes --config-file /etc/mine.conf", logs.output[0])

    def test_killed_runs_that_left_nothing_are_forgotten(self):
        entry = test_ledger.entry("99999999-1", process=test_ledger.dead())
        ledger.Ledger(self.folder).write(entry)
        self.context().setup()
        self.assertEqual(
            [OWNER], [ledger_entry.owner for ledger_entry in self.entries()]
        )


#: What makes the context make everything that it can make.
EVERYTHING = {
    "network": None,
    "networks": [{"name": "private"}, {"name": "public"}],
    "address": "floating",
    "server_group": "affinity",
    "boot_volume": {"size_gib": 8},
}
#: What makes the context copy the flavor and the image.
COPIES = {
    "admin": CREDENTIAL,
    "allowed_sources": ["192.0.2.0/24"],
    "extra_specs": {"hw:numa_nodes": "1"},
    "image_properties": {"hw_vif_model": "e1000"},
}


def number_of_calls(**options):
    case = Case()
    case.setUp()
    case.context(**options).setup()
    case.doCleanups()
    return len(case.cloud.calls)


CALLS = number_of_calls()
ALL_CALLS = number_of_calls(**EVERYTHING)
COPIES_CALLS = number_of_calls(**COPIES)
DATA = {"volumes": [{"size_gib": 3, "count": 2}]}
DATA_CALLS = number_of_calls(**DATA)
GROUPS_CALLS = number_of_calls(groups=GROUPS)


@ddt.ddt
class InterruptionTest(Case):
    @ddt.idata(range(1, CALLS + 1))
    def test_nothing_stays(self, k):
        for after in (False, True):
            with self.subTest(after=after):
                self.cloud = testing.FakeCloud(Interruption(k, after))
                with self.assertRaises(KeyboardInterrupt):
                    self.context().setup()
                self.assertEqual([], self.cloud.left())
                self.assertEqual([], self.entries())

    @ddt.idata(range(1, ALL_CALLS + 1))
    def test_nothing_of_everything_stays(self, k):
        for after in (False, True):
            with self.subTest(after=after):
                self.cloud = testing.FakeCloud(Interruption(k, after))
                with self.assertRaises(KeyboardInterrupt):
                    self.context(**EVERYTHING).setup()
                self.assertEqual([], self.cloud.left())

    @ddt.idata(range(1, DATA_CALLS + 1))
    def test_no_data_volume_stays(self, k):
        for after in (False, True):
            with self.subTest(after=after):
                self.cloud = testing.FakeCloud(Interruption(k, after))
                with self.assertRaises(KeyboardInterrupt):
                    self.context(**DATA).setup()
                self.assertEqual([], self.cloud.left())

    @ddt.idata(range(1, GROUPS_CALLS + 1))
    def test_nothing_of_groups_stays(self, k):
        self.cloud = testing.FakeCloud(Interruption(k, True))
        with self.assertRaises(KeyboardInterrupt):
            self.context(groups=GROUPS).setup()
        self.assertEqual([], self.cloud.left())

    @ddt.idata(range(1, COPIES_CALLS + 1))
    def test_nothing_of_copies_stays(self, k):
        for after in (False, True):
            with self.subTest(after=after):
                self.cloud = testing.FakeCloud(Interruption(k, after))
                with self.assertRaises(KeyboardInterrupt):
                    self.context(**COPIES).setup()
                self.assertEqual([], self.cloud.left())
                self.assertEqual(1, len(self.cloud.image.all_images))
                self.assertEqual(1, len(self.cloud.compute.all_flavors))

    def test_nothing_stays_when_ssh_is_waited_for(self):
        for signal in (KeyboardInterrupt, SystemExit):
            self.reach.side_effect = signal
            with self.assertRaises(signal):
                self.context().setup()
            self.assertEqual([], self.cloud.left())

    def test_contexts_before_are_cleaned_as_well(self):
        self.reach.side_effect = KeyboardInterrupt
        context = self.context()
        for context_class in (Early, Late):
            context.context["config"][context_class.get_fullname()] = {}
        with self.assertRaises(KeyboardInterrupt):
            context.setup()
        self.assertEqual([Early.get_fullname()], Early.cleaned)

    def test_a_second_one_says_what_may_be_left(self):
        self.cloud.interrupt = Interruption(CALLS, True, more=(CALLS + 1,))
        with (
            self.assertLogs(contexts.LOG.logger, "ERROR") as logs,
            self.assertRaises(KeyboardInterrupt),
        ):
            self.context().setup()
        (line,) = logs.output
        self.assertIn("named c_rally_1234abcd*", line)
        self.assertIn("rally-vmperf cleanup --task task-1 --yes", line)
        self.assertEqual(
            [OWNER], [ledger_entry.owner for ledger_entry in self.entries()]
        )
