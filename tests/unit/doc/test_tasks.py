"""Every task that is shipped or shown passes Rally's validation."""

import argparse
import datetime
import json
import os
import pathlib
import tempfile
import unittest

import ddt
import jinja2
import jinja2.meta
import jsonschema
import yaml
from rally import exceptions
from rally import plugins
from rally.env import platform

from doc.ext import tasks_page
from rally_vmperf import errors
from rally_vmperf.audit import acknowledged
from rally_vmperf.cmd import task_file
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from tests.unit.doc import pages
from tests.unit.doc import tasks

SHIPPED = [
    str(path.relative_to(pages.ROOT))
    for folder in ("scenarios", "tasks")
    for path in sorted((pages.ROOT / folder).glob("*.yaml"))
    if not path.name.endswith(".embedded.yaml")
]
ARGUMENT_FILES = [
    str(path.relative_to(pages.ROOT))
    for path in sorted((pages.ROOT / "tasks").glob("*.embedded.yaml"))
]
#: Files whose network workloads are not left out without a peer.
OF_PEERS = {
    *(f"scenarios/overhead-{name}.yaml" for name in ("h2load", "iperf2")),
    *(f"scenarios/overhead-{name}.yaml" for name in ("iperf3", "ping")),
    *(f"scenarios/overhead-{name}.yaml" for name in ("sockperf", "wget")),
    "tasks/nic-models.yaml",
    *("tasks/study-hep.yaml", "tasks/study-load-agents.yaml"),
    *("tasks/study-openstack-kvm.yaml", "tasks/study-private-cloud.yaml"),
}
#: What some files have no default for.
GIVEN = {"peer": tasks.PEER, "job_file": str(tasks.JOB_FILE)}
#: Limits of each SLA, as a limits file has them.
SLAS = {
    "vmperf_overhead": {"max_percent": {"*": 20}},
    "vmperf_spread": {"max_cv_percent": {"*": 5}},
    "vmperf_degradation": {"max_percent": {"*": 20}, "statistic": "mean"},
    "vmperf_fairness": {"min_index": {"*": 0.9}},
    "vmperf_neighbours": {"max_percent": {"*": 20}},
    "vmperf_tuning": {"max_loss_percent": {"virtio": {"*": 20}}},
    "vmperf_disruption": {"max_downtime": 1, "max_loss_after_percent": 5},
    "vmperf_valid": {},
}
#: Tasks that compare guests with bare metal.
OF_BASELINES = [
    path
    for path in SHIPPED
    if "live-migration" not in path and path != tasks.SELF_CHECK
]
VARIANTS = [
    {"name": "plain"},
    {"name": "virtio", "image_properties": {"hw_vif_model": "virtio"}},
]
NEIGHBOURS = {"guests": 1, "workload": {"name": "stress_ng"}}
#: Values that YAML takes for something else, or not at all, unless quoted.
ODD = {
    "peer": {"address": "peer: 1", "user": "no"},
    "job_file": "/a: b",
    "baseline": 2024,
    "image": "debian 12, amd64",
    "user": "null",
    "network": "lan: blue",
    "host": "#1",
    "availability_zone": "yes",
    "flavor": 1.5,
    "flavors": [1.5, 'it\'s "big": {x}'],
    "single_flavors": [],
}


