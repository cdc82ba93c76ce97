# SPDX-License-Identifier: Apache-2.0
"""Tests of the kinds of values that templates of tasks require."""

import argparse
import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import ddt
import jinja2

from rally_vmperf import errors
from rally_vmperf import resources
from rally_vmperf.baseline import store
from rally_vmperf.cmd import task_file
from rally_vmperf.cmd import template_arguments
from rally_vmperf.questions import checks
from tests.unit.doc import tasks

_TASKS = [
    path.name
    for path in sorted(resources.path("tasks").glob("*.yaml"))
    if not path.name.endswith(".embedded.yaml")
]


def read_questions(task, arguments):
    """Return the workloads of a task with their questions."""
    parser = argparse.ArgumentParser()
    task_file.add_arguments(parser)
    parser.set_defaults(config_file=os.devnull)
    parsed = parser.parse_args(["--task-args", arguments])
    return task_file.read_task(task, parsed)


def read(task, arguments):
    """Return the workloads of a task, and the warnings on standard error."""
    stderr = io.StringIO()
    with contextlib.redirect_stderr(stderr):
        workloads = [pair[0] for pair in read_questions(task, arguments)]
    return workloads, stderr.getvalue()


@ddt.ddt
class TemplateArgumentsTest(unittest.TestCase):
    """Each message is one line with the argument and the solution."""

    @ddt.data(
        (
            "kvm-overhead.yaml",
            "flavors: m1.large",
            "argument 'flavors': 'm1.large': must be a list with at least one "
            "entry, such as [m1.large]",
        ),
        (
            "kvm-overhead.yaml",
            "flavors: {m1.large: 1}",
            "argument 'flavors': {'m1.large': 1}: must be a list with at "
            "least one entry",
        ),
        (
            "capacity-audit.yaml",
            "hosts: a",
            "argument 'hosts': 'a': must be a list with at least one entry, "
            "such as [a]",
        ),
        (
            "capacity-audit.yaml",
            "hosts: []",
            "argument 'hosts': []: must be a list with at least one entry",
        ),
        (
            "kvm-overhead.yaml",
            "repetitions: '6'",
            "argument 'repetitions': '6': must be an integer >= 0, without "
            "quotes",
        ),
        *(
            (
                task,
                f"{name}: {argument}",
                f"argument {name!r}: {argument}: must be an integer >= 0, "
                "without quotes",
            )
            for task in ("kvm-overhead.yaml", "kvm-density.yaml")
            for name, argument in (
                ("repetitions", 5.5),
                ("repetitions", -3),
                ("warmup", 0.5),
            )
        ),
        (
            "kvm-overhead.yaml",
            "limits: [1]",
            "argument 'limits': [1]: must be a mapping of names to values",
        ),
        (
            "capacity-audit.yaml",
            "density: 'false'",
            "argument 'density': 'false': must be true or false, without "
            "quotes",
        ),
    )
    @ddt.unpack
    def test_other_kinds(self, task, arguments, message):
        with self.assertRaises(errors.VMPerfError) as caught:
            read(task, arguments)
        self.assertEqual(f"--task-args: {message}", str(caught.exception))

    @ddt.data(
        *("limits", "flavors", "repetitions", "guest_options", "warmup"),
        *("workloads", "user", "reboot", "guests", "baseline"),
    )
    def test_no_value(self, name):
        """A key without a value is not the default of the task."""
        with self.assertRaises(errors.VMPerfError) as caught:
            read("kvm-overhead.yaml", f"{name}:")
        self.assertEqual(
            f"--task-args: argument {name!r}: has no value; set one, or "
            "remove the line for the default of the task",
            str(caught.exception),
        )

    def test_a_sum_of_other_numbers(self):
        """Only the numbers of repetitions must be integers."""
        for key, kind in (("times", "count"), ("seconds", "number")):
            tree = jinja2.Environment().parse(
                f"{{% set a = a | default(1) %}}{key}: {{{{ a + b }}}}"
            )
            kinds = dict(template_arguments._find_kinds(tree))
            self.assertEqual((kind, kind), (kinds["a"], kinds["b"]))

    @ddt.data("peer", "network", "host", "neighbours", "arguments")
    def test_empty_default(self, name):
        """An argument that is empty by default may be empty."""
        for empty in ("", " {}" if name != "host" else " ''"):
            if name == "network" and empty:
                continue
            (workload,), _ = read("kvm-overhead.yaml", f"{name}:{empty}")
            self.assertEqual(7, workload.times)

    @ddt.data(
        ("kvm-density.yaml", "levels: {doubling_to: 4}"),
        ("kvm-density.yaml", "{stop: {max_percent: {cpu.*: 9}}, warmup: 0}"),
        ("kvm-overhead.yaml", "{flavors: [a, b], repetitions: 3}"),
        ("kvm-overhead.yaml", "{baseline: {class: r740}}"),
        ("capacity-audit.yaml", "{density: true, hosts: [a, b]}"),
    )
    @ddt.unpack
    def test_right_kinds(self, task, arguments):
        self.assertEqual("", read(task, arguments)[1])

    @ddt.data(*_TASKS)
    def test_lists_of_each_task(self, task):
        """Each task has flavors, of which a string is not a list."""
        if task in ("study-hep.yaml", "allocation-ratio.yaml"):
            # Its flavors are in a list of lists; it has one flavor.
            return
        with self.assertRaisesRegex(
            errors.VMPerfError, "^--task-args: argument 'flavors': 'm1.large'"
        ):
            read(task, "flavors: m1.large")

    def test_list_that_the_template_passes_on(self):
        """Its schema rejects it, with the form."""
        with self.assertRaisesRegex(
            errors.VMPerfError,
            r"vmperf_guests\.hosts: 'a' is not of type 'array'; use a list, "
            r"such as \[a\]$",
        ):
            read("kvm-density.yaml", "hosts: a")

    def test_unused_keys(self):
        """A host or a flavor that is misspelled has no effect."""
        for task, arguments, message in (
            (
                "capacity-audit.yaml",
                "{baselines: {compte1: r1, compute2: r2}, hosts: [compute1, "
                "compute2]}",
                "'baselines': 'compte1' is not in 'hosts', so that it has no "
                "effect; did you mean 'compute1'?",
            ),
            (
                "kvm-density.yaml",
                "flavor_levels: {m1.smal: [1, 2]}",
                "'flavor_levels': 'm1.smal' is not in 'flavors', so that it "
                "has no effect; did you mean 'm1.small'?",
            ),
        ):
            _, warnings = read(task, arguments)
            self.assertEqual(f"--task-args: argument {message}\n", warnings)

    def test_templates_of_users(self):
        """A default can be computed, or missing."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        task = folder / "task.yaml"
        text = resources.path("tasks", "kvm-density.yaml").read_text()
        for default in ("default([small])", "default", "list"):
            task.write_text(
                "{% set small = 'm1.small' %}\n"
                + text.replace('default(["m1.small"])', default)
                + "{# {{ {}.get() }} #}{{ '' if {}.get('x') }}"
            )
            given = "{flavors: [a], flavor_levels: {a: [1, 2], b: [1]}}"
            _, warnings = read(str(task), given)
            expected = "" if default == "list" else "'b' is not in 'flavors'"
            self.assertIn(expected, warnings)

    def test_other_templates(self):
        """Texts can be added, and a default can stand for no value."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        task = folder / "task.yaml"
        task.write_text(
            resources.path("tasks", "kvm-overhead.yaml").read_text()
            + "{# #}{% for x in extra %}{{ a + b }}{{ a.upper() }}{% endfor %}"
            "{% if link | default(false) %}{% endif %}"
        )
        for extra in ("[]", "{k: 1}", "[1]"):
            arguments = f"a: x, b: y, link: eth0, extra: {extra}"
            with self.assertRaises(errors.VMPerfError) as caught:
                read(str(task), f"{{{arguments}, repetitions: '6'}}")
            self.assertIn("argument 'repetitions'", str(caught.exception))
        for argument, text in (("extra", "abc"), ("link", "'off'")):
            others = "" if argument == "extra" else "extra: [], "
            given = f"{{a: x, b: y, {others}{argument}: {text}}}"
            with self.assertRaisesRegex(
                errors.VMPerfError, f"argument '{argument}': .*: must be "
            ):
                read(str(task), given)

    @ddt.data("''", "none")
    def test_audit_without_bare_metal(self, baseline):
        """An empty baseline is none: no limit in percent applies."""
        workloads, _ = read(
            "capacity-audit.yaml",
            f"{{baseline: {baseline}, baselines: {{a: {baseline}}}, hosts: "
            "[a, b]}",
        )
        for workload in workloads:
            self.assertEqual({"failure_rate"}, {*workload.criteria})
            self.assertIsNone(workload.baseline)


