# SPDX-License-Identifier: Apache-2.0
"""Every task that is shipped or shown passes Rally's validation."""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import ddt
import jsonschema
import yaml
from rally import exceptions
from rally import plugins
from rally.env import platform

from doc.ext import tasks_page
from rally_vmperf import errors
from rally_vmperf.audit import acknowledged
from rally_vmperf.cmd import task_file
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions import checks
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from tests.unit import listing
from tests.unit.doc import pages
from tests.unit.doc import tasks
from tests.unit.workloads import golden

#: The path of this module in messages.
PLACE = "tests/unit/doc/test_tasks.py"
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
    "vmperf_promise": {},
    "vmperf_valid": {},
}
#: Tasks that compare guests with themselves.
WITHOUT_BARE_METAL = (
    *("tasks/live-migration.yaml", "tasks/event.yaml"),
    "tasks/allocation-ratio.yaml",
)
#: Tasks that compare guests with bare metal.
OF_BASELINES = [
    path
    for path in SHIPPED
    if path not in (tasks.SELF_CHECK, *WITHOUT_BARE_METAL)
]
#: The arguments of which other tests have values for all tasks.
SHARED = {
    "baseline": "metal-1",
    "image": "debian-12",
    "user": "debian",
    "flavors": ["m1.small", "m1.large"],
    "network": "private",
    "host": "compute1",
    "availability_zone": "nova",
    "peer": tasks.PEER,
    "repetitions": 10,
    "warmup": 0,
    "reboot": "never",
    "workloads": [{"name": "fio"}, {"name": "iperf3", "label": "lan"}],
    "arguments": {"fio": {"size_mib": 64}, "lan": {"time": 5}},
    "guest_options": {"config_drive": True},
}
VARIANTS = [
    {"name": "plain"},
    {"name": "virtio", "image_properties": {"hw_vif_model": "virtio"}},
]
NEIGHBOURS = {"guests": 1, "workload": {"name": "stress_ng"}}
#: Values that YAML takes for something else, or not at all, unless quoted.
ODD = {
    "peer": {"address": "peer: 1", "user": "no"},
    "job_file": "/a: b",
    "baseline": "2024",
    "image": "debian 12, amd64",
    "user": "null",
    "network": "lan: blue",
    "host": "#1",
    "availability_zone": "yes",
    "flavor": "1.5",
    "flavors": ["1.5", 'it\'s "big": {x}'],
    "single_flavors": [],
}
_SET = re.compile(r"\{% set (\w+) = (\w+) \| default\([^%]*\) %\}")


def change_sla(path, name, sla, **arguments):
    """Return the first subtask of a task with an SLA, checked by Rally."""
    arguments = {**GIVEN, "limits": {name: sla}, **arguments}
    task = tasks.render(path, arguments)
    tasks.check(task)
    return task["subtasks"][0]


