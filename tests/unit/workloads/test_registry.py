"""Every workload keeps the promises that all of them make."""

import subprocess
import sys
import unittest

import ddt
import jsonschema

from rally_vmperf.workloads import base
from rally_vmperf.workloads import labels
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import registry

NAMES = registry.names()
ENDS = base.Ends(peer="192.0.2.1", partner="192.0.2.2", port=5201)


class RegistryTestCase(unittest.TestCase):
    def test_names_are_sorted(self):
        self.assertEqual(
            ("bzip2", "fio", "iperf3", "mbw", "sysbench"), registry.names()
        )

    def test_unknown_name_is_answered_with_the_known_ones(self):
        with self.assertRaises(base.WorkloadError) as caught:
            registry.get("unixbanch")
        self.assertEqual(
            "no workload 'unixbanch'; there are: "
            "bzip2, fio, iperf3, mbw, sysbench",
            str(caught.exception),
        )

    def test_names_import_no_workload(self):
        program = (
            "import sys; from rally_vmperf.workloads import registry; "
            "registry.names(); "
            "sys.exit('rally_vmperf.workloads.fio' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", program], check=False)
        self.assertEqual(0, done.returncode)

    def test_metrics_of_all_workloads_differ(self):
        found = [
            metric.name
            for name in NAMES
            for metric in registry.get(name).metrics(
                registry.get(name).complete({})
            )
        ]
        self.assertEqual(len(set(found)), len(found))


@ddt.ddt
class EveryWorkloadTestCase(unittest.TestCase):
    @ddt.data(*NAMES)
    def test_name_is_that_of_the_registry(self, name):
        self.assertEqual(name, registry.get(name).name)
        self.assertTrue(registry.get(name).title)

    @ddt.data(*NAMES)
    def test_schema_is_valid_closed_and_described(self, name):
        schema = registry.get(name).ARGUMENTS
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
        workload = registry.get(name)
        complete = workload.complete({})
        self.assertEqual(set(workload.ARGUMENTS["properties"]), set(complete))
        self.assertEqual(complete, workload.complete(complete))

    @ddt.data(*NAMES)
    def test_integers_reach_the_command_line_as_such(self, name):
        workload = registry.get(name)
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
        workload = registry.get(name)
        arguments = workload.complete({})
        tools = {tool.command for tool in workload.TOOLS} | {"cp"}
        every = (
            *workload.prepare(arguments),
            *workload.commands(arguments, ENDS),
        )
        for command in every:
            self.assertIn(command.argv[0], tools)
            self.assertGreater(command.timeout, 10)
            self.assertTrue(all(isinstance(a, str) for a in command.argv))

    @ddt.data(*NAMES)
    def test_names_of_commands_differ(self, name):
        workload = registry.get(name)
        arguments = workload.complete({})
        every = [
            command.name
            for command in (
                *workload.prepare(arguments),
                *workload.commands(arguments, ENDS),
            )
        ]
        self.assertEqual(len(set(every)), len(every))

    @ddt.data(*NAMES)
    def test_units_have_bounds_and_names_take_a_label(self, name):
        workload = registry.get(name)
        for metric in workload.metrics(workload.complete({})):
            self.assertIn(metric.unit, limits.BOUNDS)
            labelled = labels.relabel(metric, "db").name
            self.assertEqual("db", labelled.split(".")[1])

    @ddt.data(*NAMES)
    def test_nothing_measured_gives_nothing(self, name):
        workload = registry.get(name)
        arguments = workload.complete({})
        self.assertEqual([], workload.parse(arguments, {}))
        self.assertEqual({}, workload.facts(arguments, {}))

    @ddt.data(*NAMES)
    def test_unknown_key_is_answered_with_the_allowed_ones(self, name):
        workload = registry.get(name)
        with self.assertRaises(base.WorkloadError) as caught:
            workload.complete({"nonsense": 1})
        message = str(caught.exception)
        for word in (name, "nonsense", *workload.ARGUMENTS["properties"]):
            self.assertIn(word, message)
