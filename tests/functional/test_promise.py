"""A flavor with a limit on reads: delivered and enforced."""

from tests.functional import test_main_job


class TestPromise(test_main_job.MainJobCase):
    """The SLA vmperf_promise on a real guest without bare metal."""

    def find_verdict(self, **options):
        """Run the main job; return the verdict on the promises, and records.

        :param options: The options of the SLA.
        """
        lab = self.laboratory
        lab.use("member")
        arguments = {
            **test_main_job.SMALL,
            "baseline": "none",
            "flavors": ["vmperf.limited"],
            "workloads": [
                {
                    "name": "fio",
                    "arguments": {
                        "patterns": ["randread"],
                        "size_mib": 64,
                        "runtime": 5,
                        "depth": 16,
                    },
                }
            ],
            "limits": {
                "vmperf_overhead": {"min": {"disk.*.iops": 1}},
                "vmperf_promise": options,
            },
        }
        before = lab.journals()
        process = lab.start(test_main_job.TASK, **arguments)
        (verdict,) = (
            verdict
            for verdict in lab.verdicts()
            if verdict["criterion"] == "vmperf_promise"
        )
        return verdict, lab.records(self.new_journal(before, process))

    def test_limit_on_reads(self):
        """QEMU enforces the limit, and the guest reaches it."""
        verdict, records = self.find_verdict()
        self.assertTrue(verdict["success"], verdict["detail"])
        measured = records[0].repetition
        (cap,) = (cap for cap in measured.rate_limits if not cap.shared)
        self.assertEqual(
            ("ops/s", 300, "read"), (cap.unit, cap.rate, cap.direction)
        )
        self.assertEqual(
            {"vcpus", "memory", "disk"},
            {size.name for size in measured.sizes},
        )
        for size in measured.sizes:
            self.assertLessEqual(size.least, size.delivered, size)
            self.assertLessEqual(size.delivered, size.promised, size)
