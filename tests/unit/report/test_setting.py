"""Tests of what a report says about the circumstances."""

import unittest

import ddt

from rally_vmperf.report import setting


class ProtocolTestCase(unittest.TestCase):
    def test_what_precedes_commands(self):
        """With the workloads it holds for, where it is not all."""
        record = {
            "workloads": [
                {"name": "dd", "label": "", "drop_caches": True},
                {
                    "name": "fio",
                    "label": "big",
                    "drop_caches": True,
                    "cooldown": 7.5,
                },
            ],
            "options": {"reboot": "between_repetitions"},
        }
        self.assertEqual(
            [
                "guests stopped and started between repetitions",
                "caches dropped before each command",
                "7.5 s of rest before each command of fio-big",
            ],
            setting._protocol(record),
        )
        plain = {"name": "dd", "label": ""}
        self.assertEqual(
            [], setting._protocol({"workloads": [plain], "options": {}})
        )


class FlowsTestCase(unittest.TestCase):
    def test_each_kind_is_told_once(self):
        """In the words of what is known of it."""

        def flow(to, hosts, path, floating=False):
            return {
                "target": to,
                "hosts": hosts,
                "path": path,
                "floating_ip": floating,
                "machines": 2,
            }

        both = [
            flow("peer", "other", "router", floating=True),
            flow("partner", "same", "link"),
        ]
        records = [
            {"conditions": [{"flows": both}, {"flows": both}, {}]},
            {"conditions": [{"flows": [flow("peer", "unknown", "unknown")]}]},
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
        self.assertEqual(words, setting._disk({"name": "g1", "nova": nova}))
