# SPDX-License-Identifier: Apache-2.0
"""Tests of what is known of stations' clocks over a repetition."""

import unittest
from unittest import mock

from rally_vmperf.execution.stations import clocks
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.machines import testing


def place(name, machine=None):
    """Return a station."""
    machine = machine or testing.FakeMachine(name)
    return roles.Station(name=name, machine=machine, role="guest", folder="/w")


class TestClocks(unittest.IsolatedAsyncioTestCase):
    """Offsets with their errors, and doubts about them."""

    def setUp(self):
        """Have two stations, and clocks that say what a test wants."""
        super().setUp()
        self.stations = [place("g1"), place("g2")]
        self.answers = []
        self.readings = []
        self.now = 1000.0

        async def read_all(machines):
            self.readings.append([machine.name for machine in machines])
            return self.answers.pop(0)

        for where, name, fake in (
            (clocks.clock, "read_all", read_all),
            (clocks.time, "time", lambda: self.now),
        ):
            patch = mock.patch.object(where, name, fake)
            patch.start()
            self.addCleanup(patch.stop)

    async def read(self, first, last):
        """Read both clocks at 1000 and at 1100."""
        self.answers = [
            [clock.Reading(offset=o, error=e) for o, e in answers]
            for answers in (first, last)
        ]
        station_clocks = clocks.Clocks()
        await station_clocks.begin(self.stations)
        self.now = 1100.0
        await station_clocks.end(self.stations)
        return station_clocks

    async def test_a_drift_is_taken_to_be_even(self):
        """The offset of a moment lies between both readings."""
        station_clocks = await self.read(
            [(5.0, 0.001), (0.0, 0.001)], [(6.0, 0.003), (0.0, 0.001)]
        )
        self.assertEqual(5.0, station_clocks.offset("g1"))
        for moment, offset in (
            (900, 5.0),
            (1005, 5.0),
            (1055, 5.5),
            (1105, 6.0),
            (1200, 6.0),
        ):
            reading = station_clocks.at("g1", moment)
            self.assertAlmostEqual(offset, reading.offset)
            self.assertEqual(0.003, reading.error)
        self.assertEqual(0.0, station_clocks.at("g2", 1055).offset)

    async def test_who_is_gone_by_the_end_has_the_first_reading(self):
        """Its runs are corrected all the same."""
        self.answers = [
            [clock.SAME, clock.Reading(offset=2, error=0.1)],
            [clock.SAME, base.Unreachable("away")],
        ]
        station_clocks = clocks.Clocks()
        await station_clocks.begin(self.stations)
        await station_clocks.end(self.stations)
        self.assertEqual(2, station_clocks.at("g2", 1000).offset)

    async def test_a_clock_that_cannot_be_read(self):
        """The reason is kept, by the name of the station."""
        self.answers = [[clock.SAME, base.Unreachable("g2: away")]]
        station_clocks = clocks.Clocks()
        await station_clocks.begin(self.stations)
        self.assertEqual(
            {"g2": "g2: away"},
            {
                name: str(error)
                for name, error in station_clocks.refused.items()
            },
        )
        self.assertIsNone(station_clocks.at("g2", 1000))
        self.assertEqual([], station_clocks.findings({"g2": 1.0}))

    async def test_copies_on_one_machine_share_its_clock(self):
        """The clock is read once, and the copies have no error."""
        machine = testing.FakeMachine("host")
        self.stations = [place("c1", machine), place("c2", machine)]
        station_clocks = await self.read([(7.0, 0.2)], [(7.0, 0.2)])
        self.assertEqual([["host"], ["host"]], self.readings)
        for name in ("c1", "c2"):
            reading = station_clocks.at(name, 1000)
            self.assertEqual((7.0, 0.0), (reading.offset, reading.error))
        self.assertEqual([], station_clocks.findings({"c1": 0.1, "c2": 0.1}))

    async def test_one_station_needs_no_clock(self):
        """Nothing is asked."""
        station_clocks = clocks.Clocks()
        await station_clocks.begin(self.stations[:1])
        await station_clocks.end(self.stations[:1])
        self.assertEqual([], self.readings)
        self.assertIsNone(station_clocks.at("g1", 1000))

    async def test_doubts(self):
        """Errors and drifts above a tenth of the shortest run are findings."""
        for first, last, seconds, doubted in (
            ((0.0, 0.01), (0.0, 0.01), 1.0, False),
            ((0.0, 0.11), (0.0, 0.01), 1.0, True),
            ((0.0, 0.01), (0.0, 0.11), 1.0, True),
            ((0.0, 0.01), (-0.2, 0.01), 1.0, True),
            ((0.0, 0.01), (-0.2, 0.01), 10.0, False),
            ((9.0, 0.01), (9.6, 0.01), 1000.0, True),
        ):
            with self.subTest(first=first, last=last, seconds=seconds):
                station_clocks = await self.read(
                    [first, (0, 0)], [last, (0, 0)]
                )
                findings = station_clocks.findings(
                    {"g1": seconds, "g2": seconds}
                )
                self.assertEqual(
                    [("clock_not_correctable", "g1")] * doubted,
                    [(each.kind, each.subject) for each in findings],
                )
