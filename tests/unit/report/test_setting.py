"""Tests of what a report says about the circumstances."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import flow as flow_
from rally_vmperf.records import codec
from rally_vmperf.records import model
from rally_vmperf.report import setting
from tests.unit import made

RECORD = codec.decode_record(made.run_record())


class ProtocolTestCase(unittest.TestCase):
    def test_what_precedes_commands(self):
        """With the workloads it holds for, where it is not all."""
        record = dataclasses.replace(
            RECORD,
            workloads=(
                model.Workload(
                    name="dd", label="", arguments={}, drop_caches=True
                ),
                model.Workload(
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


class FlowsTestCase(unittest.TestCase):
    def test_each_kind_is_told_once(self):
        """In the words of what is known of it."""

        def flow(to, hosts, path, floating=False):
            return flow_.Flow(
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
            dataclasses.replace(
                RECORD,
                repetition=dataclasses.replace(
                    RECORD.repetition,
                    conditions=(
                        dataclasses.replace(
                            RECORD.repetition.conditions[0],
                            flows=record_flows,
                        ),
                    ),
                ),
            )
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
    def test_volumes_are_named(self, nova, words):
        guest = model.DescribedMachine(
            name="g1", role="guest", nova=nova, fingerprint={}, tools={}
        )
        self.assertEqual(words, setting._disk(guest))
