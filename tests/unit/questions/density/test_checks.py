"""Tests of what is refused of a density task before anything boots."""

import copy
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import store
from rally_vmperf.questions import checks
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.workloads import registry
from tests.unit import made

GUESTS = "vmperf_guests@openstack"
CONFIG = {
    "args": {
        "workloads": [{"name": "sysbench"}],
        "levels": [1, 2, 3],
        "warmup": 1,
    },
    "contexts": {
        "vmperf_baseline": {"name": "metal"},
        GUESTS: {
            "image": {"name": "i"},
            "flavor": {"name": "f"},
            "count": 3,
            "server_group": "affinity",
        },
    },
    "runner_type": "serial",
    "runner": {"times": 4},
    "sla": {"vmperf_degradation": {"max_percent": {"cpu.*": 50}}},
}
PAIRS = [{"name": "iperf3", "arguments": {"directions": ["guest_to_guest"]}}]


def changed(*changes):
    """Return the configuration with values replaced, or removed."""
    config = copy.deepcopy(CONFIG)
    for path, value in changes:
        *parents, last = path
        place = config
        for key in parents:
            place = place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return config


def degradation(**given):
    """Return a change of the SLA."""
    limit = {"max_percent": {"cpu.*": 50}, **given}
    return ("sla",), {"vmperf_degradation": limit}