@ddt.ddt
class ShippedTestCase(unittest.TestCase):
    @ddt.data(*SHIPPED)
    def test_with_no_argument_but_what_has_no_default(self, path):
        tasks.check(tasks.render(path, GIVEN))

    @ddt.data(*OF_BASELINES)
    def test_a_class_of_machines_stands_for_a_baseline(self, path):
        """The newest baseline of the class is meant, whatever its name."""
        baseline = {"class": "r740"}
        task = tasks.render(path, {**GIVEN, "baseline": baseline})
        for subtask in task["subtasks"]:
            self.assertEqual(baseline, subtask["contexts"]["vmperf_baseline"])

    @ddt.data(*SHIPPED)
    def test_what_has_to_be_given(self, path):
        """An address, or a file, has no default."""
        argument = "job_file" if "job_file" in path else "peer"
        if path not in OF_PEERS and argument == "peer":
            self.assertNotIn('"peer"', json.dumps(tasks.render(path, {})))
            return
        message = f"Please specify template task argument: {argument}$"
        with self.assertRaisesRegex(TypeError, message):
            tasks.render(path, {})

    @ddt.data(*ARGUMENT_FILES)
    def test_with_the_arguments_beside_it(self, path):
        arguments = yaml.safe_load((pages.ROOT / path).read_text())
        task = path.replace(".embedded.yaml", ".yaml")
        self.assertLessEqual(set(arguments), tasks.TAKEN[task])
        tasks.check(tasks.render(task, arguments))

    @ddt.data(
        ("tasks/study-cache-modes.yaml", "cache_mode"),
        ("tasks/study-load-agents.yaml", "control_users"),
    )
    @ddt.unpack
    def test_arguments_that_no_longer_exist(self, path, name):
        """Commands that read the task reject them."""
        parsed = argparse.Namespace(
            task_args=json.dumps({name: 1, "peer": tasks.PEER}),
            task_args_file=None,
            config_file=os.devnull,
        )
        with self.assertRaisesRegex(
            errors.VMPerfError, f"argument {name!r}: must be an argument"
        ):
            task_file.read_task(str(pages.ROOT / path), parsed)

    def test_with_every_argument(self):
        arguments = {
            "baseline": "metal-1",
            "image": "debian-12",
            "user": "debian",
            "flavors": ["m1.small", "m1.large"],
            "guests": 2,
            "network": "private",
            "host": "compute1",
            "availability_zone": "nova",
            "peer": tasks.PEER,
            "repetitions": 10,
            "warmup": 0,
            "reboot": "never",
            "max_percent": {"*": 20, "disk.*": 30},
            "disk_p99_percent": 30,
            "max": {"network.*": 10},
            "min": {"cpu.*": 10},
            "tolerate": ["tool_version_differs"],
            "cpu_seconds": 5,
            "cpu_threads": 2,
            "bzip2_mib": 8,
            "memory_mib": 64,
            "memory_runs": 5,
            "memory_processes": 2,
            "disk_mib": 64,
            "disk_seconds": 5,
            "disk_ramp": 0,
            "network_seconds": 5,
            "guest_options": {"config_drive": True},
            "network_udp_bitrate": 50000000,
            "vmperf_overhead": {"max_percent": {"cpu.*": 7}},
            "vmperf_spread": {"max_cv_percent": {"cpu.*": 3}},
            "neighbours": {"guests": 2, "workload": {"name": "fio"}},
            "vmperf_neighbours": {"max_percent": {"cpu.*": 9}},
            "vmperf_valid": {"refuse": ["emulated_guest"]},
        }
        self.assertEqual(tasks.TAKEN[tasks.MAIN], set(arguments))
        task = tasks.render(tasks.MAIN, arguments)
        tasks.check(task)
        shown = json.dumps(task)
        for value in ("metal-1", "debian-12", "compute1", "192.0.2.10"):
            self.assertIn(value, shown)

    def test_without_bare_metal(self):
        """Limits on values are those that are given, and none in percent."""
        limits = {"min": {"disk.*.iops": 200, "network.*": 10}}
        limits["max"] = {"cpu.*_time": 5}
        arguments = {"baseline": "none", "vmperf_valid": {}, **limits}
        task = tasks.render(tasks.MAIN, arguments)
        tasks.check(task)
        (subtask,) = task["subtasks"]
        self.assertNotIn("vmperf_baseline", subtask["contexts"])
        self.assertEqual(
            {**limits, "min": {"disk.*.iops": 200}, "tolerate": []},
            subtask["sla"]["vmperf_overhead"],
        )
        self.assertIn("without bare metal", task["description"])
        peered = tasks.render(tasks.MAIN, {**arguments, "peer": tasks.PEER})
        tasks.check(peered)
        (subtask,) = peered["subtasks"]
        self.assertIn("network.*", subtask["sla"]["vmperf_overhead"]["min"])

    def test_figures_only(self):
        """A task without bare metal and limits has no SLA of overhead."""
        task = tasks.render(tasks.MAIN, {"baseline": "none"})
        tasks.check(task)
        (subtask,) = task["subtasks"]
        self.assertEqual({"failure_rate": {"max": 0}}, subtask["sla"])

    @ddt.data({"max_percent": {"cpu.*": 5}}, {"disk_p99_percent": 20})
    def test_limits_in_percent_without_bare_metal(self, limits):
        """Limits that are given are rejected, and not left out."""
        task = tasks.render(tasks.MAIN, {"baseline": "none", **limits})
        with self.assertRaisesRegex(
            exceptions.InvalidTaskException,
            "sla vmperf_overhead max_percent: requires the context",
        ):
            tasks.check(task)

    def test_neighbours_are_further_guests(self):
        """They have limits of their own."""
        arguments = {
            "neighbours": {"guests": 2, "workload": {"name": "stress_ng"}},
            "vmperf_neighbours": {"max_percent": {"cpu.*": 9}},
        }
        task = tasks.render(tasks.MAIN, arguments)
        tasks.check(task)
        (subtask,) = task["subtasks"]
        guests = subtask["contexts"]["vmperf_guests@openstack"]
        self.assertEqual(3, guests["count"])
        self.assertIn("vmperf_neighbours", subtask["sla"])

    # The self-check has no limits.
    @ddt.data(*(path for path in tasks.TAKEN if path != tasks.SELF_CHECK))
    def test_with_each_sla_of_its_question(self, path):
        """The task has the SLA as it is in a limits file."""
        self.assertEqual(set(SLAS), set(table.criteria()))
        (subtask, *_) = tasks.render(path, GIVEN)["subtasks"]
        (scenario,) = subtask["scenario"]
        for criterion in table.scenarios()[scenario].criteria:
            name = criterion.name
            arguments = {**GIVEN, name: SLAS[name]}
            if name == "vmperf_neighbours":
                if "neighbours" not in tasks.TAKEN[path]:
                    continue
                arguments["neighbours"] = NEIGHBOURS
            if name == "vmperf_tuning":
                arguments["variants"] = VARIANTS
            if name == "vmperf_overhead":
                arguments["baseline"] = "metal-1"
            with self.subTest(sla=name):
                task = tasks.render(path, arguments)
                tasks.check(task)
                for subtask in task["subtasks"]:
                    self.assertEqual(SLAS[name], subtask["sla"][name])

    @ddt.data("kvm-overhead", "kvm-density")
    def test_with_a_file_of_limits(self, name):
        """The SLAs of the scenario are those of the file."""
        path = pages.ROOT / "etc" / "tempest-limits.yaml"
        limits = limits_file.read_limits(str(path))
        task = tasks.render(f"tasks/{name}.yaml", limits)
        (subtask,) = task["subtasks"]
        limits_of_subtask = {
            key: value
            for key, value in limits.items()
            if key in subtask["sla"]
        }
        self.assertEqual(
            {"failure_rate": {"max": 0}, **limits_of_subtask}, subtask["sla"]
        )
        self.assertTrue(limits_of_subtask)

    @ddt.data(*OF_BASELINES)
    def test_values_are_quoted(self, path):
        """Every value arrives as it was given, and as a text."""
        task = tasks.render(path, ODD)
        for index, subtask in enumerate(task["subtasks"]):
            contexts = subtask["contexts"]
            guests = contexts["vmperf_guests@openstack"]
            flavors = ODD["flavors"]
            flavor = str(flavors[index % len(flavors)])
            self.assertEqual({"name": "2024"}, contexts["vmperf_baseline"])
            self.assertEqual({"name": ODD["image"]}, guests["image"])
            self.assertEqual({"name": ODD["network"]}, guests["network"])
            self.assertEqual({"name": flavor}, guests["flavor"])
            for key in {"user", "host", "availability_zone"} & set(guests):
                self.assertEqual(ODD[key], guests[key])

    def test_titles_are_quoted(self):
        """They hold names that were given."""
        task = tasks.render(tasks.MAIN, ODD)
        (_, second) = task["subtasks"]
        self.assertEqual(f"Overhead of {ODD['flavors'][1]}", second["title"])
        self.assertIn(ODD["flavors"][1], task["description"])
        self.assertIn("baseline 2024.", task["description"])

    @ddt.unpack
    @ddt.data(
        ({}, "shuffled", 1),
        ({"max_percent": {"*": 20}}, "listed", 0),
    )
    def test_density_shuffles_where_nothing_stops(self, stop, order, warmup):
        """A stop rule needs ascending levels in each repetition."""
        (subtask,) = tasks.render(tasks.DENSITY, {"stop": stop})["subtasks"]
        density = subtask["scenario"]["VMPerf.density"]
        self.assertEqual(
            (order, warmup), (density["order"], density["warmup"])
        )

    @ddt.unpack
    @ddt.data(
        ({}, "rotate"),
        ({"statistic": "worst"}, "all"),
        (
            {
                "statistic": "worst",
                "compare_to": "bare_metal",
                "baseline": "m",
            },
            "rotate",
        ),
        (
            {
                "vmperf_degradation": {
                    "max_percent": {"cpu.*": 7},
                    "statistic": "worst",
                }
            },
            "all",
        ),
    )
    def test_the_worst_guest_needs_each_alone(self, arguments, lone):
        """A limit on the worst guest runs each guest alone."""
        task = tasks.render(tasks.DENSITY, arguments)
        tasks.check(task)
        (subtask,) = task["subtasks"]
        self.assertEqual(
            lone, subtask["scenario"]["VMPerf.density"]["solo_guest"]
        )

    def test_density_with_every_argument(self):
        arguments = {
            "baseline": "metal-1",
            "image": "debian-12",
            "user": "debian",
            "flavors": ["m1.small", "m1.large"],
            "levels": {"doubling_to": 8},
            "flavor_levels": {"m1.large": [1, 2]},
            "order": "shuffled",
            "idle_guests": "stopped",
            "solo_guest": "all",
            "stop": {},
            "network": "private",
            "host": "compute1",
            "hosts": [],
            "server_group": "soft-affinity",
            "availability_zone": "nova",
            "peer": tasks.PEER,
            "repetitions": 10,
            "warmup": 0,
            "reboot": "between_workloads",
            "max_percent": {"*": 20, "disk.*": 30},
            "statistic": "worst",
            "compare_to": "bare_metal",
            "min_index": {"cpu.*": 0.5},
            "max_spread_percent": {"cpu.*": 30},
            "limited_levels": 2,
            "tolerate": ["tool_version_differs"],
            "cpu_seconds": 5,
            "cpu_threads": 2,
            "bzip2_mib": 8,
            "disk_mib": 64,
            "disk_seconds": 5,
            "disk_ramp": 0,
            "network_seconds": 5,
            "guest_options": {"max_host_share": 50},
            "vmperf_degradation": {"max_percent": {"cpu.*": 7}},
            "vmperf_fairness": {"min_index": {"cpu.*": 0.9}},
            "neighbours": {"guests": 2, "workload": {"name": "fio"}},
            "vmperf_neighbours": {"max_percent": {"cpu.*": 9}},
            "vmperf_valid": {"tolerate": ["tool_version_differs"]},
        }
        self.assertEqual(tasks.TAKEN[tasks.DENSITY], set(arguments))
        task = tasks.render(tasks.DENSITY, arguments)
        tasks.check(task)
        counts = [
            subtask["contexts"]["vmperf_guests@openstack"]["count"]
            for subtask in task["subtasks"]
        ]
        self.assertEqual([10, 4], counts)

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
    def test_guests_of_the_largest_level_are_booted(self, levels, count):
        arguments = {"levels": levels, "max_percent": {"cpu.*": 5}}
        task = tasks.render(tasks.DENSITY, arguments)
        (subtask,) = task["subtasks"]
        guests = subtask["contexts"]["vmperf_guests@openstack"]
        self.assertEqual(count, guests["count"])

    def test_density_keeps_guests_together(self):
        """By a server group, unless a host is named."""
        for arguments, group in (({}, "affinity"), ({"host": "c1"}, None)):
            (subtask,) = tasks.render(tasks.DENSITY, arguments)["subtasks"]
            guests = subtask["contexts"]["vmperf_guests@openstack"]
            self.assertEqual(group, guests.get("server_group"))

    def test_audit_of_hosts(self):
        """Each host has a subtask, with its own baseline if it has one."""
        arguments = {
            "hosts": ["c1", "c2"],
            "flavors": ["s", "l"],
            "baselines": {"c2": "metal-2"},
        }
        task = tasks.render(tasks.AUDIT, arguments)
        contexts = [
            (
                subtask["title"],
                subtask["contexts"]["vmperf_guests@openstack"]["host"],
                subtask["contexts"].get("vmperf_baseline"),
                "vmperf_overhead" in subtask["sla"],
            )
            for subtask in task["subtasks"]
        ]
        self.assertEqual(
            [
                ("s on c1", "c1", None, False),
                ("l on c1", "c1", None, False),
                ("s on c2", "c2", {"name": "metal-2"}, True),
                ("l on c2", "c2", {"name": "metal-2"}, True),
            ],
            contexts,
        )
        del arguments["baselines"]
        tasks.check(tasks.render(tasks.AUDIT, arguments))

    @ddt.data(
        ({}, 8, True),
        ({"levels": [1, 2, 3]}, 3, True),
        ({"levels": {"to": 5}}, 5, True),
        ({"levels": [1]}, 1, False),
        ({"flavor_levels": {"m1.small": [1, 4]}}, 4, True),
        ({"stop_percent": {}}, 8, True),
    )
    @ddt.unpack
    def test_audit_with_density(self, arguments, count, has_limits):
        """The largest level is booted on each host."""
        arguments = {"density": True, "hosts": ["c1"], **arguments}
        task = tasks.render(tasks.AUDIT, arguments)
        tasks.check(task)
        (subtask,) = task["subtasks"]
        guests = subtask["contexts"]["vmperf_guests@openstack"]
        self.assertEqual(count, guests["count"])
        self.assertEqual(has_limits, "vmperf_degradation" in subtask["sla"])
        self.assertEqual(
            "stop_percent" not in arguments,
            "stop" in subtask["scenario"]["VMPerf.density"],
        )

    def test_audit_of_no_hosts(self):
        """The task has no subtask, which Rally rejects."""
        task = tasks.render(tasks.AUDIT, {"hosts": []})
        self.assertIsNone(task["subtasks"])

    @ddt.data((90, "90000"), (75.5, "75500"), (0, None))
    @ddt.unpack
    def test_self_check(self, percent, quota):
        """Two variants are equal; the third one is limited, or left out."""
        task = tasks.render(tasks.SELF_CHECK, {"cpu_percent": percent})
        tasks.check(task)
        (subtask,) = task["subtasks"]
        scenario = subtask["scenario"]["VMPerf.tuning"]
        self.assertEqual("between_repetitions", scenario["reboot"])
        first, second, *limited = scenario["variants"]
        self.assertEqual(["name"], [*first])
        self.assertEqual(["name"], [*second])
        specs = {"quota:cpu_quota": quota, "quota:cpu_period": "100000"}
        self.assertEqual(
            [{"name": "limited", "extra_specs": specs}] * bool(quota), limited
        )

    @ddt.data(100, 150, 0.5, -3, True, "abc", "90")
    def test_self_check_without_a_limit(self, percent):
        """What limits no vCPU is rejected before a guest boots."""
        task = tasks.render(tasks.SELF_CHECK, {"cpu_percent": percent})
        with self.assertRaisesRegex(
            exceptions.InvalidTaskConfig,
            f"quota:cpu_quota='cpu_percent={percent} is not 0, or from 1 to "
            "below 100': must be an integer",
        ):
            tasks.check(task)

    def test_density_on_several_hosts(self):
        """Each has as many guests as the largest level."""
        arguments = {
            "hosts": ["c1", "c2"],
            "levels": [1, 4],
            "limited_levels": [4],
        }
        task = tasks.render(tasks.DENSITY, arguments)
        tasks.check(task)
        (subtask,) = task["subtasks"]
        guests = subtask["contexts"]["vmperf_guests@openstack"]
        self.assertEqual((8, ["c1", "c2"]), (guests["count"], guests["hosts"]))
        self.assertNotIn("server_group", guests)
        for name in ("vmperf_degradation", "vmperf_fairness"):
            self.assertEqual([4], subtask["sla"][name]["levels"])

    def test_no_limits(self):
        """Limits that are given as none are not the defaults."""
        for path, arguments, left in (
            (tasks.MAIN, {"max_percent": {}, "max": {}}, set()),
            ("tasks/study-hep.yaml", {"max_percent": {}}, set()),
            ("tasks/study-private-cloud.yaml", {"max_percent": {}}, set()),
            (
                "tasks/study-cache-modes.yaml",
                {"max_percent": {}, "max_disk_rate": 0},
                set(),
            ),
            (
                "tasks/study-cache-modes.yaml",
                {"max_percent": {}},
                {"vmperf_valid"},
            ),
            (
                "tasks/study-cache-modes.yaml",
                {"max_disk_rate": 0},
                {"vmperf_overhead"},
            ),
            (
                "tasks/study-load-agents.yaml",
                {"max_percent": {}},
                {"vmperf_spread"},
            ),
            (
                "tasks/study-load-agents.yaml",
                {"max_range_percent": {}},
                {"vmperf_overhead"},
            ),
            (tasks.DENSITY, {"max_percent": {}}, {"vmperf_fairness"}),
            (
                tasks.DENSITY,
                {
                    "max_percent": {},
                    "min_index": {},
                    "max_spread_percent": {"cpu.*": 20},
                },
                {"vmperf_fairness"},
            ),
        ):
            task = tasks.render(path, {"peer": tasks.PEER, **arguments})
            tasks.check(task)
            for subtask in task["subtasks"]:
                self.assertEqual({"failure_rate", *left}, set(subtask["sla"]))

    def test_limits_of_the_network_alone_without_a_peer(self):
        """They go with the network's workloads."""
        arguments = {"max_percent": {"network.*": 10}}
        for path, left in (
            (tasks.MAIN, set()),
            (tasks.DENSITY, {"vmperf_fairness"}),
        ):
            task = tasks.render(path, arguments)
            tasks.check(task)
            for subtask in task["subtasks"]:
                self.assertEqual({"failure_rate", *left}, set(subtask["sla"]))

    def test_one_flavor_may_be_a_text(self):
        """Its letters are not flavors."""
        (subtask,) = tasks.render(tasks.MAIN, {"flavors": "m1.big"})[
            "subtasks"
        ]
        self.assertEqual("Overhead of m1.big", subtask["title"])

    def test_zero_is_not_the_default(self):
        """It is refused where it makes no sense, and never replaced."""
        task = tasks.render(tasks.MAIN, {"guests": 0})
        with self.assertRaises(exceptions.InvalidTaskConfig):
            tasks.check(task)

    def test_the_rate_of_load_agents(self):
        """2500 users load the 219 pages per second of the study."""
        (subtask, *_) = tasks.render(
            "tasks/study-load-agents.yaml", {"peer": tasks.PEER}
        )["subtasks"]
        scenario = subtask["scenario"]["VMPerf.overhead"]
        agents = subtask["contexts"]["vmperf_guests@openstack"]["count"]
        workload_arguments = scenario["workloads"][-1]["arguments"]
        rate = (
            agents
            * workload_arguments["users"]
            / workload_arguments["think_time"]
        )
        self.assertAlmostEqual(219, rate, delta=0.5)

    def test_single_guests_of_high_energy_physics(self):
        """They are compared with the whole host, as in the study."""
        task = tasks.render("tasks/study-hep.yaml", GIVEN)
        tasks.check(task)
        subtasks = [
            (
                subtask["contexts"]["vmperf_guests@openstack"]["flavor"],
                subtask["contexts"]["vmperf_guests@openstack"]["count"],
                subtask["scenario"]["VMPerf.overhead"]["shape"],
            )
            for subtask in task["subtasks"]
        ]
        self.assertEqual(
            [
                ({"name": "hep.1vcpu"}, 8, "guest"),
                ({"name": "hep.1vcpu"}, 1, "whole"),
                ({"name": "hep.2vcpu"}, 1, "whole"),
            ],
            subtasks,
        )

    def test_jobs_and_benchmarks_of_high_energy_physics(self):
        """Each job has a label, and limits match those that run."""
        arguments = {
            "jobs": [
                {"label": "rfio", "command": ["cmsRun"], "copies": 10},
                {"label": "xroot", "command": ["cmsRun", "x"]},
            ],
            "benchmarks": [
                {
                    "name": "hepscore",
                    "arguments": {"configuration": "/etc/bmkrun.yml"},
                }
            ],
        }
        task = tasks.render("tasks/study-hep.yaml", {**GIVEN, **arguments})
        tasks.check(task)
        (subtask, *_) = task["subtasks"]
        jobs = subtask["scenario"]["VMPerf.overhead"]["workloads"][:3]
        self.assertEqual(
            [("rfio", 10), ("xroot", 1), (None, None)],
            [
                (job.get("label"), job["arguments"].get("copies"))
                for job in jobs
            ],
        )
        sla = subtask["sla"]["vmperf_overhead"]
        limited = limits.Limits(sla["max_percent"])
        for metric in ("job.rfio.wall_time", "hepscore.score"):
            self.assertIsNotNone(limited.for_metric(f"application.{metric}"))

    def test_a_private_cloud_has_one_guest_and_then_two(self):
        """Only iperf between guests has two; each has its own limits."""
        arguments = {
            "max_percent": {
                "application.*": 20,
                "network.*.to_peer.*": 10,
                "network.*.guest_to_guest.*": 12,
            }
        }
        task = tasks.render(
            "tasks/study-private-cloud.yaml", GIVEN | arguments
        )
        tasks.check(task)
        subtasks = [
            (
                subtask["contexts"]["vmperf_guests@openstack"]["count"],
                [
                    workload["name"]
                    for workload in subtask["scenario"]["VMPerf.overhead"][
                        "workloads"
                    ]
                ],
                [*subtask["sla"]["vmperf_overhead"]["max_percent"].values()],
            )
            for subtask in task["subtasks"]
        ]
        self.assertEqual(
            [
                (1, ["unixbench", "mbw", "iperf2"], [20, 10]),
                (2, ["iperf2"], [12]),
            ],
            subtasks,
        )

    def test_limits_of_one_guest_leave_two_guests_without(self):
        task = tasks.render(
            "tasks/study-private-cloud.yaml",
            {**GIVEN, "max_percent": {"memory.*": 20}},
        )
        tasks.check(task)
        first, two = task["subtasks"]
        self.assertIn("vmperf_overhead", first["sla"])
        self.assertNotIn("vmperf_overhead", two["sla"])

    def test_load_agents_with_variants(self):
        """The scenario compares variants, and keeps the other limits."""
        task = tasks.render(
            "tasks/study-load-agents.yaml",
            {
                **GIVEN,
                "variants": VARIANTS,
                "vmperf_tuning": {"max_loss_percent": {"virtio": {"*": 20}}},
            },
        )
        tasks.check(task)
        self.assertEqual(2, len(task["subtasks"]))
        for subtask in task["subtasks"]:
            self.assertIn("VMPerf.tuning", subtask["scenario"])
            self.assertEqual(
                {"failure_rate", "vmperf_overhead", "vmperf_spread"}
                | {"vmperf_tuning"},
                set(subtask["sla"]),
            )

    def test_load_agents_with_a_migration(self):
        """A last subtask per flavor; the others have the same limits."""
        arguments = {
            **GIVEN,
            "control": {"address": "192.0.2.11"},
            "flavors": ["m1.small", "m1.large"],
            "users": [10, 40, 20],
            "runs": 1,
        }
        path = "tasks/study-load-agents.yaml"
        *others, small, large = tasks.render(
            path, {**arguments, "migration": True}
        )["subtasks"]
        self.assertEqual(tasks.render(path, arguments)["subtasks"], others)
        for subtask in (small, large):
            scenario = subtask["scenario"]["VMPerf.migration"]
            (workload,) = scenario["workloads"]
            self.assertEqual(10, workload["arguments"]["users"])
            self.assertEqual(arguments["control"], scenario["control"])
            self.assertIn("vmperf_disruption", subtask["sla"])
        tasks.check(tasks.render(path, {**arguments, "migration": True}))

    def test_load_agents_without_bare_metal(self):
        """Limits of overhead have no default, and are rejected if given."""
        path = "tasks/study-load-agents.yaml"
        arguments = {**GIVEN, "baseline": "none"}
        task = tasks.render(path, arguments)
        tasks.check(task)
        for subtask in task["subtasks"]:
            self.assertNotIn("vmperf_baseline", subtask["contexts"])
            self.assertNotIn("vmperf_overhead", subtask["sla"])
        arguments["max_percent"] = {"network.*": 20}
        with self.assertRaisesRegex(
            exceptions.InvalidTaskConfig,
            "sla vmperf_overhead max_percent: requires the context",
        ):
            tasks.check(tasks.render(path, arguments))

    def test_a_density_study_without_bare_metal(self):
        task = tasks.render(
            "tasks/study-openstack-kvm.yaml", {**GIVEN, "baseline": "none"}
        )
        tasks.check(task)
        (subtask,) = task["subtasks"]
        self.assertNotIn("vmperf_baseline", subtask["contexts"])

    def test_udp_only_with_its_rate_and_a_peer(self):
        """It is a second entry of the same workload."""
        for peer, rate, protocols in (
            (tasks.PEER, 10**7, ["tcp", "udp"]),
            (tasks.PEER, 0, ["tcp"]),
            ({}, 10**7, []),
        ):
            task = tasks.render(
                tasks.MAIN, {"peer": peer, "network_udp_bitrate": rate}
            )
            scenario = task["subtasks"][0]["scenario"]["VMPerf.overhead"]
            seen_protocols = [
                entry["arguments"].get("protocol", "tcp")
                for entry in scenario["workloads"]
                if entry["name"] == "iperf3"
            ]
            self.assertEqual(protocols, seen_protocols)

    def test_no_default_limit_on_what_is_quantised(self):
        """The latency of sysbench comes in steps as large as a limit."""
        task = tasks.render(tasks.MAIN, {"peer": tasks.PEER})
        sla = task["subtasks"][0]["sla"]["vmperf_overhead"]
        metric_limits = limits.Limits(sla["max_percent"])
        self.assertIsNone(metric_limits.for_metric("cpu.sysbench.latency_p95"))
        for metric in ("cpu.sysbench.rate", "cpu.bzip2.compress_time"):
            self.assertIsNotNone(metric_limits.for_metric(metric))

    def test_p99_has_no_limit_unless_one_is_set(self):
        """It would leave every run undecided; the argument sets a limit."""
        metric = "disk.fio.randread.latency_p99"
        for arguments, expected in (
            ({}, None),
            ({"disk_p99_percent": 30}, (30, "disk.*.latency_p99")),
            (
                {"disk_p99_percent": 30, "max_percent": {"disk.*": 20}},
                (30, "disk.*.latency_p99"),
            ),
        ):
            task = tasks.render(tasks.MAIN, arguments)
            tasks.check(task)
            sla = task["subtasks"][0]["sla"]["vmperf_overhead"]
            limit = limits.Limits(sla["max_percent"]).for_metric(metric)
            self.assertEqual(expected, limit)
        path = pages.ROOT / "etc" / "tempest-limits.yaml"
        shipped = limits_file.read_limits(str(path))["vmperf_overhead"]
        limited = limits.Limits(shipped["max_percent"])
        self.assertIsNone(limited.for_metric(metric))
        self.assertEqual(
            20, limited.for_metric("disk.fio.randread.latency_p50")[0]
        )

    @ddt.data(tasks.MAIN, tasks.DENSITY)
    def test_all_vcpus_are_loaded(self, path):
        """They are loaded for any number of vCPUs of the flavor."""
        (subtask,) = tasks.render(path, {})["subtasks"]
        (scenario,) = subtask["scenario"].values()
        per_vcpu = {
            workload["name"]: workload["arguments"].get(key)
            for workload in scenario["workloads"]
            for key in ("threads", "processes")
            if key in workload["arguments"]
        }
        self.assertEqual({"vcpus"}, set(per_vcpu.values()))
        self.assertIn("sysbench", per_vcpu)

    @ddt.data(*tasks.TAKEN)
    def test_the_task_tells_each_argument_that_it_takes(self, path):
        """In its own words or in those of the main task."""
        template = jinja2.Environment().parse((pages.ROOT / path).read_text())
        used = jinja2.meta.find_undeclared_variables(template) - {
            "range",
            "namespace",
        }
        documented = tasks_page.read_arguments(path)
        self.assertEqual(used, set(documented))
        main = tasks_page.read_arguments(tasks.MAIN)
        for name, argument in documented.items():
            with self.subTest(argument=name):
                meaning = argument.meaning or main[name].meaning
                self.assertRegex(meaning, r"^[A-Z][^#]*\.$")
                if path != tasks.MAIN and argument.meaning and name in main:
                    self.assertNotEqual(main[name].meaning, meaning)

    def test_a_wrong_task_is_refused(self):
        """Otherwise, the other tests would mean nothing."""
        wrong = tasks.render(tasks.MAIN, {"max_percent": {"dsik.*": 1}})
        with self.assertRaisesRegex(exceptions.InvalidTaskConfig, "dsik"):
            tasks.check(wrong)


class ShownTestCase(unittest.TestCase):
    def test_yaml_is_valid(self):
        shown = pages.blocks("yaml")
        self.assertTrue(shown)
        for block in shown:
            with self.subTest(place=str(block)):
                if block.text.startswith("- host:"):
                    self._check_acknowledgements(block.text)
                else:
                    tasks.check(tasks.of_block(block.text))

    def _check_acknowledgements(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "known.yaml")
            path.write_text(text)
            acknowledged.read(str(path), datetime.date(2026, 1, 1))

    def test_environments_are_valid(self):
        plugins.load()
        shown = pages.blocks("json")
        self.assertTrue(shown)
        for block in shown:
            with self.subTest(place=str(block)):
                for name, spec in json.loads(block.text).items():
                    schema = platform.Platform.get(name).CONFIG_SCHEMA
                    jsonschema.validate(spec, schema)
