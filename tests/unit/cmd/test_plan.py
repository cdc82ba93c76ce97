# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that says what a task will take."""

import argparse
import contextlib
import dataclasses
import io
import json
import math
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt
import yaml
from cliff import app

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import plan
from rally_vmperf.cmd import task_file
from rally_vmperf.guests import errors as guest_errors
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.workloads import registry
from tests.unit import made
from tests.unit.guests import testing

ADMIN = {"auth_url": "http://keystone/v3", "username": "admin"}
GUESTS = {
    "image": {"name": "debian"},
    "flavor": {"name": "small"},
    "network": {"name": "private"},
    "count": 4,
    "host": "h1",
}


def subtask(levels=(1, 2, 4), contexts=None, **options):
    """Return a subtask that goes up to four guests."""
    return {
        "title": "Four guests",
        "scenario": {
            "VMPerf.density": {
                "workloads": [{"name": "sysbench", "arguments": {"time": 57}}],
                "levels": list(levels),
            }
        },
        "runner": {"serial": {"times": 5}},
        "contexts": {
            "vmperf_guests@openstack": {**GUESTS, **options},
            **(contexts or {}),
        },
    }


@ddt.ddt
class PlanTest(unittest.TestCase):
    """It shows what the run itself would report, and makes nothing."""

    def setUp(self):
        """Have a cloud and an environment with an administrator."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.platform = {"admin": ADMIN, "users": []}
        for target, new in {
            "cmd.rally_api.get_platform": lambda env: self.platform,
            "guests.cloud.connect": lambda credential: self.cloud,
            "cmd.rally_api.open_baseline_store": lambda config_file: (
                store.Store(self.path.parent)
            ),
        }.items():
            patch = mock.patch(f"rally_vmperf.{target}", new)
            patch.start()
            self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "task.yaml")

    def plan(self, *subtasks):
        """Return exit code, rows and what else was said."""
        self.path.write_text(
            yaml.safe_dump(
                {"version": 2, "title": "T", "subtasks": list(subtasks)}
            )
        )
        shell = mock.Mock(spec=app.App)
        shell.stderr = io.StringIO()
        with tempfile.TemporaryFile("w+") as output:
            shell.stdout = output
            command = plan.Plan(shell, None)
            parsed = command.get_parser("plan").parse_args(
                ["-f", "json", str(self.path), "--config-file", os.devnull]
            )
            code = command.run(parsed)
            output.seek(0)
            return code, json.load(output), shell.stderr.getvalue()

    def test_what_is_taken(self):
        """Quota, host and minutes, subtask by subtask."""
        code, rows, output = self.plan(subtask())
        self.assertEqual(0, code)
        needs = {(row["Of"], row["What"]): row for row in rows}
        cores = needs["quota of project member", "cores"]
        self.assertEqual((8, 20), (cores["Needed"], cores["Room"]))
        memory = needs["quota of project member", "MiB of memory"]
        self.assertEqual("no limit known", memory["Room"])
        self.assertEqual(32, needs["host h1", "vCPUs"]["Room"])
        # 5 curves of 3 levels of a minute, and two until guests are ready
        self.assertEqual(17, needs["", "minutes, about"]["Needed"])
        self.assertEqual({"Four guests"}, {row["Subtask"] for row in rows})
        self.assertIn("will be 25 % full", output)

    def plan_ratio(self, *ratios, **levels):
        """Plan levels as ratios of the CPUs of a host."""
        task = subtask()
        (scenario,) = task["scenario"].values()
        scenario["levels"] = {"ratio": ratios, "vcpus": 2, **levels}
        del task["contexts"]["vmperf_guests@openstack"]["count"]
        return self.plan(task)

    def test_cpus_of_the_host(self):
        """They are read and shown; another number is a warning."""
        self.cloud.compute.hypervisors = [
            {"hypervisor_hostname": "h1", "vcpus": 8}
        ]
        for stated, message in (
            (0, "levels: host_cpus=8: Nova shows 8 CPUs of h1\n"),
            (4, "levels: host_cpus=4: Nova shows 8 CPUs of h1 for vCPUs, and"),
        ):
            code, rows, output = self.plan_ratio(0.5, 1, host_cpus=stated)
            self.assertEqual(0, code)
            self.assertIn(f"Four guests: {message}", output)
            needs = {row["What"]: row["Needed"] for row in rows}
            self.assertEqual((stated or 8) // 2, needs["instances"])

    def test_levels_beyond_the_host(self):
        """They are one line, which has the solution."""
        code, _, output = self.plan_ratio(2, host_cpus=5)
        self.assertEqual(0, code, output)
        code, _, output = self.plan_ratio(2, host_cpus=11)
        self.assertEqual(1, code)
        self.assertRegex(
            output, "rejected: quota: project member has quota for 10 more"
        )
        self.cloud.placement.all_hosts["h1"]["VCPU"] = (10, 0)
        code, _, output = self.plan_ratio(2, host_cpus=5)
        self.assertEqual(1, code)
        self.assertRegex(
            output,
            "rejected: host h1 would be 100 % full .*; request fewer guests",
        )

    def test_files_that_do_not_fit(self):
        """It is a reason among others, and nothing is made."""
        task = subtask()
        (scenario,) = task["scenario"].values()
        scenario["workloads"].append(
            {"name": "fio", "arguments": {"size_mib": 4096}}
        )
        code, rows, output = self.plan(task)
        self.assertEqual(1, code)
        self.assertRegex(
            output, "rejected: workload fio needs 4.0 GiB of disk: .*'small'"
        )
        self.assertIn("cores", {row["What"] for row in rows})

    def test_first_lines(self):
        """A table follows the files of the task and its duration."""
        document = {"version": 2, "title": "T", "subtasks": [subtask()]}
        self.path.write_text(yaml.safe_dump(document))
        shell = mock.Mock(stderr=io.StringIO())
        with tempfile.TemporaryFile("w+") as shell.stdout:
            command = plan.Plan(shell, None)
            parsed = command.get_parser("plan").parse_args(
                [str(self.path), "--config-file", os.devnull]
            )
            self.assertEqual(0, command.run(parsed))
            shell.stdout.seek(0)
            lines = shell.stdout.read().splitlines()
        self.assertEqual(
            [f"task: {self.path}", "duration: about 17 minutes"], lines[:2]
        )
        self.assertRegex(lines[2], "^[+-]+$")

    def test_skipped_workloads(self):
        """They and their limits are remarks."""
        task = subtask()
        (scenario,) = task["scenario"].values()
        scenario["workloads"].append({"name": "iperf3"})
        limits = {"cpu.*.rate": 9, "network.*": 9}
        task["sla"] = {
            "vmperf_degradation": {
                "max_percent": limits,
                "unmeasured": "skip",
            }
        }
        code, _, output = self.plan(task)
        self.assertEqual(0, code)
        self.assertIn(
            "Four guests: workload iperf3 is skipped, because the task has no "
            "peer\nFour guests: sla vmperf_degradation: not judged: no peer "
            "(network.*)\n",
            output,
        )

    def test_settings_file(self):
        """Without a task, task and arguments are those in vmperf.yaml."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.path.parent)
        document = {"version": 2, "title": "T", "subtasks": [subtask()]}
        text = yaml.safe_dump(document).replace("count: 4", "count: {{ n }}")
        pathlib.Path("mine.yaml").write_text(text)
        pathlib.Path("vmperf.yaml").write_text("task: mine.yaml\nn: 5\n")
        parser = argparse.ArgumentParser()
        plan.add_task_arguments(parser)
        parser.set_defaults(config_file=os.devnull)
        for options, cores in (([], 10), (["--task-args", "{n: 6}"], 12)):
            planned = plan.create_plan(parser.parse_args(options))
            needs = {row[1]: row[2] for row in planned.rows}
            self.assertEqual(cores, needs["cores"])

    def test_minutes_of_the_flavor(self):
        """Copies on each vCPU take time."""
        task = subtask()
        (scenario,) = task["scenario"].values()
        minutes = []
        for processes in (1, "vcpus"):
            scenario["workloads"] = [
                {
                    "name": "mbw",
                    "arguments": {"runs": 1000, "processes": processes},
                }
            ]
            _, rows, _ = self.plan(task)
            minutes += [
                row["Needed"]
                for row in rows
                if row["What"] == "minutes, about"
            ]
        self.assertEqual([10, 16], minutes)

    def plan_overhead(
        self, noise, findings=(), code=0, boots=(), count=1, **sla
    ):
        """Plan a task with overhead; return rows and what else is printed.

        :param noise: The factor between repetitions of the baseline.
        :param findings: The findings of the baseline.
        :param code: The expected exit code.
        :param boots: The boot or session of each repetition of the baseline.
        :param count: The number of guests, and of copies on bare metal.
        """
        values = (100.0, 100.0 * noise, 100.0 / noise, 100.0, 100.0)
        values += (100.0,) * (len(boots) - len(values))
        entry = made.entry(
            {
                made.EVENTS: values,
                made.P95: [1 / value for value in values],
            },
            shape=document.Shape(2, 1024, count),
            arguments=registry.get_workload("sysbench").complete({}),
            findings=findings,
        )
        entry = dataclasses.replace(
            entry, reference=dataclasses.replace(entry.reference, boots=boots)
        )
        store.Store(self.path.parent).save(
            made.baseline(entries=(entry,)), replace=True
        )
        task = subtask(count=count)
        task["scenario"] = {
            "VMPerf.overhead": {"workloads": [{"name": "sysbench"}]}
        }
        task["contexts"]["vmperf_baseline"] = {"name": "metal"}
        task["sla"] = {"vmperf_overhead": sla}
        exit_code, rows, printed = self.plan(task)
        self.assertEqual(code, exit_code, printed)
        return [row for row in rows if row["Of"] == "baseline metal"], printed

    def test_distance_from_the_limit(self):
        """It is that of the baseline's noise, for metrics with a limit."""
        sla = {"max_percent": {"cpu.sysbench.rate": 10}}
        rows, printed = self.plan_overhead(1.01, **sla)
        (row,) = rows
        self.assertEqual(
            ("% from the limit of cpu.sysbench.rate", 10.0),
            (row["What"], row["Room"]),
        )
        deviation = math.log(1.01) * math.sqrt(2 / 4)
        # A rate of 90 % times this factor passes in four of five runs.
        self.assertAlmostEqual(
            90 * math.expm1(2.4 * deviation), row["Needed"], delta=0.05
        )
        self.assertIn(
            "with 5 repetitions of bare metal and 5 of guests, a guest "
            "passes in 4 of 5 runs if it keeps 2.4 times the noise of the "
            "baseline from its limit",
            printed,
        )
        self.assertNotIn("even a guest without loss", printed)
        for sentence in (
            "reboot=never: the result is that of one boot of the guests",
            "baseline metal has 1 session .* baseline record metal --append",
        ):
            self.assertRegex(printed, sentence)

    @ddt.data((3, "1.5"), (5, "1.1"))
    @ddt.unpack
    def test_few_sessions(self, number, factor):
        """Three sessions decide little, and six decide well."""
        boots = tuple(f"session-{place % number}" for place in range(5))
        _, printed = self.plan_overhead(
            1.01, boots=boots, max_percent={"cpu.sysbench.rate": 10}
        )
        self.assertIn(
            f"baseline metal has {number} boots or sessions, which are as "
            "many values in the interval: three decide little, and six "
            f"decide well (a guest must keep {factor} times the distance from "
            "a limit that it needs with six); to add a session on another "
            "day: rally-vmperf baseline record metal --append",
            printed,
        )

    def test_enough_sessions(self):
        boots = tuple(f"session-{place}" for place in range(6))
        _, printed = self.plan_overhead(
            1.01, boots=boots, max_percent={"cpu.sysbench.rate": 10}
        )
        self.assertNotIn("--append", printed)

    def test_worst_guest_needs_more_distance(self):
        """All guests pass less often than their mean does."""
        limits = {"max_percent": {"cpu.sysbench.rate": 10}}
        usual, _ = self.plan_overhead(1.01, count=4, **limits)
        worst, printed = self.plan_overhead(
            1.01, count=4, **limits, statistic="worst"
        )
        self.assertIn(
            "the worst of 4 guests passes in 4 of 5 runs if each keeps",
            printed,
        )
        self.assertGreater(worst[0]["Needed"], usual[0]["Needed"])

    def test_more_confidence_needs_more_distance(self):
        sla = {"max_percent": {"cpu.sysbench.rate": 10}}
        usual, _ = self.plan_overhead(1.01, **sla)
        strict, _ = self.plan_overhead(1.01, **sla, confidence=0.99)
        self.assertGreater(strict[0]["Needed"], usual[0]["Needed"])

    def test_a_limit_within_the_noise(self):
        """Even a guest without loss rarely passes."""
        _, printed = self.plan_overhead(
            1.05, max_percent={"cpu.sysbench.rate": 5}
        )
        self.assertIn(
            "1 metric: even a guest without loss passes in less "
            "than 4 of 5 runs; measure for longer",
            printed,
        )

    def test_without_a_baseline(self):
        """The task would be rejected; the rest of the plan is printed."""
        task = subtask(count=1)
        task["scenario"] = {
            "VMPerf.overhead": {"workloads": [{"name": "sysbench"}]}
        }
        task["contexts"]["vmperf_baseline"] = {"name": "missing"}
        task["sla"] = {"vmperf_overhead": {"max_percent": {"cpu.*": 5}}}
        code, rows, printed = self.plan(task)
        self.assertEqual(1, code)
        self.assertTrue(rows)
        self.assertRegex(printed, "rejected: .*missing")

    def test_without_bare_metal(self):
        """Guests can be planned alone; limits in percent are rejected."""
        task = subtask(count=1)
        task["scenario"] = {
            "VMPerf.overhead": {"workloads": [{"name": "sysbench"}]}
        }
        for option, code in (("min", 0), ("max_percent", 1)):
            task["sla"] = {"vmperf_overhead": {option: {"cpu.*": 5}}}
            exit_code, rows, printed = self.plan(task)
            self.assertEqual(code, exit_code, printed)
            self.assertTrue(rows)
        self.assertIn(
            "rejected: sla vmperf_overhead max_percent: requires", printed
        )

    def test_a_void_baseline(self):
        """No run can pass: the reason and two ways out, in one line."""
        busy = (finding.Finding("bare_metal_busy", "cpu", "9 %"),)
        sla = {"max_percent": {"cpu.sysbench.rate": 10}}
        _, printed = self.plan_overhead(1.01, busy, code=1, **sla)
        (line,) = (line for line in printed.splitlines() if "cpu: 9 %" in line)
        self.assertIn("rejected: sla vmperf_overhead: baseline 'metal'", line)
        self.assertIn("record it again on an empty host", line)
        self.assertIn(
            "or set tolerate: [bare_metal_busy] in vmperf.yaml", line
        )
        tolerated = {**sla, "tolerate": ["bare_metal_busy"]}
        rows, printed = self.plan_overhead(1.01, busy, **tolerated)
        self.assertTrue(rows)
        self.assertNotIn("rejected:", printed)

    def read(self, task_arguments):
        """Read a task with arguments; return what is printed to stderr."""
        fairness = "{{ vmperf_fairness | default({}) | tojson }}"
        text = yaml.safe_dump(
            {
                "version": 2,
                "title": "T",
                "subtasks": [
                    {**subtask(), "sla": {"vmperf_fairness": "FAIRNESS"}}
                ],
            }
        )
        text = text.replace("T\n", "T {{ repetitions }}\n", 1)
        text = text.replace("FAIRNESS", fairness)
        self.path.write_text(text)
        parsed = argparse.Namespace(
            task_args=[json.dumps(task_arguments)],
            task_args_file=None,
            config_file=os.devnull,
            settings=None,
        )
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            task_file.read_task(str(self.path), parsed)
        return printed.getvalue()

    @ddt.data(
        ("repetition", "; did you mean 'repetitions'\\?"),
        ("vmperf_fairnes", "; did you mean 'vmperf_fairness'\\?"),
        ("failure_rate", ""),
    )
    @ddt.unpack
    def test_an_argument_that_the_task_does_not_have(self, name, hint):
        """Rally ignores it, and what was meant has its default."""
        with self.assertRaisesRegex(
            errors.VMPerfError,
            f"argument {name!r}: must be an argument of [^;]*{hint}$",
        ):
            self.read({name: 9, "repetitions": 3})

    def read_files(self, task, arguments=None):
        """Read a task file, and a file of arguments."""
        parsed = argparse.Namespace(
            task_args=None,
            task_args_file=[arguments],
            config_file=os.devnull,
            settings=None,
        )
        task_file.read_task(str(task), parsed)

    @ddt.data(
        (b"a: \xff", "byte 3 is not UTF-8"),
        (b"{1: 2}", "key 1: must be text; quote it"),
        (b"{a: [{true: 2}]}", "key True: must be text; quote it"),
        (b"{{ %s }}" % (b"[" * 3000), "the template has too many nested"),
        (b"{% if a %}" * 3000, "the template has too many nested"),
        (b"[" * 3000, "is not valid YAML: more than 64 levels"),
        (b"{{ 1 / 0 }}", "division by zero"),
        (b"{{ [][1].x }}", "list object has no element 1"),
        (b"{{ ''.join(1) }}", "can only join an iterable"),
        (None, "is not a regular file"),
    )
    @ddt.unpack
    def test_a_file_that_is_no_task(self, content, reason):
        """The file is named; a pipe is not waited for."""
        if content is None:
            self.path.unlink(missing_ok=True)
            os.mkfifo(self.path)
        else:
            self.path.write_bytes(content)
        with self.assertRaisesRegex(
            errors.VMPerfError, f"^{self.path}:? {reason}"
        ):
            self.read_files(self.path)

    @ddt.data(
        (b"a: \xff", "byte 3 is not UTF-8"),
        (b"{1: 2}", "key 1: must be text; quote it"),
        (None, "is not a regular file"),
    )
    @ddt.unpack
    def test_a_file_that_has_no_arguments(self, content, reason):
        path = self.path.with_name("arguments")
        os.mkfifo(path) if content is None else path.write_bytes(content)
        with self.assertRaisesRegex(errors.VMPerfError, f"^{path}: {reason}"):
            self.read_files(self.path, str(path))

    @ddt.data(
        (base.Unreachable("peer: no SSH at root@h: refused"), "no SSH at"),
        (base.Denied("peer: root@h:22 rejects the key"), "rejects the key"),
        (base.MachineError("peer: h has a host key that is unknown"), "key"),
    )
    @ddt.unpack
    def test_peer_and_control(self, error, reason):
        """Each is asked once, as a run does, and has its line."""
        task = subtask()
        arguments = task["scenario"]["VMPerf.density"]
        arguments["peer"] = {"address": "192.0.2.10"}
        with mock.patch(
            "rally_vmperf.execution.sessions.check_others",
            autospec=True,
            side_effect=error,
        ) as check:
            code, _, output = self.plan(task)
        self.assertEqual(1, code)
        (line,) = [line for line in output.splitlines() if ": peer: " in line]
        self.assertRegex(line, f"^Four guests: rejected: peer: .*{reason}")
        ((_, peer, control, _),) = (call.args for call in check.call_args_list)
        self.assertEqual(("peer", None), (peer.name, control))

    @ddt.data(
        ({"login": {"password_file": "/no"}}, {}, "login password_file: file"),
        ({}, {"key_file": "/no/key"}, "peer key_file: file '/no/key' does"),
        ({"namespace": "no-such"}, {}, "namespace 'no-such' is not on this"),
    )
    @ddt.unpack
    def test_files_and_routes(self, guests, peer, reason):
        """What the run would reject is rejected without a connection."""
        task = subtask(**guests)
        arguments = task["scenario"]["VMPerf.density"]
        arguments["peer"] = {"address": "192.0.2.10", **peer}
        with mock.patch(
            "rally_vmperf.execution.sessions.check_others", autospec=True
        ) as check:
            code, _, output = self.plan(task)
        self.assertEqual(1, code)
        self.assertRegex(output, f"Four guests: rejected: .*{reason}")
        check.assert_not_called()

    def test_nothing_is_made(self):
        """It only asks."""
        self.plan(subtask(), subtask(levels=[1]))
        self.assertEqual([], self.cloud.left())
        self.assertFalse([c for c in self.cloud.calls if "create" in c])

    def test_what_would_be_refused(self):
        """It is one line, with an exit code; the rest is planned too."""
        code, rows, output = self.plan(
            subtask(max_host_share=20), subtask(levels=[1], count=1)
        )
        self.assertEqual(1, code)
        self.assertIn(
            "Four guests: rejected: host h1 would be 25 % full", output
        )
        self.assertEqual(2, len([r for r in rows if r["What"] == "cores"]))

    def test_variants_that_boot_one_after_another(self):
        """The reason is reported; each boot takes its time."""
        task = subtask()
        task["contexts"]["vmperf_guests@openstack"]["count"] = 1
        arguments = task["scenario"].pop("VMPerf.density")
        arguments.pop("levels")
        arguments["variants"] = [
            {"name": "plain"},
            {"name": "e1000", "image_properties": {"hw_vif_model": "e1000"}},
        ]
        task["scenario"]["VMPerf.tuning"] = arguments
        minutes = {}
        for instances in (2, 1):
            self.cloud.compute.limits.instances = instances
            code, rows, output = self.plan(task)
            self.assertEqual(0, code, output)
            needed = {row["What"]: row["Needed"] for row in rows}
            self.assertEqual(instances, needed["instances"])
            minutes[instances] = needed["minutes, about"]
        self.assertRegex(
            output,
            "do not fit at once.* quota for 1 more instances, 2 are required",
        )
        # 5 repetitions of 2 variants
        self.assertEqual(5 * 2 * 2, minutes[1] - minutes[2])

    def test_equal_variants(self):
        """Variants that are equal, by intent or not, are named."""
        task = subtask()
        task["contexts"]["vmperf_guests@openstack"]["count"] = 1
        arguments = task["scenario"].pop("VMPerf.density")
        arguments.pop("levels")
        arguments["variants"] = [{"name": "plain"}, {"name": "same"}]
        task["scenario"]["VMPerf.tuning"] = arguments
        code, _, output = self.plan(task)
        self.assertEqual(0, code, output)
        self.assertIn("variants: same is equal to plain", output)

    def test_without_an_administrator(self):
        """A member sees the quota, and the parts that it cannot see."""
        self.platform = {"admin": None, "users": [ADMIN]}
        task = subtask()
        del task["contexts"]["vmperf_guests@openstack"]["host"]
        code, rows, output = self.plan(task)
        self.assertEqual(0, code)
        self.assertFalse([r for r in rows if r["Of"].startswith("host")])
        self.assertIn("only an administrator sees", output)

    def test_networks_that_are_still_to_be_made(self):
        """Their ports and addresses are not known yet."""
        task = subtask(contexts={"network@openstack": {}})
        del task["contexts"]["vmperf_guests@openstack"]["network"]
        _, rows, _ = self.plan(task)
        self.assertFalse([r for r in rows if r["What"] == "ports"])

    @ddt.data(
        (
            {"levels": [1, 1]},
            errors.VMPerfError,
            "levels: .* has non-unique",
        ),
        (
            {"flavor": {"name": "x"}},
            guest_errors.GuestError,
            "the project sees",
        ),
        ({"flavor": "x"}, guest_errors.GuestError, "the project sees"),
        ({"flavor": 1.5}, errors.VMPerfError, "vmperf_guests.flavor"),
    )
    @ddt.unpack
    def test_what_is_no_task(self, keys, error, pattern):
        """It is refused as the run would refuse it."""
        with self.assertRaisesRegex(error, pattern):
            self.plan(subtask(**keys))
