# SPDX-License-Identifier: Apache-2.0
"""Tests of what a report says about the circumstances."""

import dataclasses
import unittest

import ddt
import yaml

from rally_vmperf.measurement import repetition
from rally_vmperf.records import model
from rally_vmperf.report import setting
from rally_vmperf.workloads import registry
from tests.unit import made

RECORD = made.run_record()


class ProtocolTestCase(unittest.TestCase):
    def test_what_precedes_commands(self):
        """With the workloads it holds for, where it is not all."""
        record = dataclasses.replace(
            RECORD,
            workloads=(
                model.RecordedWorkload(
                    name="dd", label="", arguments={}, drop_caches=True
                ),
                model.RecordedWorkload(
                    name="fio",
                    label="big",
                    arguments={},
                    drop_caches=True,
                    cooldown=7.5,
                ),
            ),
            options={"reboot": "between_repetitions"},
        )
        self.assertEqual(
            [
                "guests stopped and started between repetitions",
                "caches dropped before each command",
                "7.5 s of rest before each command of fio-big",
            ],
            setting._protocol(record),
        )
        self.assertEqual([], setting._protocol(RECORD))
        record = dataclasses.replace(
            RECORD, options={"boot": "each_condition"}
        )
        self.assertEqual(
            ["guests booted for each condition, deleted after it"],
            setting._protocol(record),
        )


class FlowsTestCase(unittest.TestCase):
    def test_each_kind_is_told_once(self):
        """In the words of what is known of it."""

        def flow(to, hosts, path, floating=False):
            return repetition.Flow(
                target=to,
                hosts=hosts,
                path=path,
                floating_ip=floating,
                machines=2,
            )

        both = (
            flow("peer", "other", "router", floating=True),
            flow("partner", "same", "link"),
        )
        records = [
            made.with_condition(RECORD, flows=record_flows)
            for record_flows in (
                both,
                (*both, flow("peer", "unknown", "unknown")),
            )
        ]
        self.assertEqual(
            [
                "to the peer, on another host, through a router, from a "
                "floating IP",
                "to the partner guest, on the same host, in a network of its "
                "own",
                "to the peer",
            ],
            setting._flows(records),
        )


@ddt.ddt
class DiskTestCase(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({}, ""),
        ({"disk": {"source": "flavor", "size_gib": 4}}, ""),
        (
            {"disk": {"source": "volume", "size_gib": 20, "type": "ssd"}},
            "volume of 20 GiB, type ssd",
        ),
        (
            {"disk": {"source": "volume", "size_gib": 20, "type": None}},
            "volume of 20 GiB",
        ),
    )
    def test_volumes_are_named(self, nova, text):
        guest = model.DescribedMachine(
            name="g1", role="guest", nova=nova, fingerprint={}, tools={}
        )
        self.assertEqual(text, setting._disk(guest))

    def test_data_volumes(self):
        self.assertEqual(
            "2 x volume of 20 GiB, type ssd",
            setting._describe_volume(
                {"size_gib": 20, "type": "ssd", "count": 2}
            ),
        )


class CommandsTestCase(unittest.TestCase):
    """Commands follow from the recorded arguments."""

    def list_commands(self, *workloads, **shape):
        """Return the lines of workloads by name, as a dict."""
        record = dataclasses.replace(
            RECORD,
            workloads=tuple(
                model.RecordedWorkload(
                    name=name, label=label, arguments=arguments
                )
                for name, label, arguments in workloads
            ),
            shape=dataclasses.replace(RECORD.shape, **shape),
        )
        return dict(setting.list_commands(record))

    def test_recorded_arguments(self):
        lines = self.list_commands(
            ("sysbench", "two", {"threads": 3, "time": 7})
        )
        (line,) = lines.values()
        self.assertEqual(["sysbench-two"], [*lines])
        self.assertIn("--threads=3 --time=7", line)

    def test_addresses_and_ports_are_placeholders(self):
        """The values of another machine would be wrong."""
        lines = self.list_commands(("iperf3", "", {"directions": ["to_peer"]}))
        self.assertIn("-c PEER -p PORT", lines["iperf3 to_peer"])
        self.assertIn("-B ADDRESS", lines["iperf3 to_peer, server"])

    def test_every_workload_of_this_package(self):
        """Defaults give command lines without a real address or port."""
        for name in registry.workload_names():
            workload = registry.get_workload(name)
            if workload.ARGUMENTS.get("required"):
                continue
            with self.subTest(name):
                text = " ".join(self.list_commands((name, "", {})).values())
                self.assertTrue(text)
                self.assertNotRegex(text, r"\b5[23]\d\d\b|None|0x[0-9a-f]+")

    def test_workload_of_another_version_has_none(self):
        lines = self.list_commands(
            ("gone", "", {}), ("sysbench", "", {"threads": "<script>"})
        )
        self.assertEqual({}, lines)


class TaskTestCase(unittest.TestCase):
    """The task has what is known of the run."""

    def test_limits_and_guests(self):
        limits = {"vmperf_overhead": {"max_percent": {"*": 5}}}
        run = made.run_of(made.records(), limits)
        task = yaml.safe_load(setting.format_task(run))
        self.assertEqual(limits, task["sla"])
        self.assertEqual(
            {"vmperf_baseline": {"name": "r740"}}, task["contexts"]
        )
        guests = {"vmperf_guests@openstack": {"count": 2}}
        run = dataclasses.replace(run, contexts=guests)
        task = yaml.safe_load(setting.format_task(run))
        self.assertEqual(guests, task["contexts"])
