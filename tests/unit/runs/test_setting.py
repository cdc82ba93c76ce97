"""Tests of what records say of guests and of bare metal beside them."""

import unittest

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import station
from rally_vmperf.machines import testing
from rally_vmperf.measurement import finding
from rally_vmperf.plugins.scenarios import settings
from tests.unit import made

FLAVOR = {"vcpus": 1, "memory_mib": 1024, "disk_gib": 4}
SPREAD = finding.Finding(
    kind="guests_on_other_hosts", subject="guests", seen="g1; g2"
)


class Session:
    """A session whose machines are there already."""

    peer = None

    def __init__(self):
        self.assignments = assignment.assign([{"name": "sysbench"}])
        self.places = [
            station.Station(
                name=name,
                machine=testing.FakeMachine(name),
                role="guest",
                folder="",
            )
            for name in ("g1", "g2")
        ]
        names = [place.name for place in self.places]
        self.fingerprints = {name: {"kernel": "6.6"} for name in names}
        self.facts = {name: {} for name in names}
        self.tools = {name: {} for name in names}

    def everyone(self):
        """Return the stations."""
        return self.places

    def describe(self, name):
        """Return what is known of one."""
        return {"fingerprint": self.fingerprints[name], "tools": {}}


def context(**more):
    """Return Rally's context with two booted guests."""
    guests = [
        {
            "name": name,
            "flavor": FLAVOR,
            "host_id": "h",
            "host_key": "secret",
            "login": {"key_file": "secret"},
        }
        for name in ("g1", "g2")
    ]
    booted = {"guests": guests, "findings": []}
    return {"vmperf_guests": booted, **more}


def with_baseline(*copies):
    """Return a context with a baseline in these numbers of copies."""
    arguments = assignment.assign([{"name": "sysbench"}])[0].arguments
    shape = {"vcpus": 1, "memory_mib": 1024}
    entries = [
        made.entry(arguments=arguments, shape={**shape, "copies": number})
        for number in copies
    ]
    content = made.baseline(
        entries=entries, recorded_at="2020-01-01T00:00:00+00:00"
    )
    return context(vmperf_baseline={"document": content})


def kinds(setting):
    """Return the kinds of findings of a setting."""
    return {one.kind for one in setting.findings}


class TestDensity(unittest.TestCase):
    """Each level has bare metal of its own, or none."""

    def test_without_a_baseline(self):
        """Guests alone; what Nova says of their hosts is kept."""
        setting, references = settings.of_density(
            Session(), context(), (1, 2), [SPREAD]
        )
        self.assertEqual({}, references)
        self.assertIsNone(setting.reference)
        self.assertIn(SPREAD, setting.findings)
        self.assertIn("virtualisation_unknown", kinds(setting))
        self.assertEqual(2, setting.shape["copies"])
        self.assertIn("cpu.sysbench.rate", setting.expected)

    def test_levels_of_the_baseline(self):
        """As many copies as guests; a level without has none."""
        setting, references = settings.of_density(
            Session(), with_baseline(1, 4), (1, 2), []
        )
        self.assertEqual([1], list(references))
        self.assertEqual("metal", references[1]["name"])
        self.assertIn("kernel_differs", kinds(setting))
        self.assertIn("baseline_old", kinds(setting))
        self.assertIn("cpu.sysbench.rate", setting.metrics)

    def test_no_secret(self):
        """How guests are entered is nobody's business."""
        setting, _ = settings.of_density(Session(), context(), (1,), [])
        self.assertEqual("h", setting.machines[0]["nova"]["host_id"])
        self.assertNotIn("secret", str(setting))


class TestOverhead(unittest.TestCase):
    """All guests at once are compared with as many copies."""

    def test_reference(self):
        """And a baseline without them is refused."""
        setting = settings.of_overhead(Session(), with_baseline(1, 2))
        self.assertEqual("metal", setting.reference["name"])
        self.assertEqual(2, setting.shape["copies"])
        with self.assertRaisesRegex(document.BaselineError, "2 x 1 vCPU"):
            settings.of_overhead(Session(), with_baseline(1))
