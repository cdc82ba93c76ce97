"""Guests where they were asked for, on the networks asked for."""

import ipaddress
import json

from tests.functional import laboratory

TASK = laboratory.TASKS / "placed.yaml"
PUBLIC = ipaddress.ip_network("172.24.4.0/24")
BOTH = [{"name": "private"}, {"name": "public"}]
AGGREGATE = "vmperf-functional"
ALIKE = {"baseline": "pair-of-tiny", "guests": 2}


class PlacementCase(laboratory.Case):
    """A task that says where guests are to run."""

    def setUp(self):
        """Have bare metal for one tiny guest and for two."""
        super().setUp()
        for name, guests in (("one-tiny", 1), (ALIKE["baseline"], 2)):
            arguments = {
                "baseline": name,
                "guests": guests,
                "options": {},
                "peer": laboratory.peer(),
            }
            self.laboratory.record_baseline(
                name,
                "--task",
                str(TASK),
                "--task-args",
                json.dumps(arguments),
            )


class TestPlacement(PlacementCase):
    """Placement is kept and seen, or refused before anything runs."""

    def test_together_on_two_networks(self):
        """A member sees that guests share a host, and measures inside."""
        lab = self.laboratory
        lab.use("member")
        before = lab.journals()
        done = lab.start(
            TASK,
            **ALIKE,
            peer=laboratory.peer(),
            options={
                "server_group": "affinity",
                "availability_zone": "nova",
                "networks": BOTH,
                "measure_on": {"name": "private"},
            },
        )
        self.check_ended(0, done)
        records = lab.records(self.new_journal(before, done))
        guests = [
            one["nova"]
            for one in records[0]["machines"]
            if one["role"] == "guest"
        ]
        self.assertEqual(1, len({one["host_id"] for one in guests}))
        for guest in guests:
            self.assertEqual("nova", guest["availability_zone"])
            self.assertEqual(["private", "public"], guest["networks"])
            self.assertIn(ipaddress.ip_address(guest["address"]), PUBLIC)
            measured = ipaddress.ip_address(guest["measure_address"])
            self.assertNotIn(measured, PUBLIC)
        kinds = {found["kind"] for found in records[0]["findings"]}
        self.assertNotIn("wrong_host", kinds)

    def test_no_room_to_be_apart(self):
        """Two guests cannot be apart on one host: told in one line."""
        lab = self.laboratory
        lab.use("member")
        done = lab.start(
            TASK,
            **ALIKE,
            peer=laboratory.peer(),
            options={
                "server_group": "anti-affinity",
                "network": {"name": "public"},
            },
        )
        self.check_ended(2, done)
        said = done.stdout + done.stderr
        self.assertIn("asked for: server_group 'anti-affinity'", said)
        self.assertIn("No valid host", said)

    def test_members_may_not_choose_aggregates(self):
        """Validation says who may."""
        lab = self.laboratory
        lab.use("member")
        arguments = {
            **ALIKE,
            "peer": laboratory.peer(),
            "options": {"aggregate": AGGREGATE},
        }
        done = lab.rally(
            "task",
            "validate",
            str(TASK),
            "--task-args",
            json.dumps(arguments),
        )
        self.assertNotEqual(0, done.returncode)
        self.assertIn(
            f"aggregate '{AGGREGATE}': only an administrator", done.stdout
        )
