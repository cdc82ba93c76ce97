# SPDX-License-Identifier: Apache-2.0
"""A flavor with a limit on reads: delivered and enforced."""

from tests import patience
from tests.functional import test_main_job


class PromiseCase(test_main_job.MainJobCase):
    """The SLA vmperf_promise on a real guest without bare metal."""

    #: The user of the embedded cloud.
    user = "member"

    def setUp(self):
        """Work as the user."""
        super().setUp()
        self.laboratory.use(self.user)

    def create_arguments(self, flavor, *, fio=(), **guest_options):
        """Return the arguments of the main job with random reads.

        :param flavor: The name of the flavor.
        :param fio: Further arguments of fio.
        :param guest_options: Further options of the guests.
        """
        arguments = {
            **{"patterns": ["randread"], "size_mib": 64},
            **{"runtime": 5, "depth": 16},
            **dict(fio),
        }
        ssh_timeout = round(patience.seconds(400))
        return {
            **test_main_job.SMALL,
            "baseline": "none",
            "flavors": [flavor],
            "workloads": [{"name": "fio", "arguments": arguments}],
            "guest_options": {"ssh_timeout": ssh_timeout, **guest_options},
            "limits": {
                "vmperf_overhead": {"min": {"disk.*.iops": 1}},
                "vmperf_promise": {},
            },
        }

    def find_verdict(self, arguments, during=None):
        """Run the main job; return the verdict on the promises, and records.

        :param arguments: The arguments of the task.
        :param during: The function that is called with the process while the
            job runs.
        """
        lab = self.laboratory
        before = lab.journals()
        with lab.started(test_main_job.TASK, **arguments) as process:
            if during:
                during(process)
            process.wait(patience.seconds(900))
        text = process.log.read_text()
        new = lab.journals() - before
        self.assertEqual(1, len(new), text[-3000:])
        (verdict,) = (
            verdict
            for verdict in lab.verdicts()
            if verdict["criterion"] == "vmperf_promise"
        )
        return verdict, lab.records(new.pop())


class TestPromise(PromiseCase):
    """The promises of a flavor."""

    def test_limit_on_reads(self):
        """QEMU enforces the limit, and the guest reaches it."""
        verdict, records = self.find_verdict(
            self.create_arguments("vmperf.limited")
        )
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