@ddt.ddt
class LimitsOfUsersTest(unittest.TestCase):
    """A limit that a user wrote is judged, rejected, or named."""

    LIMITS = "max_percent: {cpu.*: 5, network.*.throughput: 9}"

    def check(self, arguments, limits):
        """Return the remarks on the shipped task; the error if rejected."""
        text = f"{{{arguments}, limits: {{vmperf_overhead: {{{limits}}}}}}}"
        try:
            ((task, question),) = read_questions("kvm-overhead.yaml", text)
            with tempfile.TemporaryDirectory() as folder:
                baselines = store.Store(folder)
                baselines.save(tasks.baseline("metal", task.assignments))
                return checks.check_task(task, question, baselines)
        except (errors.VMPerfError, *checks.REQUEST_ERRORS) as error:
            return [f"rejected: {error}"]

    @ddt.data(
        (
            "baseline: metal, pear: {address: 192.0.2.1}",
            "rejected: --task-args: argument 'pear': must be an argument of "
            ".*; did you mean 'peer'",
        ),
        (
            "baseline: metal, peer: {adress: 192.0.2.1}",
            "rejected: .*peer: .*'adress'.*; allowed keys: address, ",
        ),
        (
            "baseline: metal",
            "rejected: sla vmperf_overhead max_percent: "
            r"'network\.\*\.throughput' cannot be judged: the task has no "
            "peer",
        ),
        (
            "baseline: none, peer: {address: 192.0.2.1}",
            "rejected: sla vmperf_overhead max_percent: requires the context "
            "vmperf_baseline",
        ),
        (
            "baseline: metal, workloads: [{name: fio}, {name: iperf3}], peer: "
            "{address: 192.0.2.1}",
            r"rejected: sla vmperf_overhead max_percent: 'cpu\.\*' matches no "
            "metric",
        ),
    )
    @ddt.unpack
    def test_rejected(self, arguments, message):
        (line,) = self.check(arguments, self.LIMITS)
        self.assertRegex(line, f"^{message}")

    @ddt.data(
        ("baseline: metal", "no peer (network.*.throughput)"),
        (
            "baseline: none, peer: {address: 192.0.2.1}",
            "no bare metal (cpu.*, network.*.throughput)",
        ),
        (
            "baseline: metal, workloads: [{name: fio}, {name: iperf3}], peer: "
            "{address: 192.0.2.1}",
            "no workload measures it (cpu.*)",
        ),
    )
    @ddt.unpack
    def test_named(self, arguments, reason):
        """With ``unmeasured: skip``, as in the shipped tasks."""
        lines = self.check(arguments, f"{self.LIMITS}, unmeasured: skip")
        self.assertIn(f"sla vmperf_overhead: not judged: {reason}", lines)
