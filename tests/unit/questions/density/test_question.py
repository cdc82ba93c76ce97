# SPDX-License-Identifier: Apache-2.0
"""Tests of density tasks that are rejected before a guest boots."""

import copy
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import document
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
            place.pop(last, None)
        else:
            place[last] = value
    return config


def degradation(**options):
    """Return a change of the SLA."""
    limit = {"max_percent": {"cpu.*": 50}, **options}
    return ("sla",), {"vmperf_degradation": limit}


@ddt.ddt
class TestDensity(unittest.TestCase):
    """A density task is checked as a whole."""

    def setUp(self):
        """Register a baseline that has sysbench in one and two copies."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = registry.get_workload("sysbench").complete({})
        self.baselines = store.Store(folder.name)
        self.baselines.save(
            made.baseline(
                entries=tuple(
                    made.entry(
                        arguments=arguments,
                        shape=document.Shape(1, 1, copies),
                    )
                    for copies in (1, 2)
                )
            )
        )

    def check(self, *changes):
        """Check a workload of Rally; return the warnings."""
        task_question = table.questions()["density"]
        task_request = task_question.create_task(changed(*changes))
        return checks.check_task(task_request, task_question, self.baselines)

    @ddt.data(
        (),
        ((("contexts", "vmperf_baseline"), None),),
        (
            (("contexts", GUESTS, "count"), 6),
            (("contexts", GUESTS, "server_group"), None),
        ),
        ((("args", "levels"), {"to": 3}),),
        (degradation(levels=[2, 3]),),
        (degradation(statistic="worst"), (("args", "solo_guest"), "all")),
        (degradation(levels=2, compare_to="bare_metal", statistic="worst"),),
        ((("sla",), {"vmperf_degradation": {"max": {"cpu.*": 5}}}),),
        (degradation(levels=2, compare_to="bare_metal"),),
        ((("args", "stop"), {"max_percent": {"cpu.*": 50}}),),
        ((("args", "stop"), {"total_falls": True}),),
        ((("args", "idle_guests"), "stopped"),),
        ((("sla",), {"vmperf_fairness": {"min_index": {"cpu.*": 0.9}}}),),
        ((("sla",), {}),),
    )
    def test_good_tasks(self, changes):
        """Nothing is wrong with them; the baseline may be left out."""
        self.check(*changes)

    def neighbours(self, count, beside, *changes):
        """Check a task whose neighbours have a limit."""
        limits = {
            **CONFIG["sla"],
            "vmperf_neighbours": {"max_percent": {"cpu.*": 5}},
        }
        return self.check(
            (("args", "neighbours"), beside),
            (("contexts", GUESTS, "count"), count),
            (("sla",), limits),
            *changes,
        )

    def test_neighbours(self):
        """They are booted next to the largest level, on each host."""
        beside = {"guests": 2, "workload": {"name": "stress_ng"}}
        listed = ("args", "order"), "listed"
        (warned,) = self.neighbours(5, beside, listed)
        self.assertIn("use order: shuffled or blocks", warned)
        order = ("args", "order"), "blocks"
        self.assertEqual([], self.neighbours(5, beside, order))
        anywhere = ("contexts", GUESTS, "server_group"), None
        self.assertEqual(1, len(self.neighbours(10, beside, order, anywhere)))
        for count, neighbours, message in (
            (3, beside, "and 2 neighbours; set .*{count: 5}"),
            (3, None, "the task has no neighbours"),
            (5, {"guests": 2}, "'workload' is a required"),
        ):
            with self.assertRaisesRegex(Exception, message):
                self.neighbours(count, neighbours)

    @ddt.data(
        ({}, 4, "shuffled", 1),
        ({"stop": {"total_falls": True}}, 4, "listed", 0),
        ({}, 1, "shuffled", 0),
        ({"order": "blocks", "warmup": 0}, 4, "blocks", 0),
        ({"order": None, "warmup": None, "stop": {}}, 4, "shuffled", 1),
    )
    @ddt.unpack
    def test_defaults(self, arguments, times, order, warmup):
        """Shuffled with a warm-up, unless a stop rule needs the order."""
        task_question = table.questions()["density"]
        config = changed((("args", "warmup"), None))
        config["runner"]["times"] = times
        completed = task.create_arguments(
            {**config["args"], **arguments}, task_question.arguments, times
        )
        self.assertEqual((order, warmup), (completed.order, completed.warmup))
        task_request = task_question.create_task(config)
        self.assertEqual(min(1, times - 1), task_request.warmup)

    def test_minutes_of_neighbours(self):
        """Each level is measured twice; those that are stopped boot."""
        task_question = table.questions()["density"]
        beside = {"guests": 2, "workload": {"name": "stress_ng"}}

        def minutes(idle_guests, neighbours=None):
            config = changed(
                (("args", "idle_guests"), idle_guests),
                (("runner", "times"), 40),
            )
            config["args"]["neighbours"] = neighbours
            return task_question.estimate_minutes(
                task_question.create_task(config)
            )

        begin, alone = 2, minutes("running")
        measuring = minutes("running", beside) - alone
        self.assertAlmostEqual(alone - begin, measuring, delta=1)
        # 1, 3, 2, 4, 3 and 5 guests: three rises in place of two.
        booting = minutes("stopped", beside) - minutes("stopped") - measuring
        self.assertAlmostEqual(40, booting, delta=1)

    @ddt.data(
        ((("args", "levels"), None), r"'levels' is a required property"),
        (
            (("args", "idle_guests"), "asleep"),
            r"idle_guests='asleep': must be one of running, paused, stopped",
        ),
        (
            (("args", "levels"), [1, 1]),
            r"levels: \[1, 1\] has non-unique elements; The numbers",
        ),
        (
            (("args", "solo_guest"), "both"),
            "solo_guest='both': must be one of rotate, all",
        ),
        (
            degradation(statistic="worst"),
            "statistic=worst: .* set solo_guest: all in VMPerf.den",
        ),
        ((("contexts", GUESTS, "count"), 1), r"count=1: .*count: 3"),
        ((("contexts", GUESTS, "count"), 2), r"count=2: .*count: 3"),
        ((("contexts", GUESTS, "count"), 4), r"count=4: .*or a multiple"),
        (
            (("contexts", GUESTS, "count"), 6),
            "count=6: .*=affinity, which places all",
        ),
        (
            (("contexts", GUESTS, "server_group"), "soft-anti-affinity"),
            "=soft-anti-affinity: 3 guests must share a host",
        ),
        ((("args", "workloads"), PAIRS), r"must be even for .*; 1 is not"),
        (
            (("args", "stop"), {"levels": 1}),
            "stop: .*allowed keys: max_percent",
        ),
        (
            (("args", "stop"), {"max_percent": {"dsik.*": 5}}),
            r"stop max_percent: 'dsik\.\*' matches no metric",
        ),
        (
            (("args", "stop"), {"max_percent": {5: 5}}),
            "^stop.max_percent: 5 is not of type 'string'",
        ),
        (
            (("sla",), {"vmperf_overhead": {}}),
            "applies to VMPerf.overhead, not",
        ),
        (degradation(max={"cpu.*": 0}), "degradation max: .*above zero"),
        (
            degradation(max_percent={"*_p95": 100}),
            r"degradation max_percent: '\*_p95' is 100, but .*_p95 is "
            "compared as a rate, which cannot lose more than 100 %; set a ",
        ),
        (
            degradation(levels=4),
            r"levels: no level has 4 guests \(there are: 1, 2, 3",
        ),
        (degradation(levels=[2, 5]), "levels: no level has 5 guests"),
        (
            degradation(max_percent={"disk.*": 5}),
            r"degradation max_percent: 'disk\.\*' matches no metric",
        ),
        (
            degradation(compare_to="bare_metal"),
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
        with self.assertRaisesRegex(checks.REQUEST_ERRORS, text):
            self.check(change)

    def test_stop_needs_ascending_levels(self):
        """Otherwise it is not known what would come next."""
        stop = (("args", "stop"), {"total_falls": True})
        for change in (
            (("args", "levels"), [3, 1, 2]),
            (("args", "order"), "shuffled"),
        ):
            with self.assertRaisesRegex(
                checks.REQUEST_ERRORS, "stop: requires ascending levels"
            ):
                self.check(stop, change)

    def test_a_loss_needs_a_solo_guest(self):
        """A comparison with bare metal does not need it."""
        levels = (("args", "levels"), [2, 3])
        for change in (
            degradation(),
            (("args", "solo_guest"), "all"),
            (("args", "stop"), {"max_percent": {"cpu.*": 5}}),
        ):
            with self.assertRaisesRegex(
                checks.REQUEST_ERRORS, "requires level 1"
            ):
                self.check(levels, change)
        self.check(levels, degradation(levels=2, compare_to="bare_metal"))

    def test_bare_metal_needs_a_baseline(self):
        """The baseline is optional otherwise."""
        with self.assertRaisesRegex(
            checks.REQUEST_ERRORS, "requires the context vmperf_baseline"
        ):
            self.check(
                (("contexts", "vmperf_baseline"), None),
                degradation(levels=2, compare_to="bare_metal"),
            )

    def test_a_solo_guest_is_always_fair(self):
        """A limit on it would always be met."""
        for levels in (1, [1, 2]):
            limit = {"min_index": {"cpu.*": 0.9}, "levels": levels}
            with self.assertRaisesRegex(
                checks.REQUEST_ERRORS,
                "a single guest shares its host with no other",
            ):
                self.check((("sla",), {"vmperf_fairness": limit}))

    def test_a_solo_guest_loses_nothing_against_itself(self):
        """It is rejected before a run, and not by the judge of the run."""
        with self.assertRaisesRegex(
            checks.REQUEST_ERRORS,
            "sla vmperf_degradation levels: a single guest shares its host",
        ):
            self.check(degradation(levels=[1, 2]))

    def test_values_of_a_solo_guest(self):
        """A limit on values applies to one guest as well."""
        self.check(
            (
                ("sla",),
                {"vmperf_degradation": {"max": {"*_p95": 9}, "levels": 1}},
            )
        )

    @ddt.data((4, None), (6, "count=6: must be 4"))
    @ddt.unpack
    def test_as_many_on_each_host(self, count, message):
        """Several hosts have as many guests each as the largest level."""
        changes = (
            (("args", "levels"), [1, 2]),
            (("contexts", GUESTS, "count"), count),
            (("contexts", GUESTS, "hosts"), ["a", "b"]),
            (("contexts", GUESTS, "server_group"), None),
            (("contexts", "vmperf_baseline"), None),
            (("sla",), {}),
        )
        if message is None:
            self.assertEqual([], self.check(*changes))
            return
        with self.assertRaisesRegex(checks.REQUEST_ERRORS, message):
            self.check(*changes)

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

    @ddt.data(("running", 2), ("stopped", 10))
    @ddt.unpack
    def test_the_plan_counts_each_solo_guest(self, idle_guests, expected):
        """Level 1 runs three times, and where others are stopped boots so."""
        minutes = []
        task_question = table.questions()["density"]
        for lone in ("rotate", "all"):
            config = changed(
                (("args", "solo_guest"), lone),
                (("args", "idle_guests"), idle_guests),
            )
            task_request = task_question.create_task(config)
            minutes.append(task_question.estimate_minutes(task_request))
        self.assertEqual(expected, minutes[1] - minutes[0])

    def test_where_nova_chooses(self):
        """The warning names the possible finding."""
        anywhere = ("contexts", GUESTS, "server_group"), None
        (remark,) = self.check(anywhere, (("contexts", GUESTS, "count"), 6))
        self.assertIn("level_placement_wrong", remark)
        self.assertEqual([], self.check(anywhere))

    @ddt.data(
        ({}, 3, "affinity"),
        ({"host": "c1"}, 3, None),
        ({"hosts": ["c1", "c2"]}, 6, None),
        ({"aggregate": "a"}, 3, None),
        ({"server_group": "soft-affinity"}, 3, "soft-affinity"),
        ({"availability_zone": "z", "host": "", "hosts": []}, 3, "affinity"),
    )
    @ddt.unpack
    def test_guests_of_the_largest_level(self, places, count, group):
        """They are on one host, unless the task has another placement."""
        config = changed()
        guests = config["contexts"][GUESTS]
        for key in ("count", "server_group"):
            del guests[key]
        guests.update(places)
        question = table.questions()["density"]
        options = question.create_guest_options(question.create_task(config))
        self.assertEqual(
            (count, group), (options["count"], options.get("server_group"))
        )

    @ddt.data(
        ([3, 1, 2], 3),
        ({"to": 5}, 5),
        ({"from": 2, "to": 4}, 4),
        ({"doubling_to": 1}, 1),
        ({"doubling_to": 7}, 4),
        ({"doubling_to": 32}, 32),
        ({"doubling_to": 1000}, 512),
    )
    @ddt.unpack
    def test_count_of_guests(self, levels, count):
        """It is that of the largest level, and of neighbours."""
        config = changed((("args", "levels"), levels))
        del config["contexts"][GUESTS]["count"]
        question = table.questions()["density"]
        self.assertEqual(count, question.create_task(config).count)
        config["args"]["neighbours"] = {
            "guests": 2,
            "workload": {"name": "stress_ng"},
        }
        self.assertEqual(count + 2, question.create_task(config).count)
