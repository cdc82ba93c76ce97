# SPDX-License-Identifier: Apache-2.0
"""The main job without a baseline of bare metal."""

from tests.functional import test_main_job


class TestWithoutBareMetal(test_main_job.MainJobCase):
    """Limits on the values of guests that boot before each repetition."""

    def test_guests_without_bare_metal(self):
        """Guests are judged by their values, and the report shows them."""
        lab = self.laboratory
        lab.use("member")
        arguments = {
            **test_main_job.SMALL,
            "baseline": "none",
            "reboot": "auto",
            "limits": {
                "vmperf_overhead": {
                    "max": {"disk.*.latency_mean": 1000},
                    "min": {"cpu.*.rate": 0.001, "memory.*": 1},
                    "tolerate": test_main_job.OVERHEAD["tolerate"],
                }
            },
        }
        before = lab.journals()
        process = lab.start(test_main_job.TASK, **arguments)
        self.check_ended(0, process)
        records = lab.records(self.new_journal(before, process))
        for record in records:
            for condition in record.repetition.conditions:
                self.assertEqual((), condition.reference.repetitions)
        self.assertEqual(
            ["#1", "#2", "#3"],
            [record.machines[0].boot_id[-2:] for record in records],
        )
        self.check_verdict()
        self.check_report()
        self.assertIn("cpu.sysbench.rate", self.judge().stdout)
