# SPDX-License-Identifier: Apache-2.0
"""Every workload keeps the promises that all of them make."""

import dataclasses
import importlib
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import typing
import unittest
from unittest import mock

import ddt
import jsonschema

from rally_vmperf import resources
from rally_vmperf.execution import assignment
from rally_vmperf.image import guest_image
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import registry
from tests.cloud.system import layout
from tests.unit.workloads import golden

NAMES = registry.workload_names()


def _ends(workload, arguments):
    """Return endpoints with the ports that a workload needs."""
    ports = workload.ports(arguments)
    return base.Endpoints(
        peer="192.0.2.1",
        partner="192.0.2.2",
        own_ports=range(5300, 5300 + ports.own),
        shared_ports=range(5201, 5201 + ports.shared),
    )


SOURCE = """
from rally_vmperf.workloads.cpu import sysbench


class Mine(sysbench.Sysbench):
    name = {name!r}
"""


class RegistryTestCase(unittest.TestCase):
    def test_names_agree_with_the_modules(self):
        folder = pathlib.Path(base.__file__).parent
        modules = {
            path.stem
            for arg in typing.get_args(base.Component)
            for path in (folder / arg).glob("[!_]*.py")
        }
        message = (
            "a module of workloads/<part> without an underscore in front is "
            "a workload of its name: rename it, or its attribute `name`"
        )
        self.assertEqual(tuple(sorted(modules)), NAMES, message)
        self.assertIn("fio", NAMES)

    def test_unknown_name_is_answered_with_the_known_ones(self):
        with self.assertRaises(base.WorkloadError) as caught:
            registry.get_workload("unixbanch")
        self.assertEqual(
            "workload 'unixbanch' does not exist; available: "
            f"{', '.join(NAMES)}",
            str(caught.exception),
        )

    def test_packages_of_workloads(self):
        self.assertEqual(
            ("bzip2", "iperf3", "python3"),
            registry.debian_packages(["iperf3", "bzip2", "bzip2"]),
        )

    def test_workloads_with_a_rate(self):
        """The name of the metric and of the command exist."""
        drivable = registry.drivable_workload_names()
        self.assertIn("sysbench", drivable)
        for name in NAMES:
            workload = registry.get_workload(name)
            arguments = workload.complete({})
            offers = workload.offers(arguments)
            commands = workload.commands(arguments, _ends(workload, arguments))
            if name not in drivable:
                with self.assertRaisesRegex(
                    base.WorkloadError,
                    f"^workload {name}: cannot be driven at a rate$",
                ):
                    workload.at_rates(arguments, {})
                continue
            workload.check_drivable(arguments)
            metrics = {
                metric.name: metric for metric in workload.metrics(arguments)
            }
            self.assertEqual(
                {command.name for command in commands},
                {offer.command for offer in offers},
            )
            for offer in offers:
                self.assertEqual("higher", metrics[offer.metric].better)
                self.assertEqual(
                    {"s"} if offer.late else set(),
                    {metrics[late].unit for late in offer.late},
                )

    def test_rates_of_other_commands(self):
        workload = registry.get_workload("sysbench")
        arguments = workload.complete({})
        for rates, message in (
            ({}, "rates of no command: must be of sysbench$"),
            ({"x": 1}, "rates of x: must be of sysbench$"),
            ({"sysbench": 0}, "rate of sysbench=0: must be > 0$"),
            ({"sysbench": math.nan}, "rate of sysbench=nan: must be > 0$"),
            ({"sysbench": math.inf}, "rate of sysbench=inf: must be > 0$"),
        ):
            with self.assertRaisesRegex(
                base.WorkloadError, f"^workload sysbench: {message}"
            ):
                workload.at_rates(arguments, rates)

    def test_arguments_that_a_record_lacks(self):
        self.assertEqual(
            {"threads": 2, "time": 10, "max_prime": 10000, "rate": 0},
            registry.add_defaults("sysbench", {"threads": 2}),
        )
        self.assertEqual({"x": 1}, registry.add_defaults("absent", {"x": 1}))

    def test_shipped_lists_cover_the_main_tasks(self):
        """The lists are those of the guest image and of the embedded cloud."""
        packages, workloads = set(), set()
        for task in ("kvm-overhead", "kvm-density"):
            text = resources.path("tasks", f"{task}.yaml").read_text()
            names = set(re.findall(r'"name": "(\w+)", "arguments"', text))
            self.assertIn("sysbench", names)
            workloads |= names & set(NAMES)
            packages |= set(registry.debian_packages(names & set(NAMES)))
        self.assertEqual(
            tuple(sorted(workloads)),
            guest_image.WORKLOADS,
            "edit WORKLOADS in rally_vmperf/image/guest_image.py: the image "
            "has the tools of the main tasks",
        )
        path = layout.SHIPPED / "packages.txt"
        listed = set(path.read_text().splitlines())
        self.assertEqual(
            set(),
            packages - listed - {"bash", "python3"},
            f"the main tasks need these Debian packages: add them to {path}",
        )

    def test_tools_of_one_command(self):
        """Several workloads define a tool alike, except for its side."""
        definitions = {}
        for name in NAMES:
            for tool in registry.get_workload(name).TOOLS:
                alike = dataclasses.replace(tool, side="both")
                message = (
                    f"{name} defines {tool.command} differently than another "
                    "workload: use the same definition"
                )
                first = definitions.setdefault(tool.command, alike)
                self.assertEqual(first, alike, message)

    def test_names_import_no_workload(self):
        program = (
            "import sys; from rally_vmperf.workloads import registry; "
            "assert 'fio' in registry.workload_names(); "
            "names = registry.workload_names(); "
            "sys.exit(any(name.rpartition('.')[2] in names "
            "for name in sys.modules))"
        )
        process = subprocess.run([sys.executable, "-c", program], check=False)
        self.assertEqual(0, process.returncode)

    def test_additive_metrics(self):
        """Rates do, and times of a fixed amount of work."""
        metrics = [
            metric
            for name in NAMES
            for metric in registry.get_workload(name).metrics(
                registry.get_workload(name).complete({})
            )
        ]
        for metric in metrics:
            expected = metric.scale == "ratio" and (
                metric.better == "higher" or metric.name.endswith("_time")
            )
            message = (
                f"set additive={expected} for {metric.name}: rates of several "
                "guests can be added, and times of fixed work, if the name "
                "ends with _time; latencies cannot"
            )
            self.assertEqual(expected, metric.additive, message)

    def test_metrics_of_all_workloads_differ(self):
        names = [
            metric.name
            for name in NAMES
            for metric in registry.get_workload(name).metrics(
                registry.get_workload(name).complete({})
            )
        ]
        twice = sorted({name for name in names if names.count(name) > 1})
        self.assertEqual([], twice, "metrics have the name of their workload")


