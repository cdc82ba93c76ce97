"""Every task that is shipped or shown passes Rally's validation."""

import json
import unittest

import ddt
import jsonschema
import yaml
from rally import exceptions
from rally import plugins
from rally.env import platform

from rally_vmperf.measurement import limits
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


#: Values that YAML takes for something else, or not at all, unless quoted.
ODD = {
    "baseline": 2024,
    "image": "debian 12, amd64",
    "user": "null",
    "network": "lan: blue",
    "host": "#1",
    "availability_zone": "yes",
    "flavor": 1.5,
    "flavors": [1.5, 'it\'s "big": {x}'],
}


@ddt.ddt
class ShippedTestCase(unittest.TestCase):
    @ddt.data(*SHIPPED)
    def test_without_any_argument(self, path):
        tasks.check(tasks.render(path, {}))

    @ddt.data(*ARGUMENT_FILES)
    def test_with_the_arguments_beside_it(self, path):
        arguments = yaml.safe_load((pages.ROOT / path).read_text())
        task = path.replace(".embedded.yaml", ".yaml")
        self.assertLessEqual(set(arguments), set(tasks.TAKEN[task]))
        tasks.check(tasks.render(task, arguments))

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
            "max_percent": {"*": 20, "disk.*": 30},
            "max": {"network.*": 10},
            "tolerate": ["tool_version_differs"],
            "cpu_seconds": 5,
            "cpu_threads": 2,
            "bzip2_mib": 8,
            "memory_mib": 64,
            "memory_runs": 5,
            "disk_mib": 64,
            "disk_seconds": 5,
            "disk_ramp": 0,
            "network_seconds": 5,
            "guest_options": {"config_drive": True},
            "network_udp_bitrate": 50000000,
        }
        self.assertEqual(set(tasks.ARGUMENTS), set(arguments))
        task = tasks.render(tasks.MAIN, arguments)
        tasks.check(task)
        shown = json.dumps(task)
        for value in ("metal-1", "debian-12", "compute1", "192.0.2.10"):
            self.assertIn(value, shown)

    @ddt.data(*SHIPPED)
    def test_values_are_quoted(self, path):
        """Every value arrives as it was given, and as a text."""
        task = tasks.render(path, ODD)
        for index, subtask in enumerate(task["subtasks"]):
            contexts = subtask["contexts"]
            guests = contexts["vmperf_guests@openstack"]
            flavor = str(ODD["flavors"][index])
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

    def test_density_with_every_argument(self):
        arguments = {
            "baseline": "metal-1",
            "image": "debian-12",
            "user": "debian",
            "flavors": ["m1.small", "m1.large"],
            "levels": {"doubling_to": 8},
            "levels_of": {"m1.large": [1, 2]},
            "order": "shuffled",
            "seed": 5,
            "others": "stopped",
            "stop": {},
            "network": "private",
            "host": "compute1",
            "server_group": "soft-affinity",
            "availability_zone": "nova",
            "peer": tasks.PEER,
            "repetitions": 10,
            "warmup": 0,
            "max_percent": {"*": 20, "disk.*": 30},
            "of": "worst",
            "against": "bare_metal",
            "min_index": {"cpu.*": 0.5},
            "tolerate": ["tool_version_differs"],
            "cpu_seconds": 5,
            "cpu_threads": 2,
            "bzip2_mib": 8,
            "disk_mib": 64,
            "disk_seconds": 5,
            "disk_ramp": 0,
            "network_seconds": 5,
            "guest_options": {"max_host_share": 50},
        }
        self.assertEqual(set(tasks.TAKEN[tasks.DENSITY]), set(arguments))
        task = tasks.render(tasks.DENSITY, arguments)
        tasks.check(task)
        counts = [
            subtask["contexts"]["vmperf_guests@openstack"]["count"]
            for subtask in task["subtasks"]
        ]
        self.assertEqual([8, 2], counts)

    @ddt.data(
        ([3, 1, 2], 3),
        ({"to": 5}, 5),
        ({"from": 2, "to": 4}, 4),
        ({"doubling_to": 1}, 1),
        ({"doubling_to": 7}, 4),
        ({"doubling_to": 32}, 32),
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
        for given, group in (({}, "affinity"), ({"host": "c1"}, None)):
            (subtask,) = tasks.render(tasks.DENSITY, given)["subtasks"]
            guests = subtask["contexts"]["vmperf_guests@openstack"]
            self.assertEqual(group, guests.get("server_group"))

    def test_one_flavor_may_be_a_text(self):
        """Its letters are no flavors."""
        (one,) = tasks.render(tasks.MAIN, {"flavors": "m1.big"})["subtasks"]
        self.assertEqual("Overhead of m1.big", one["title"])

    def test_zero_is_not_the_default(self):
        """It is refused where it makes no sense, and never replaced."""
        task = tasks.render(tasks.MAIN, {"guests": 0})
        with self.assertRaises(exceptions.InvalidTaskConfig):
            tasks.check(task)

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
            seen = [
                entry["arguments"].get("protocol", "tcp")
                for entry in scenario["workloads"]
                if entry["name"] == "iperf3"
            ]
            self.assertEqual(protocols, seen)

    def test_no_default_limit_on_what_is_quantised(self):
        """The latency of sysbench comes in steps as large as a limit."""
        task = tasks.render(tasks.MAIN, {"peer": tasks.PEER})
        sla = task["subtasks"][0]["sla"]["vmperf_overhead"]
        held = limits.Limits(sla["max_percent"])
        self.assertIsNone(held.for_metric("cpu.sysbench.latency_p95"))
        for metric in ("cpu.sysbench.rate", "cpu.bzip2.compress_time"):
            self.assertIsNotNone(held.for_metric(metric))

    @ddt.data(tasks.MAIN, tasks.DENSITY)
    def test_the_task_takes_the_arguments_that_the_reference_names(self, task):
        reference = pages.text("doc/source/reference.rst")
        name = task.partition("/")[2]
        section = reference.partition(f"The task ``{name}``")[2]
        section = section.partition("\n\nThe task ")[0]
        section = section.partition("Commands\n====")[0]
        for argument in tasks.TAKEN[task]:
            self.assertIn(f"``{argument}``", section)

    def test_a_wrong_task_is_refused(self):
        """So that the other tests mean something."""
        wrong = tasks.render(tasks.MAIN, {"max_percent": {"dsik.*": 1}})
        with self.assertRaisesRegex(exceptions.InvalidTaskConfig, "dsik"):
            tasks.check(wrong)


class ShownTestCase(unittest.TestCase):
    def test_yaml_is_valid(self):
        shown = pages.blocks("yaml")
        self.assertTrue(shown)
        for block in shown:
            with self.subTest(place=str(block)):
                tasks.check(tasks.of_block(block.text))

    def test_environments_are_valid(self):
        plugins.load()
        shown = pages.blocks("json")
        self.assertTrue(shown)
        for block in shown:
            with self.subTest(place=str(block)):
                for name, spec in json.loads(block.text).items():
                    schema = platform.Platform.get(name).CONFIG_SCHEMA
                    jsonschema.validate(spec, schema)
