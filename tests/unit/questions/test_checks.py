"""Tests of what is refused of any task before anything boots."""

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

CONFIG = {
    "args": {"workloads": [{"name": "sysbench"}], "warmup": 1},
    "contexts": {
        "vmperf_baseline": {"name": "metal"},
        "vmperf_guests@openstack": {
            "image": {"name": "i"},
            "flavor": {"name": "f"},
        },
    },
    "runner_type": "serial",
    "runner": {"times": 4},
    "sla": {"vmperf_overhead": {"max_percent": {"cpu.*": 5}}},
}


def changed(path, value):
    """Return the configuration with one value replaced, or removed."""
    config = copy.deepcopy(CONFIG)
    *parents, last = path
    place = config
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return config


@ddt.ddt
class TestTask(unittest.TestCase):
    """A task is checked as a whole."""

    def setUp(self):
        """Register a baseline that covers sysbench."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = registry.get("sysbench").complete({})
        self.baselines = store.Store(folder.name)
        self.baselines.save(
            made.baseline(entries=[made.entry(arguments=arguments)])
        )

    def check(self, config):
        """Check a workload of Rally's."""
        entry = table.questions()["overhead"]
        asked = task.of_rally(config, entry.scenario)
        return checks.check(asked, entry, self.baselines)

    def test_good_task(self):
        """Nothing is wrong with it, and nothing to be said."""
        self.assertEqual([], self.check(CONFIG))

    @ddt.data(
        (("args", "workloads"), [], r"workloads: \[\]"),
        (("args", "workloads"), "fio", "workloads: 'fio' is not of type"),
        (("args", "workloads"), [{"nam": "fio"}], r"workloads\[0\].*'nam'"),
        (("args", "workloads"), [{"name": "fi"}], "'fi'; there are: bzip2"),
        (
            ("args", "workloads"),
            [{"name": "sysbench", "arguments": {"tim": 1}}],
            "'tim'.*allowed keys: max_prime, threads, time",
        ),
        (
            ("args", "workloads"),
            [{"name": "sysbench", "arguments": {"time": 7}}],
            "time is 10 there and 7 here",
        ),
        (("args", "workloads"), [{"name": "mbw"}], "matches no metric"),
        (("args", "workloads"), [{"name": "iperf3"}], "peer is missing"),
        (("args", "warmup"), 4, "warmup 4: .* from 0 to 3"),
        (("args", "warmup"), "1", "warmup: '1' is not of type 'integer'"),
        (("args", "peer"), {"adress": "x"}, "allowed keys: address"),
        (("runner_type",), "rps", "runner 'rps'.*serial"),
        (("runner_type",), "constant", "runner 'constant'.*serial"),
        (
            ("contexts", "vmperf_guests@openstack", "proxy"),
            "ftp://proxy",
            "proxy 'ftp://proxy': .*http://HOST:PORT",
        ),
        (
            ("contexts", "vmperf_guests@openstack", "tools"),
            "/proc/none",
            "/proc/none has no tools.json",
        ),
        (("contexts", "vmperf_baseline"), None, "vmperf_baseline is missing"),
        (
            ("contexts", "vmperf_guests@openstack"),
            None,
            "vmperf_guests is missing",
        ),
        (("contexts", "vmperf_baseline"), {"name": "x"}, "registered: metal"),
        (
            ("sla", "vmperf_overhead"),
            {"max_percent": {"disk.*": 5}},
            r"max_percent: 'disk\.\*' matches no metric.*cpu.sysbench.rate",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"max_percent": {"cpu.*": 5}, "max": {"*.retransmits": 5}},
            r"max: '\*\.retransmits' matches no metric",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"min": {"disk.*": 5}},
            r"min: 'disk\.\*' matches no metric.*cpu.sysbench.rate",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"max": {"cpu.*": 0}},
            r"max: 'cpu\.\*' is 0, but cpu.sysbench.\w+ is always above",
        ),
        *(
            (
                ("sla", "vmperf_spread"),
                {f"max_{key}": {"cpu.*": 5, "disk.*": 5}},
                rf"sla vmperf_spread max_{key}: 'disk\.\*' matches no metric",
            )
            for key in (
                *("range_percent", "cv_percent", "iqr_percent"),
                *("gsd", "gsd_ratio"),
            )
        ),
        (
            ("sla", "vmperf_spread"),
            {"max_cv_percent": {"cpu.*": 5}, "over": "intervals"},
            "sla vmperf_spread over: 'intervals' needs workloads that give a "
            "series .* and these give none: sysbench; use repetitions$",
        ),
        (
            ("sla", "vmperf_degradation"),
            {"max_percent": {"*": 5}},
            "sla vmperf_degradation: judges VMPerf.density, not VMPerf.over",
        ),
        (
            ("sla", "vmperf_fairness"),
            {},
            "sla vmperf_fairness: judges VMPerf.density",
        ),
    )
    @ddt.unpack
    def test_refused_by_name(self, path, value, text):
        """The message names the key, the value and what is allowed."""
        with self.assertRaisesRegex(checks.REFUSALS, text):
            self.check(changed(path, value))

    def test_groups(self):
        """One group is measured in whichever form; several are refused."""
        path = ("contexts", "vmperf_guests@openstack")
        group = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
        one = {"name": "a", **group}
        self.check(changed(path, {"groups": [one]}))
        with self.assertRaisesRegex(
            checks.REFUSALS,
            r"groups: 2 are given \(a, b\), the scenario measures one; give",
        ):
            self.check(changed(path, {"groups": [one, {"name": "b"}]}))

    def test_absolute_limits_go_with_rates_and_times(self):
        """And need no limit on the overhead beside them."""
        limits = {"max": {"*.latency_p95": 0.005}, "min": {"*.rate": 10}}
        self.check(changed(("sla", "vmperf_overhead"), limits))

    def test_limits_on_spread(self):
        """Alone, and over repetitions whether it is said or not."""
        limits = {"max_cv_percent": {"cpu.*": 5}}
        for more in ({}, {"over": "repetitions"}):
            path = ("sla", "vmperf_spread")
            self.check(changed(path, {**limits, **more}))
            self.check(changed(("sla",), {path[1]: {**limits, **more}}))

    def test_guest_to_guest_needs_two(self):
        """One guest has no partner."""
        config = changed(
            ("args", "workloads"),
            [
                {
                    "name": "iperf3",
                    "arguments": {"directions": ["guest_to_guest"]},
                }
            ],
        )
        with self.assertRaisesRegex(checks.REFUSALS, "count 1"):
            self.check(config)

    @ddt.data(
        ("machine", "3.9", True),
        ("peer", "3.9", True),
        ("peer", "3.18", False),
        ("peer", "", False),
    )
    @ddt.unpack
    def test_tools_of_the_baseline(self, key, version, refused):
        """One that is too old is refused before anything boots."""
        udp = {"protocol": "udp", "directions": ["to_peer"]}
        wanted = registry.get("iperf3")
        arguments = wanted.complete(udp)
        document = made.baseline(
            name="udp",
            entries=[
                made.entry(workload=wanted.name, arguments=arguments),
            ],
        )
        document[key] = {
            "name": "m1",
            "fingerprint": {},
            "tools": {"iperf3": {"version": f"iperf {version} (cJSON)"}},
        }
        self.baselines.save(document)
        config = changed(
            ("args", "workloads"), [{"name": "iperf3", "arguments": udp}]
        )
        config["args"]["peer"] = {"address": "192.0.2.1"}
        config["contexts"]["vmperf_baseline"]["name"] = "udp"
        config["sla"] = {"vmperf_overhead": {"max_percent": {"network.*": 5}}}
        if not refused:
            self.check(config)
            return
        with self.assertRaisesRegex(
            checks.REFUSALS,
            r"baseline 'udp': m1: iperf3 3\.9 is older than 3\.11: .*; "
            "install .*; then record the baseline again$",
        ):
            self.check(config)