class ForeignPackageTestCase(unittest.TestCase):
    """The package of another distribution is found by its entry point."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.enterContext(
            mock.patch.object(sys, "path", [folder.name, *sys.path])
        )
        self.enterContext(mock.patch.dict(sys.modules))
        self.addCleanup(registry.discover.cache_clear)

    def install(self, package, entry=None, **modules):
        """Lay down a package, with modules of these names."""
        top = self.folder / package
        top.mkdir()
        for name, source in modules.items():
            (top / f"{name}.py").write_text(source)
        info = self.folder / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            f"[{registry.GROUP}]\n{package} = {entry or package}\n"
        )
        importlib.invalidate_caches()
        registry.discover.cache_clear()

    def refused(self, name):
        with self.assertRaises(base.WorkloadError) as caught:
            registry.get_workload(name)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_its_modules_are_workloads(self):
        self.install(
            "acme", good=SOURCE.format(name="good"), _helper="raise OSError"
        )
        self.assertEqual({"good"}, set(registry.workload_names()) - set(NAMES))
        self.assertEqual("good", registry.get_workload("good").name)
        self.assertEqual(
            10, registry.get_workload("good").complete({})["time"]
        )

    def test_a_module_without_a_workload(self):
        self.install("acme", other=SOURCE.format(name="good"))
        self.assertRegex(
            self.refused("other"), "acme.other has no subclass .* = 'other'; "
        )

    def test_a_module_with_a_missing_import(self):
        self.install("acme", broken="import no_such_library")
        self.assertRegex(
            self.refused("broken"),
            "^workload 'broken': acme.broken cannot be imported: .*"
            "'no_such_library'; repair or uninstall",
        )

    def test_a_name_in_use(self):
        self.install("acme", fio=SOURCE.format(name="fio"))
        self.assertEqual(
            "workload 'fio' is in acme.fio and in "
            "rally_vmperf.workloads.disk.fio; uninstall all but one",
            self.refused("fio"),
        )

    def test_an_entry_that_leads_nowhere(self):
        """Other workloads go on as before."""
        self.install("acme", entry="amce")
        self.install("brand", entry="brand.good", good="")
        self.assertEqual(NAMES, registry.workload_names())
        message = self.refused("good")
        self.assertRegex(
            message, "workload 'good' does not exist; available: bzip2, .*"
        )
        for package in ("amce", "brand.good"):
            self.assertRegex(
                message, f"package {package} cannot be imported; repair"
            )


@ddt.ddt
class EveryWorkloadTestCase(unittest.TestCase):
    @ddt.data(*NAMES)
    def test_name_is_that_of_the_registry(self, name):
        self.assertEqual(name, registry.get_workload(name).name)
        self.assertTrue(registry.get_workload(name).title)

    @ddt.data(*NAMES)
    def test_schema_is_valid_closed_and_described(self, name):
        schema = registry.get_workload(name).ARGUMENTS
        jsonschema.Draft7Validator.check_schema(schema)
        self.assertEqual("object", schema["type"])
        self.assertIs(False, schema["additionalProperties"])
        for key, rule in schema["properties"].items():
            with self.subTest(key=key):
                self.assertRegex(rule["description"], r"\.$")
                self.assertIn("default", rule)
                jsonschema.validate(rule["default"], rule)
                if rule["type"] == "integer":
                    self.assertIn("minimum", rule)
                    self.assertIn("maximum", rule)

    @ddt.data(*NAMES)
    def test_defaults_complete_themselves(self, name):
        workload = registry.get_workload(name)
        complete = workload.complete({})
        self.assertEqual(set(workload.ARGUMENTS["properties"]), set(complete))
        self.assertEqual(complete, workload.complete(complete))

    @ddt.data(*NAMES)
    def test_integers_reach_the_command_line_as_such(self, name):
        workload = registry.get_workload(name)
        floats = {
            key: float(rule["default"])
            for key, rule in workload.ARGUMENTS["properties"].items()
            if rule["type"] == "integer"
        }
        self.assertEqual(
            repr(workload.complete({})), repr(workload.complete(floats))
        )

    @ddt.data(*NAMES)
    def test_tools_cover_the_commands(self, name):
        workload = registry.get_workload(name)
        arguments = workload.complete({})
        tools = {tool.command for tool in workload.TOOLS} | {"cp", "env"}
        every = (
            *workload.prepare(arguments),
            *workload.commands(arguments, _ends(workload, arguments)),
        )
        for command in every:
            self.assertIn(command.argv[0], tools)
            self.assertGreater(command.seconds, 0)
            self.assertGreater(command.timeout, 2 * command.seconds)
            self.assertTrue(all(isinstance(a, str) for a in command.argv))

    @ddt.data(*golden.RUNS)
    def test_servers_listen_at_its_own_ports(self, name):
        workload = golden.workload(name)
        arguments = workload.complete(golden.RUNS[name].arguments)
        ports, ends = workload.ports(arguments), _ends(workload, arguments)
        servers = [
            command.server
            for command in workload.commands(arguments, ends)
            if command.server
        ]
        # Who answers a ping needs no server.
        self.assertEqual(bool(ports.own + ports.shared), bool(servers))
        self.assertLessEqual(bool(servers), bool(workload.needs(arguments)))
        for server in servers:
            of = ends.own_ports if server.clients == "one" else ()
            self.assertIn(server.port, of or ends.shared_ports)

    @ddt.data(*NAMES)
    def test_sensitivities_are_known(self, name):
        self.assertLessEqual(
            registry.get_workload(name).SENSITIVE_TO,
            set(typing.get_args(base.Sensitivity)),
        )

    @ddt.data(*NAMES)
    def test_names_of_commands_differ(self, name):
        workload = registry.get_workload(name)
        arguments = workload.complete({})
        every = [
            command.name
            for command in (
                *workload.prepare(arguments),
                *workload.commands(arguments, _ends(workload, arguments)),
            )
        ]
        self.assertEqual(len(set(every)), len(every))

    @ddt.data(*NAMES)
    def test_units_have_bounds_and_names_take_a_label(self, name):
        workload = registry.get_workload(name)
        for metric in workload.metrics(workload.complete({})):
            self.assertLess(*(metric.bounds or outputs.BOUNDS[metric.unit]))
            labelled = assignment.relabel(metric.name, "db")
            self.assertEqual("db", labelled.split(".")[2])

    @ddt.data(*NAMES)
    def test_nothing_measured_gives_nothing(self, name):
        workload = registry.get_workload(name)
        arguments = workload.complete({})
        self.assertEqual([], workload.parse_all(arguments, {}))
        self.assertEqual({}, workload.facts(arguments, {}))

    @ddt.data(*golden.RUNS)
    def test_a_recorded_run_gives_every_metric(self, name):
        workload = golden.workload(name)
        arguments = workload.complete(golden.RUNS[name].arguments)
        outcomes = golden.RUNS[name].outcomes()
        for step in workload.prepare(arguments):
            outcomes.pop(step.name, None)
        readings = workload.parse_all(arguments, outcomes)
        metrics = [s.metric for s in golden.values(readings)]
        self.assertEqual(
            [
                metric
                for metric in workload.metrics(arguments)
                if metric in metrics or not metric.optional
            ],
            metrics,
        )

    @ddt.data(*NAMES)
    def test_metrics_are_of_its_part_and_its_own(self, name):
        workload = registry.get_workload(name)
        self.assertIn(workload.part, typing.get_args(base.Component))
        for metric in workload.metrics(workload.complete({})):
            self.assertEqual([workload.part, name], metric.name.split(".")[:2])

    @ddt.data(*NAMES)
    def test_unknown_key_is_answered_with_the_allowed_ones(self, name):
        workload = registry.get_workload(name)
        with self.assertRaises(base.WorkloadError) as caught:
            workload.complete({"nonsense": 1})
        message = str(caught.exception)
        for word in (name, "nonsense", *workload.ARGUMENTS["properties"]):
            self.assertIn(word, message)
