# SPDX-License-Identifier: Apache-2.0
"""Tests of the schemas of arguments."""

import unittest

import ddt
import jsonschema

from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import schemas

RULES = {
    "time": schemas.integer("Seconds of a run", 1, 3600, default=10),
    "threads": schemas.per_vcpu("Threads", 8),
    "share": schemas.number(
        "Share of reads", 0, 1.5, default=0.5, note="0 only writes"
    ),
    "method": schemas.choice(
        "fast or slow.", ["fast", "slow"], default="fast"
    ),
    "methods": schemas.choices("fast, slow.", ["fast", "slow"]),
    "block": schemas.size("Size of a request", default="4k"),
    "direct": schemas.flag("Bypass the page cache", default=True),
    "file": schemas.path("A tarball", default="/srv/a.tgz"),
}


class Everything(type(registry.get_workload("stress_ng"))):
    """A workload with an argument of each kind."""

    name = "everything"
    ARGUMENTS = schemas.schema(**RULES)


@ddt.ddt
class RulesTestCase(unittest.TestCase):
    """Schemas accept what their descriptions state."""

    @ddt.data(
        ("time", "Seconds of a run, 1 to 3600."),
        (
            "threads",
            "Threads, 1 to 8; vcpus is the number of vCPUs of the guest.",
        ),
        ("share", "Share of reads, 0 to 1.5; 0 only writes."),
        ("methods", "fast, slow."),
        ("block", "Size of a request: 1k to 9999k, or 1M, 2M, 4M, 8M, 16M."),
        ("direct", "Bypass the page cache, true or false."),
        ("file", "A tarball: an absolute path."),
    )
    @ddt.unpack
    def test_description(self, name, description):
        self.assertEqual(description, RULES[name]["description"])

    @ddt.data(
        ("time", [1, 3600], [0, 3601, 1.5, "1", None, True]),
        ("threads", [1, 8, "vcpus"], [0, 9, 1.5, "1", "vcpus\n", "VCPUS"]),
        ("share", [0, 0.25, 1.5], [-0.1, 1.6, "1"]),
        ("method", ["fast"], ["quick", ["fast"], ""]),
        ("methods", [["slow"], ["slow", "fast"]], [[], ["fast"] * 2, "fast"]),
        (
            "block",
            ["1k", "9999k", "16M"],
            ["0k", "4096", "3M", "4K", "4k ", "4k\n"],
        ),
        ("direct", [True, False], [1, "yes"]),
        ("file", ["/srv/a b.tgz"], ["a.tgz", "/", "/a\nb", "/a\n", "~/a"]),
    )
    @ddt.unpack
    def test_values(self, name, good, bad):
        rule = jsonschema.Draft7Validator(RULES[name])
        for value in good:
            self.assertTrue(rule.is_valid(value), value)
        for value in bad:
            self.assertFalse(rule.is_valid(value), value)

    def test_default_options(self):
        self.assertEqual(["fast", "slow"], RULES["methods"]["default"])
        choices = schemas.choices("a, b.", ("a", "b"), default=("b",))
        self.assertEqual(["b"], choices["default"])

    @ddt.data(("1k", 1024), ("9999k", 10238976), ("16M", 16777216))
    @ddt.unpack
    def test_bytes_of_a_size(self, size, expected):
        self.assertEqual(expected, schemas.size_bytes(size))


class CompleteTestCase(unittest.TestCase):
    """Numbers reach command lines in one form."""

    def test_forms_of_a_number(self):
        complete = Everything().complete({"time": 20.0, "share": 1})
        self.assertEqual(
            ("20", "1.0"),
            tuple(str(complete[key]) for key in ("time", "share")),
        )

    def test_number_of_vcpus(self):
        """The word is replaced by the number; other arguments remain."""
        rules = Everything.ARGUMENTS
        complete = Everything().complete({"threads": "vcpus"})
        self.assertEqual("vcpus", complete["threads"])
        self.assertEqual(
            {**complete, "threads": 4},
            schemas.resolve_vcpus(rules, complete, 4),
        )
        complete = Everything().complete({"threads": 2.0})
        self.assertEqual("2", str(complete["threads"]))
        self.assertEqual(complete, schemas.resolve_vcpus(rules, complete, 4))

    def test_other_words_are_rejected(self):
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^workload everything: threads: 'cores' .*; threads: Threads, 1 "
            "to 8; vcpus is the number of vCPUs of the guest.$",
        ):
            Everything().complete({"threads": "cores"})

    def test_the_message_has_the_allowed_values(self):
        with self.assertRaisesRegex(
            base.WorkloadError,
            r"^workload everything: share: 2 is greater .*"
            r"; share: Share of reads, 0 to 1.5; 0 only writes.$",
        ):
            Everything().complete({"share": 2})