@ddt.ddt
class TestDensity(unittest.TestCase):
    """A density task is checked as a whole."""

    def setUp(self):
        """Register a baseline that has sysbench in one and two copies."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = registry.get("sysbench").complete({})
        self.baselines = store.Store(folder.name)
        self.baselines.save(
            made.baseline(
                entries=[
                    made.entry(
                        arguments=arguments,
                        shape={"vcpus": 1, "memory_mib": 1, "copies": copies},
                    )
                    for copies in (1, 2)
                ]
            )
        )

    def check(self, *changes):
        """Check a workload of Rally's; return what is to be said of it."""
        entry = table.questions()["density"]
        asked = task.of_rally(changed(*changes), entry.scenario)
        return checks.check(asked, entry, self.baselines)

    @ddt.data(
        (),
        ((("contexts", "vmperf_baseline"), None),),
        (
            (("contexts", GUESTS, "count"), 6),
            (("contexts", GUESTS, "server_group"), None),
        ),
        ((("args", "levels"), {"to": 3}),),
        (degradation(at=[2, 3]),),
        (degradation(at=2, against="bare_metal"),),
        ((("args", "stop"), {"max_percent": {"cpu.*": 50}}),),
        ((("args", "stop"), {"total_falls": True}),),
        ((("args", "others"), "stopped"),),
        ((("sla",), {"vmperf_fairness": {"min_index": {"cpu.*": 0.9}}}),),
        ((("sla",), {}),),
    )
    def test_good_tasks(self, changes):
        """Nothing is wrong with them; the baseline may be left out."""
        self.check(*changes)

    @ddt.data(
        ((("args", "levels"), None), r"levels None: must be a list"),
        (
            (("args", "others"), "asleep"),
            r"others 'asleep': must be one of idle, paused, stopped",
        ),
        ((("args", "levels"), [1, 1]), r"levels \[1, 1\]: must be a list"),
        ((("contexts", GUESTS, "count"), None), r"count 1: .*count: 3"),
        ((("contexts", GUESTS, "count"), 2), r"count 2: .*count: 3"),
        ((("contexts", GUESTS, "count"), 4), r"count 4: .*or a multiple"),
        ((("contexts", GUESTS, "count"), 6), "count 6: .*'affinity' puts all"),
        (
            (("contexts", GUESTS, "server_group"), "soft-anti-affinity"),
            "'soft-anti-affinity': 3 guests are to share a host",
        ),
        ((("contexts", GUESTS), None), "vmperf_guests is missing"),
        (
            (("contexts", GUESTS), {"groups": [{"name": "a"}]}),
            r"count 1: .*count: 3",
        ),
        (
            (("contexts", GUESTS), {"groups": [{"name": "a"}, {"name": "b"}]}),
            r"groups: 2 are given \(a, b\)",
        ),
        ((("runner_type",), "constant"), "runner 'constant'"),
        ((("args", "warmup"), 4), "warmup 4"),
        ((("args", "workloads"), [{"name": "fi"}]), "'fi'; there are"),
        ((("args", "workloads"), [{"name": "mbw"}]), "matches no metric"),
        ((("args", "workloads"), [{"name": "iperf3"}]), "peer is missing"),
        ((("args", "workloads"), PAIRS), r"every level must be even; 1 is"),
        (
            (("contexts", "vmperf_baseline"), {"name": "x"}),
            "registered: metal",
        ),
        ((("args", "stop"), {"at": 1}), "stop: .*allowed keys: max_percent"),
        (
            (("args", "stop"), {"max_percent": {"dsik.*": 5}}),
            r"stop max_percent: 'dsik\.\*' matches no metric",
        ),
        ((("sla",), {"vmperf_overhead": {}}), "judges VMPerf.overhead, not"),
        (degradation(at=4), r"at: no level has 4 guests \(there are: 1, 2, 3"),
        (degradation(at=[1, 5]), "at: no level has 5 guests"),
        (
            degradation(max_percent={"disk.*": 5}),
            r"degradation max_percent: 'disk\.\*' matches no metric",
        ),
        (
            degradation(against="bare_metal"),
            "in 1, 2 copies, not in 3; record it with --copies 1,2,3",
        ),
        (
            (("sla",), {"vmperf_fairness": {"min_index": {"x": 0.9}}}),
            "vmperf_fairness min_index: 'x' matches no metric",
        ),
        (
            (("sla",), {"vmperf_fairness": {"max_spread_percent": {"x": 9}}}),
            "vmperf_fairness max_spread_percent: 'x' matches no metric",
        ),
    )
    @ddt.unpack
    def test_refused_by_name(self, change, text):
        """The message names the key, the value and what is allowed."""
        with self.assertRaisesRegex(checks.REFUSALS, text):
            self.check(change)

    def test_stop_needs_ascending_levels(self):
        """Otherwise it is not known what would come next."""
        stop = (("args", "stop"), {"total_falls": True})
        for change in (
            (("args", "levels"), [3, 1, 2]),
            (("args", "order"), "shuffled"),
        ):
            with self.assertRaisesRegex(
                checks.REFUSALS, "stop: needs ascending levels"
            ):
                self.check(stop, change)

    def test_a_loss_needs_a_lone_guest(self):
        """Unless bare metal is what it is held against."""
        levels = (("args", "levels"), [2, 3])
        for change in (
            degradation(),
            (("args", "stop"), {"max_percent": {"cpu.*": 5}}),
        ):
            with self.assertRaisesRegex(checks.REFUSALS, "needs the level 1"):
                self.check(levels, change)
        self.check(levels, degradation(at=2, against="bare_metal"))

    def test_bare_metal_needs_a_baseline(self):
        """Which is optional otherwise."""
        with self.assertRaisesRegex(
            checks.REFUSALS, "needs the context vmperf_baseline"
        ):
            self.check(
                (("contexts", "vmperf_baseline"), None),
                degradation(at=2, against="bare_metal"),
            )

    def test_a_lone_guest_is_always_fair(self):
        """A limit on it would hold whatever happens."""
        limit = {"min_index": {"cpu.*": 0.9}, "at": 1}
        with self.assertRaisesRegex(
            checks.REFUSALS,
            "nobody to lose to or to share with",
        ):
            self.check((("sla",), {"vmperf_fairness": limit}))

    def test_pairs_at_even_levels(self):
        """Each pair is two guests of the level."""
        remarks = self.check(
            (("args", "workloads"), PAIRS),
            (("args", "levels"), [2, 4]),
            (("contexts", GUESTS, "count"), 4),
            (("contexts", "vmperf_baseline"), None),
            (("sla",), {}),
        )
        self.assertEqual([], remarks)

    def test_where_nova_chooses(self):
        """It is said what that may lead to."""
        (remark,) = self.check((("contexts", GUESTS, "server_group"), None))
        self.assertIn("guests_on_other_hosts", remark)