@ddt.ddt
class ShippedTestCase(unittest.TestCase):
    @ddt.data(*SHIPPED)
    def test_with_no_argument_but_what_has_no_default(self, path):
        tasks.check(tasks.render(path, GIVEN))

    @ddt.data(*SHIPPED)
    def test_files_fit_on_20_gib(self, path):
        """m1.small, the flavor by default, has a disk of this size."""
        self.check_files(20, path, GIVEN)

    @ddt.data(*ARGUMENT_FILES)
    def test_files_fit_on_the_disk_of_the_embedded_cloud(self, path):
        arguments = yaml.safe_load((pages.ROOT / path).read_text())
        # Of vmperf.tiny, and of its image.
        self.check_files(3, path.replace(".embedded", ""), arguments)

    def test_files_of_the_largest_task(self):
        """With what a step leaves it would need 20.5 GiB."""
        path = "tasks/study-openstack-kvm.yaml"
        self.check_files(13, path, GIVEN)
        with self.assertRaisesRegex(
            errors.VMPerfError, "wget, cp, bzip2 need 11.8 GiB of disk"
        ):
            self.check_files(12, path, GIVEN)

    def check_files(self, disk_gib, path, arguments):
        """Check that the files of a task fit on a disk with an image."""
        group = mock.Mock(boot_volume=None)
        demand = mock.Mock(group=group, disk_gib=disk_gib, image_bytes=1 << 29)
        with mock.patch(
            "rally_vmperf.workloads.files.read",
            autospec=True,
            side_effect=tasks.read_file,
        ):
            for subtask in tasks.render(path, arguments)["subtasks"]:
                created = tasks.create_task(subtask)
                sized = dataclasses.replace(created, vcpus=2)
                checks.check_space(sized, [demand])

    def test_size(self):
        """A reader of Rally reads each task on a page or two."""
        lines = {
            path: len((pages.ROOT / path).read_text().splitlines())
            for path in tasks.TAKEN
        }
        for path, number in lines.items():
            message = (
                f"{path} has {number} lines: shorten it to 80, for example "
                "with defaults of the scenario, or make two tasks"
            )
            self.assertLessEqual(number, 80, message)

    @ddt.data(*tasks.TAKEN)
    def test_statements(self, path):
        """Templates have loops, and defaults of arguments."""
        text = (pages.ROOT / path).read_text()
        statements = re.findall(r"\{%.*?%\}", text, re.DOTALL)
        for statement in statements:
            if match := _SET.fullmatch(statement):
                self.assertEqual(match[1], match[2])
            else:
                self.assertRegex(statement, r"\{% (for .* in |endfor %\})")

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
            try:
                task = tasks.render(path, {})
            except TypeError as error:
                self.fail(
                    f"{error}: give it a default, or, if the task is of no "
                    f"use without a peer, add it to OF_PEERS in {PLACE}"
                )
            for subtask in task["subtasks"]:
                self.assertIsNone(tasks.create_task(subtask).peer)
            return
        message = f"Please specify template task argument: {argument}$"
        hint = f"it has defaults for all: remove it from OF_PEERS in {PLACE}"
        with self.assertRaisesRegex(TypeError, message, msg=hint):
            tasks.render(path, {})

    @ddt.data(*ARGUMENT_FILES)
    def test_with_the_arguments_beside_it(self, path):
        arguments = yaml.safe_load((pages.ROOT / path).read_text())
        task = path.replace(".embedded.yaml", ".yaml")
        unknown = set(arguments) - tasks.TAKEN[task]
        self.assertEqual(set(), unknown, f"{path}: {task} does not use them")
        tasks.check(tasks.render(task, arguments))

    @ddt.data(
        ("tasks/study-cache-modes.yaml", "cache_mode"),
        ("tasks/kvm-overhead.yaml", "disk_mib"),
        ("tasks/kvm-overhead.yaml", "max_percent"),
    )
    @ddt.unpack
    def test_arguments_that_no_longer_exist(self, path, name):
        """Commands that read the task reject them."""
        with self.assertRaisesRegex(
            errors.VMPerfError, f"argument {name!r}: must be an argument"
        ):
            read_task(path, {name: 1, "peer": tasks.PEER})

    @ddt.data(
        (tasks.MAIN, {"guests": 2, "neighbours": NEIGHBOURS}),
        (
            tasks.DENSITY,
            {
                "levels": {"doubling_to": 4},
                "flavor_levels": {"m1.large": [1, 2]},
                "order": "shuffled",
                "idle_guests": "stopped",
                "solo_guest": "all",
                "load": {},
                "stop": {},
                "hosts": [],
                "server_group": "",
                "neighbours": NEIGHBOURS,
            },
        ),
    )
    @ddt.unpack
    def test_with_every_argument(self, path, arguments):
        limits = {
            "vmperf_neighbours": {"max_percent": {"disk.*.iops": 9}},
            "vmperf_valid": {"refuse": ["emulated_guest"]},
        }
        arguments = {**SHARED, "limits": limits, **arguments}
        listing.check(
            self,
            arguments,
            tasks.TAKEN[path],
            f"the arguments of {path} in {PLACE}",
            "add it with a value to SHARED, or to the data of this test if "
            "only this task has it",
        )
        task = tasks.render(path, arguments)
        tasks.check(task)
        shown = json.dumps(task)
        for value in ("metal-1", "debian-12", "compute1", "192.0.2.10"):
            self.assertIn(value, shown)
        for subtask in task["subtasks"]:
            self.assertLess({*limits}, {*subtask["sla"]})

    def test_without_bare_metal(self):
        """Limits in percent are not judged, and the others are."""
        limits = {"max_percent": {"*": 9}, "min": {"disk.*.iops": 200}}
        created = tasks.create_task(
            change_sla(
                tasks.MAIN,
                "vmperf_overhead",
                {**limits, "unmeasured": "skip"},
                baseline="none",
            )
        )
        self.assertIsNone(created.baseline)
        self.assertEqual(
            200, created.criteria["vmperf_overhead"]["min"]["disk.*.iops"]
        )

    def test_limits_of_a_user_are_never_dropped(self):
        """Those that cannot be judged are rejected with the reason."""
        percent = {"max_percent": {"network.*": 5}}
        for arguments, sla, reason in (
            # Rally ignores arguments that the template does not have.
            ({"per": tasks.PEER}, percent, "the task has no peer"),
            ({"peer": {}}, percent, "the task has no peer"),
            ({"peer": tasks.PEER, "baseline": "none"}, percent, "requires"),
            (
                {"workloads": [{"name": "fio"}]},
                {"max_percent": {"cpu.*": 5}},
                "'cpu.*' matches no metric",
            ),
            ({}, {"max_percent": {"dsik.*": 1}}, "'dsik.*' matches no metric"),
        ):
            with (
                self.subTest(reason=reason),
                self.assertRaisesRegex(
                    exceptions.InvalidTaskException, re.escape(reason)
                ),
            ):
                tasks.check(
                    tasks.render(
                        tasks.MAIN,
                        {**arguments, "limits": {"vmperf_overhead": sla}},
                    )
                )

    def test_a_misspelled_peer(self):
        """The commands of rally_vmperf reject it, and so does the scenario."""
        with self.assertRaisesRegex(
            errors.VMPerfError, "argument 'per': .*did you mean 'peer'"
        ):
            read_task(tasks.MAIN, {"per": tasks.PEER})
        task = tasks.render(tasks.MAIN, {"peer": {"adress": "192.0.2.1"}})
        with self.assertRaisesRegex(exceptions.InvalidTaskException, "adress"):
            tasks.check(task)

    def test_each_workload_has_a_scenario(self):
        """It is copied from that of bzip2."""
        paths = {f"scenarios/overhead-{name}.yaml" for name in golden.MEASURED}
        missing = {path for path in paths if not pathlib.Path(path).exists()}
        self.assertEqual(set(), missing, "write them: contributor/workload")

    def test_a_workload_alone(self):
        """One argument selects it, and the other limits are not judged."""
        arguments = {"workloads": [{"name": "fio"}]}
        task = tasks.render(tasks.MAIN, arguments)
        with self.assertLogs("rally_vmperf", "INFO") as logs:
            tasks.check(task)
        self.assertIn(
            "sla vmperf_overhead: not judged: no workload measures it "
            "(cpu.*.rate, cpu.*_time, memory.*, network.*.throughput, "
            "network.*.retransmits)",
            "".join(logs.output),
        )
        (subtask,) = task["subtasks"]
        (only,) = tasks.create_task(subtask).assignments
        self.assertEqual("fio", only.title)

    # The self-check has no limits.
    @ddt.data(*(path for path in tasks.TAKEN if path != tasks.SELF_CHECK))
    def test_with_each_sla_of_its_question(self, path):
        """The task has the SLA as it is in a limits file."""
        listing.check(
            self,
            SLAS,
            table.criteria(),
            f"SLAS in {PLACE}",
            "add it with limits that each task accepts",
        )
        (subtask, *_) = tasks.render(path, GIVEN)["subtasks"]
        (scenario,) = subtask["scenario"]
        default = subtask["sla"]
        for criterion in table.scenarios()[scenario].criteria:
            name = criterion.name
            arguments = {}
            if name == "vmperf_neighbours":
                if "neighbours" not in tasks.TAKEN[path]:
                    continue
                arguments["neighbours"] = NEIGHBOURS
            if name == "vmperf_tuning":
                arguments["variants"] = VARIANTS
            if name == "vmperf_overhead":
                arguments["baseline"] = "metal-1"
            with self.subTest(sla=name):
                changed = change_sla(path, name, SLAS[name], **arguments)
                others = {**default, name: SLAS[name]}
                self.assertEqual(others, changed["sla"] | {name: SLAS[name]})

    @ddt.data("kvm-overhead", "kvm-density")
    def test_with_a_file_of_limits(self, name):
        """The SLAs of the scenario are those of the file."""
        path = str(pages.ROOT / "etc" / "tempest-limits.yaml")
        limits = limits_file.read_limits(path)
        ((created, question),) = read_task(
            f"tasks/{name}.yaml", {"peer": tasks.PEER}, limits=path
        )
        names = [
            criterion.name
            for criterion in question.criteria
            if criterion.name in limits
        ]
        self.assertEqual(
            {
                "failure_rate": {"max": 0},
                **{key: limits[key] for key in names},
            },
            created.criteria,
        )
        self.assertTrue(names)

    @ddt.data(*OF_BASELINES)
    def test_values_are_quoted(self, path):
        """Every value arrives as it was given, and as a text."""
        task = tasks.render(path, ODD)
        for index, subtask in enumerate(task["subtasks"]):
            guests = tasks.create_task(subtask).guests
            flavors = ODD["flavors"]
            flavor = flavors[index % len(flavors)]
            self.assertEqual(
                {"name": "2024"}, tasks.create_task(subtask).baseline
            )
            self.assertEqual({"name": ODD["image"]}, guests["image"])
            self.assertEqual({"name": ODD["network"]}, guests["network"])
            self.assertEqual({"name": flavor}, guests["flavor"])
            for key in {"user", "host", "availability_zone"} & set(guests):
                self.assertEqual(ODD[key], guests[key])

    def test_a_name_that_is_a_number(self):
        """It is rejected, because YAML reads 1.10 as 1.1."""
        for arguments in ({"flavors": [1.5]}, {"baseline": 2024}):
            with self.assertRaisesRegex(
                exceptions.InvalidTaskException, "is not of type"
            ):
                tasks.check(tasks.render(tasks.MAIN, arguments))

    def test_titles_are_quoted(self):
        """They hold names that were given."""
        (_, second) = tasks.render(tasks.MAIN, ODD)["subtasks"]
        self.assertEqual(f"Overhead of {ODD['flavors'][1]}", second["title"])

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
                tasks.create_task(subtask).guests["host"],
                tasks.create_task(subtask).baseline,
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
        tasks.check(task)

    @ddt.data(
        ({}, 8),
        ({"levels": [1, 2, 3]}, 3),
        ({"levels": {"to": 5}}, 5),
        ({"flavor_levels": {"m1.small": [1, 4]}}, 4),
        ({"stop": {}}, 8),
    )
    @ddt.unpack
    def test_audit_with_density(self, arguments, count):
        """The largest level is booted on each host."""
        arguments = {"density": True, "hosts": ["c1"], **arguments}
        task = tasks.render(tasks.AUDIT, arguments)
        tasks.check(task)
        (subtask,) = task["subtasks"]
        created = tasks.create_task(subtask)
        self.assertEqual(count, created.count)
        self.assertIn("vmperf_degradation", subtask["sla"])
        self.assertEqual(
            "stop" not in arguments, created.arguments.stop is not None
        )

    def test_audit_of_no_hosts(self):
        """The task has no subtask, which Rally rejects."""
        task = tasks.render(tasks.AUDIT, {"hosts": []})
        self.assertIsNone(task["subtasks"])

    def test_self_check_without_an_administrator(self):
        """The third guest needs extra specs, and can be left out."""
        equal = [{"name": "equal-1"}, {"name": "equal-2"}]
        task = tasks.render(tasks.SELF_CHECK, {"variants": equal})
        tasks.check(task)
        (subtask,) = task["subtasks"]
        self.assertEqual(equal, tasks.create_task(subtask).arguments.variants)

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
        created = tasks.create_task(subtask)
        arguments = created.workloads[-1]["arguments"]
        rate = created.count * arguments["users"] / arguments["think_time"]
        self.assertAlmostEqual(219, rate, delta=0.5)

    def test_limits_of_one_guest_of_a_private_cloud(self):
        """They are not judged for two guests, which have iperf alone."""
        limits = {"max_percent": {"memory.*": 20}}
        path = "tasks/study-private-cloud.yaml"
        with self.assertRaisesRegex(
            exceptions.InvalidTaskException, r"'memory\.\*' matches no metric"
        ):
            change_sla(path, "vmperf_overhead", limits)
        change_sla(path, "vmperf_overhead", {**limits, "unmeasured": "skip"})

    def test_arguments_of_a_private_cloud(self):
        """Those of iperf are for both subtasks."""
        arguments = {"iperf2": {"time": 3}, "mbw": {"size_mib": 64}}
        first, second = (
            tasks.create_task(subtask).workloads
            for subtask in tasks.render(
                "tasks/study-private-cloud.yaml",
                {**GIVEN, "arguments": arguments},
            )["subtasks"]
        )
        self.assertEqual(64, first[1]["arguments"]["size_mib"])
        for workloads in (first, second):
            self.assertEqual(3, workloads[-1]["arguments"]["time"])

    def test_load_agents_with_variants(self):
        """The scenario compares variants, and keeps the other limits."""
        subtask = change_sla(
            "tasks/study-load-agents.yaml",
            "vmperf_tuning",
            {"max_loss_percent": {"virtio": {"*": 20}}},
            variants=VARIANTS,
        )
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
        limits = {"vmperf_disruption": {"max_downtime": 2}}
        migrated = {"migration": True, "migration_limits": limits}
        task = tasks.render(path, {**arguments, **migrated})
        *others, small, large = task["subtasks"]
        self.assertEqual(tasks.render(path, arguments)["subtasks"], others)
        for subtask in (small, large):
            scenario = subtask["scenario"]["VMPerf.event"]
            (workload,) = scenario["workloads"]
            self.assertEqual(10, workload["arguments"]["users"])
            self.assertEqual(arguments["control"], scenario["control"])
            self.assertEqual(
                limits["vmperf_disruption"],
                subtask["sla"]["vmperf_disruption"],
            )
        tasks.check(task)

    def test_load_agents_without_bare_metal(self):
        """Limits of overhead have no default, and are rejected if given."""
        path = "tasks/study-load-agents.yaml"
        arguments = {**GIVEN, "baseline": "none"}
        task = tasks.render(path, arguments)
        tasks.check(task)
        for subtask in task["subtasks"]:
            self.assertNotIn("vmperf_overhead", subtask["sla"])
        with self.assertRaisesRegex(
            exceptions.InvalidTaskConfig,
            "sla vmperf_overhead max_percent: requires the context",
        ):
            change_sla(
                path,
                "vmperf_overhead",
                {"max_percent": {"network.*": 20}},
                baseline="none",
            )

    def test_udp_after_tcp(self):
        """It is a second entry of the same workload."""
        workloads = [
            {"name": "iperf3"},
            {
                "name": "iperf3",
                "arguments": {"protocol": "udp", "bitrate": 10**7},
            },
        ]
        arguments = {
            "peer": tasks.PEER,
            "workloads": workloads,
            "arguments": {"iperf3": {"time": 5}},
        }
        task = tasks.render(tasks.MAIN, arguments)
        tasks.check(task)
        created = tasks.create_task(task["subtasks"][0])
        self.assertEqual(
            [("tcp", 5), ("udp", 5)],
            [
                (each.arguments["protocol"], each.arguments["time"])
                for each in created.assignments
            ],
        )

    def test_no_default_limit_on_what_is_quantised(self):
        """The latency of sysbench comes in steps as large as a limit."""
        task = tasks.render(tasks.MAIN, {"peer": tasks.PEER})
        sla = task["subtasks"][0]["sla"]["vmperf_overhead"]
        metric_limits = verdict.Limits(sla["max_percent"])
        self.assertIsNone(metric_limits.for_metric("cpu.sysbench.latency_p95"))
        for metric in ("cpu.sysbench.rate", "cpu.bzip2.compress_time"):
            self.assertIsNotNone(metric_limits.for_metric(metric))

    def test_p99_has_no_limit(self):
        """It would leave every run undecided."""
        metric = "disk.fio.randread.latency_p99"
        (subtask,) = tasks.render(tasks.MAIN, {})["subtasks"]
        sla = subtask["sla"]["vmperf_overhead"]
        self.assertIsNone(
            verdict.Limits(sla["max_percent"]).for_metric(metric)
        )
        path = pages.ROOT / "etc" / "tempest-limits.yaml"
        shipped = limits_file.read_limits(str(path))["vmperf_overhead"]
        limited = verdict.Limits(shipped["max_percent"])
        self.assertIsNone(limited.for_metric(metric))
        self.assertEqual(
            20, limited.for_metric("disk.fio.randread.latency_p50")[0]
        )

    @ddt.data(*tasks.TAKEN)
    def test_the_task_tells_each_argument_that_it_takes(self, path):
        """In its own words or in those of the main task."""
        used = tasks_page.find_arguments((pages.ROOT / path).read_text())
        documented = tasks_page.read_arguments(path)
        listing.check(
            self,
            documented,
            used,
            f"the comments of {path}",
            "describe the argument in a comment above the task, as in "
            f"{tasks.MAIN}",
        )
        main = tasks_page.read_arguments(tasks.MAIN)
        for name, argument in documented.items():
            with self.subTest(argument=name):
                meaning = argument.meaning or main[name].meaning
                self.assertRegex(meaning, r"^[A-Z][^#]*\.$")
                if path != tasks.MAIN and argument.meaning and name in main:
                    self.assertNotEqual(main[name].meaning, meaning)


def read_task(path, arguments, limits=None):
    """Return the workloads that the commands read from a task."""
    parsed = argparse.Namespace(
        task_args=[json.dumps(arguments)],
        task_args_file=None,
        config_file=os.devnull,
        settings=None,
        limits=limits,
    )
    return task_file.read_task(str(pages.ROOT / path), parsed)


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
