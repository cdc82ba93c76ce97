# SPDX-License-Identifier: Apache-2.0
"""Every study, with its arguments for the embedded cloud."""

import ddt
import yaml

from tests.functional import laboratory
from tests.long import long
from tests.long import measuring

FOLDER = laboratory.TOP / "tasks"
STUDIES = sorted(
    path.name.partition(".")[0] for path in FOLDER.glob("study-*.embedded.*")
)

LOAD_AGENTS = "study-load-agents"


@long.LONG
@ddt.ddt
class TestStudies(measuring.MeasuringCase):
    """The measures of a study are measured and judged."""

    @ddt.data(*STUDIES)
    def test_measures(self, name):
        """Its repetitions are whole, and each metric has a row."""
        self.measure_study(name)

    def test_load_agents_and_bare_metal(self):
        """As many agents as there are CPUs, without variants."""
        embedded = (FOLDER / f"{LOAD_AGENTS}.embedded.yaml").read_text()
        limits = yaml.safe_load(embedded)["limits"]
        self.measure_study(
            LOAD_AGENTS,
            agents=2,
            baseline=LOAD_AGENTS,
            limits={
                **limits,
                # Emulated guests answer tens of times later than bare metal.
                "vmperf_overhead": {
                    "max_percent": {
                        "network.*.rate": 99.9,
                        "network.*.response_time_mean": 9000,
                    },
                    "tolerate": limits["vmperf_spread"]["tolerate"],
                },
            },
            migration=False,
            variants=[],
        )

    def measure_study(self, name, **changes):
        """Measure a study with changes to its embedded arguments."""
        path = FOLDER / f"{name}.yaml"
        embedded = (FOLDER / f"{name}.embedded.yaml").read_text()
        arguments = {**yaml.safe_load(embedded), **changes}
        if "peer" in arguments:
            self.assertEqual(laboratory.peer(), arguments["peer"])
        task = measuring.render(path, arguments)
        if arguments.get("migration"):
            # Only an administrator migrates guests.
            self.laboratory.use("admin")
        if measuring.baselines(task):
            arguments["baseline"] = name
        if "unixbench" in {
            workload["name"] for workload in measuring.workloads(task)
        }:
            arguments["arguments"]["unixbench"]["source"] = measuring.UNIXBENCH
        arguments["image"] = measuring.IMAGE
        self.measure(path, **arguments)
        if arguments.get("migration"):
            verdict = self.laboratory.vmperf("judge").stdout
            self.assertRegex(verdict, r"passed +guest\.event\.downtime")
