"""Tests of what stays the same in all repetitions of a run."""

import tempfile
import unittest

from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.records import journal
from rally_vmperf.records import schema
from rally_vmperf.runs import setting
from tests.unit.guests import made
from tests.unit.runs import fakes


class TestHosts(unittest.TestCase):
    """The hosts of the guests, as far as their size is known."""

    def test_each_host_stands_once_in_the_record(self):
        guests = [
            made.guest("g1", host="c1", host_vcpus=8, host_memory_mib=4096),
            made.guest("g2", host="c1", host_vcpus=8, host_memory_mib=4096),
            made.guest("g3", host="c2", host_vcpus=4),
            made.guest("g4", host="c3"),
        ]
        booted = models.BootedGuests(guests=tuple(guests), client_key="")
        with tempfile.TemporaryDirectory() as folder:
            run = fakes.run_of(
                None,
                journal.Journal(folder, "w"),
                fallback_setting=setting.build_setting(booted, ()),
                failure=errors.GuestError("no guest"),
                open=None,
            )
            record = run.repeat(1)
        schema.check(record)
        self.assertEqual(
            [("c1", 8, 4096), ("c2", 4, None)],
            [
                (x["name"], x["vcpus"], x["memory_mib"])
                for x in record["hosts"]
            ],
        )

    def test_of_nobody_known(self):
        booted = models.BootedGuests(guests=(made.guest(),), client_key="")
        self.assertEqual((), setting.build_setting(booted, ()).hosts)
