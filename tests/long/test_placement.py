# SPDX-License-Identifier: Apache-2.0
"""Guests where they were asked for, on the networks asked for."""

import contextlib
import ipaddress
import json
import time

from tests import patience
from tests.functional import laboratory
from tests.functional import placing
from tests.long import long

#: What the guest image prints when it is configured.
CONFIGURED = "finished with the instance data of the "
BOTH = [{"name": "private"}, {"name": "public"}]


@long.LONG
class TestPlacement(placing.PlacementCase):
    """Placement is kept and seen, or refused before anything runs."""

    def test_together_on_two_networks(self):
        """A member sees that guests share a host, and measures inside."""
        lab = self.laboratory
        lab.use("member")
        before = lab.journals()
        process = lab.start(
            placing.TASK,
            **placing.ALIKE,
            peer=laboratory.peer(),
            options={
                "server_group": "affinity",
                "availability_zone": "nova",
                "networks": BOTH,
                "traffic_network": {"name": "private"},
            },
        )
        self.check_ended(0, process)
        records = lab.records(self.new_journal(before, process))
        guests = [
            machine["nova"]
            for machine in lab.machines(records[0]).values()
            if machine["nova"]
        ]
        self.assertEqual(1, len({guest["host_id"] for guest in guests}))
        for guest in guests:
            self.assertEqual("nova", guest["availability_zone"])
            self.assertEqual(["private", "public"], guest["networks"])
            public = laboratory.networks().external
            self.assertIn(ipaddress.ip_address(guest["address"]), public)
            measured = ipaddress.ip_address(guest["measure_address"])
            self.assertNotIn(measured, public)
        kinds = {finding.kind for finding in records[0].repetition.findings}
        self.assertNotIn("wrong_host", kinds)

    def test_no_room_to_be_apart(self):
        """Two guests that cannot be apart are reported in one line."""
        lab = self.laboratory
        lab.use("member")
        process = lab.start(
            placing.TASK,
            **placing.ALIKE,
            peer=laboratory.peer(),
            options={
                "server_group": "anti-affinity",
                "network": {"name": "public"},
            },
        )
        self.check_ended(2, process)
        output = process.stdout + process.stderr
        self.assertIn("asked for: server_group 'anti-affinity'", output)
        self.assertIn("No valid host", output)

    def test_members_may_not_choose_aggregates(self):
        """Validation says who may."""
        lab = self.laboratory
        lab.use("member")
        arguments = {
            **placing.ALIKE,
            "peer": laboratory.peer(),
            "options": {"aggregate": placing.AGGREGATE},
        }
        process = lab.rally(
            "task",
            "validate",
            str(placing.TASK),
            "--task-args",
            json.dumps(arguments),
        )
        self.assertNotEqual(0, process.returncode)
        self.assertIn(
            f"aggregate '{placing.AGGREGATE}': only an administrator",
            process.stdout,
        )


@long.LONG
class TestAggregate(placing.PlacementCase):
    """Forced into an aggregate."""

    def test_inside_an_aggregate_from_a_config_drive(self):
        """An administrator's guest is in it, its user data on a drive."""
        lab = self.laboratory
        lab.use("admin")
        before = lab.journals()
        with _aggregate(lab.admin) as host:
            with lab.started(
                placing.TASK,
                baseline="one-tiny",
                guests=1,
                peer=laboratory.peer(),
                options={
                    "aggregate": placing.AGGREGATE,
                    "network": {"name": "public"},
                    "config_drive": True,
                },
            ) as process:
                text = self._console()
                code = process.wait(patience.seconds(200))
            self.assertEqual(0, code, process.log.read_text()[-4000:])
        self.assertIn(f"{CONFIGURED}config drive", text)
        (path,) = lab.journals() - before
        guest = lab.machines(lab.records(path)[0])["g1"]["nova"]
        self.assertEqual(host, guest["host"])
        self.assertIs(True, guest["config_drive"])

    def _console(self):
        """Return the console of the run's server until it names its source."""
        admin = self.laboratory.admin
        text, deadline = "", time.monotonic() + patience.seconds(150)
        while CONFIGURED not in text and time.monotonic() < deadline:
            time.sleep(1)
            for server in admin.compute.servers(all_projects=True):
                with contextlib.suppress(laboratory.REFUSALS):
                    answer = admin.compute.get_server_console_output(server.id)
                    text = answer.get("output") or ""
        return text


@contextlib.contextmanager
def _aggregate(admin):
    """Have an aggregate without a zone, with the cloud's host in it."""
    made = admin.compute.create_aggregate(name=placing.AGGREGATE)
    try:
        (host,) = (
            service.host
            for service in admin.compute.services(binary="nova-compute")
        )
        admin.compute.add_host_to_aggregate(made, host)
        try:
            yield host
        finally:
            admin.compute.remove_host_from_aggregate(made, host)
    finally:
        admin.compute.delete_aggregate(made)


@long.LONG
class TestOtherGuests(placing.PlacementCase):
    """A run on a host that has a guest of another user."""

    def test_shared_host(self):
        """An administrator's run reports the guest, or rejects the host."""
        lab = self.laboratory
        lab.use("admin")
        arguments = {
            "baseline": "one-tiny",
            "guests": 1,
            "peer": laboratory.peer(),
        }
        network = {"network": {"name": "public"}}
        with _other_guest(lab.admin) as server:
            options = {**network, "empty_host": True}
            rejected = lab.start(placing.TASK, **arguments, options=options)
            before = lab.journals()
            process = lab.start(placing.TASK, **arguments, options=network)
        self.check_ended(2, rejected)
        sentence = (
            f"host {server.compute_host} has 1 guest of others with 1 vCPU"
        )
        self.assertIn(
            f"empty_host: {sentence}", rejected.stdout + rejected.stderr
        )
        self.check_ended(0, process)
        for record in lab.records(self.new_journal(before, process)):
            findings = {
                (finding.kind, finding.detail)
                for condition in record.repetition.conditions
                for finding in condition.findings
            }
            self.assertIn(("host_shared", sentence), findings)


@contextlib.contextmanager
def _other_guest(admin):
    """Have a server without an operating system, which stays idle."""
    image = admin.image.create_image(
        "vmperf-no-system",
        disk_format="raw",
        container_format="bare",
        data=bytes(1 << 20),
    )
    try:
        network = admin.network.find_network("public")
        flavor = admin.compute.find_flavor("vmperf.tiny")
        server = admin.compute.create_server(
            name="of-others",
            image_id=image.id,
            flavor_id=flavor.id,
            networks=[{"uuid": network.id}],
        )
        try:
            yield admin.compute.wait_for_server(server, wait=300)
        finally:
            admin.compute.delete_server(server)
            admin.compute.wait_for_delete(server, wait=120)
    finally:
        admin.image.delete_image(image)
