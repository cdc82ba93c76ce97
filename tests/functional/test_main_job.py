# SPDX-License-Identifier: Apache-2.0
"""The main job on real guests, as a plain member of a project."""

import json

from tests.functional import laboratory

SMALL = {
    "baseline": "main",
    "image": "vmperf-guest",
    "flavors": ["vmperf.small"],
    "network": "private",
    "repetitions": 3,
    "warmup": 0,
    "reboot": "never",
    "workloads": [
        {"name": "sysbench", "arguments": {"time": 1, "threads": "vcpus"}},
        {"name": "bzip2", "arguments": {"size_mib": 1}},
        {
            "name": "mbw",
            "arguments": {"size_mib": 16, "runs": 3, "processes": "vcpus"},
        },
        {
            "name": "fio",
            "arguments": {"size_mib": 32, "runtime": 1, "ramp_time": 0},
        },
        {"name": "iperf3", "arguments": {"time": 1}},
        {
            "name": "iperf3",
            "arguments": {"protocol": "udp", "time": 1, "bitrate": 10000000},
        },
    ],
}
OVERHEAD = {
    "max_percent": {
        "cpu.*.rate": 99.99,
        "cpu.*": 100000,
        "memory.*": 99.99,
        "disk.*.iops": 99.99,
        "disk.*.bandwidth": 99.99,
        "disk.*.latency_mean": 1000000,
        "disk.*.latency_p50": 1000000,
        "network.*.throughput": 99.99,
    },
    "tolerate": [
        "guest_faster",
        "bare_metal_is_guest",
        "bare_metal_busy",
        "clock_wrong",
    ],
    "max": {
        "network.*.retransmits": 1000000,
        "network.*.udp.jitter": 10,
        "network.*.udp.loss": 100,
    },
}
SMALL["limits"] = {"vmperf_overhead": OVERHEAD}

TASK = laboratory.TOP / "tasks" / "kvm-overhead.yaml"


class MainJobCase(laboratory.Case):
    """A run of the main job whose verdict is passed."""

    def check_verdict(self):
        """Check that the limits of the last task have passed."""
        (verdict,) = (
            v
            for v in self.laboratory.verdicts()
            if v["criterion"] == "vmperf_overhead"
        )
        self.assertTrue(verdict["success"], verdict["detail"])
        self.assertRegex(verdict["detail"], "^passed: ")
        self.assertIn("rally-vmperf judge", verdict["detail"])

    def check_report(self):
        """Check that Rally writes a report of the last task."""
        report = self.laboratory.folder / "report.html"
        self.laboratory.rally(
            "task", "report", "--html-static", "--out", str(report), check=True
        )
        text = report.read_text()
        for text_of_page in ("cpu.sysbench.rate", "vmperf.small", "svg"):
            self.assertIn(text_of_page, text)

    def judge(self):
        """Judge the last task again; return the completed process."""
        process = self.laboratory.vmperf("judge")
        self.assertEqual(
            0, process.returncode, laboratory.problem_lines(process)
        )
        return process


class TestMainJob(MainJobCase):
    """`rally task start tasks/kvm-overhead.yaml` ends with a verdict."""

    def test_generous_limits_pass_for_a_member(self):
        """Every metric is measured on both sides, judged and reported."""
        lab = self.laboratory
        lab.use("member")
        arguments = {**SMALL, "peer": laboratory.peer()}
        lab.record_baseline(
            "main",
            "--task",
            str(TASK),
            "--task-args",
            json.dumps(arguments),
        )
        before = lab.journals()
        process = lab.start(TASK, **arguments)
        self.check_ended(0, process)
        path = self.new_journal(before, process)
        records = lab.records(path)
        self._check_records(records)
        self.check_verdict()
        self.check_report()
        self._check_judge(records)
        self._check_no_secret(path)

    def _check_records(self, records):
        measured = [record.repetition for record in records]
        self.assertEqual(
            ["complete"] * 3, [repetition.state for repetition in measured]
        )
        for repetition in measured:
            (level,) = repetition.conditions
            sampled = {
                observation.sample.metric for observation in level.observations
            }
            # Where requests are enough, percentiles come beside these.
            self.assertLessEqual(set(repetition.expected_metrics), sampled)
            families = {metric.name.split(".")[0] for metric in sampled}
            self.assertEqual(
                {"cpu", "memory", "disk", "network", "guest"}, families
            )
            kinds = {finding.kind for finding in repetition.findings}
            self.assertIn("peer_on_host", kinds)
            self.assertIn("placement_unknown", kinds)
        first = records[0].machines[0].name
        guest = self.laboratory.machines(records[0])[first]
        self.assertIn("fio", guest["tools"])
        self.assertTrue(guest["fingerprint"]["kernel"])

    def _check_judge(self, records):
        """Rally's task in use has the same verdict once more."""
        process = self.judge()
        for metric in records[0].repetition.expected_metrics:
            self.assertIn(metric.name, process.stdout)

    def _check_no_secret(self, path):
        secret = laboratory.pathlib.Path(
            laboratory.CLOUD, "etc", "id_ed25519"
        ).read_text()
        for word in ("PRIVATE KEY", secret.splitlines()[1]):
            self.assertNotIn(word, path.read_text())
