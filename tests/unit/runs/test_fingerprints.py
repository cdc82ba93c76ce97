# SPDX-License-Identifier: Apache-2.0
"""Tests that what reads a fingerprint reads what schemas let through."""

import json
import unittest

import hypothesis

from rally_vmperf import facts
from rally_vmperf import formats
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.guests import models
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.records import flows
from rally_vmperf.records import model
from rally_vmperf.report import setting as described
from rally_vmperf.runs import setting
from tests.unit import made
from tests.unit.guests import made as guests
from tests.unit.records import permitted

FINGERPRINTS = permitted.values(
    formats.create_adapter(facts.Fingerprint).json_schema()
)


class TestFingerprint(unittest.TestCase):
    """A fingerprint of a valid document raises in no reader."""

    @hypothesis.given(FINGERPRINTS, FINGERPRINTS)
    @hypothesis.settings(max_examples=200)
    def test_readers(self, metal, other):
        """The fingerprints are those of bare metal, a guest and the peer."""
        machine = {"name": "host-1", "fingerprint": metal}
        registered = made.document(made.baseline(), machine=machine)
        document.decode(json.loads(json.dumps(registered)), "it")
        comparability.compare_machines(metal, other, "g1")
        comparability.host_cpu(metal, "g1", ["sse2"])
        comparability.same_peer(metal, other)
        comparability.peer_on_host(metal, other)
        comparability.governor(metal)
        comparability.nested(metal)
        comparability.virtualisation(other, "g1")
        self.check_record(metal)
        self.check_setting(metal, other)

    def check_record(self, metal):
        """Check that a record is read."""
        record = made.document(made.record())
        record["bare_metal"]["fingerprint"] = metal
        bare_metal = model.decode(record).bare_metal
        described.compare_machines([], bare_metal)

    def check_setting(self, metal, other):
        """Check the facts that a run copies from bare metal and the peer."""
        booted = models.BootedGuests(guests=(guests.guest(),), client_key="")
        record = made.document(made.record())
        record["bare_metal"]["fingerprint"] = metal
        bare_metal = model.decode(record).bare_metal
        run_setting = setting.build_setting(booted, (), bare_metal=bare_metal)
        links = rate_caps.links(other.get("network_interfaces") or (), "peer")
        ends = flows.FlowEndpoints(
            needed=frozenset({"peer"}), peer="p", addresses={"p": "10.1.2.3"}
        )
        details = {"g1": {"fingerprint": metal}, "p": {"fingerprint": other}}
        (flow,) = flows.of_condition(["g1"], 1, ends, details)
        self.assertIn(flow.path, ("link", "router", "unknown"))
        for cap in (*run_setting.rate_limits, *links):
            self.assertGreater(cap.rate, 0)
            self.assertLessEqual(cap.rate, 1e15)
