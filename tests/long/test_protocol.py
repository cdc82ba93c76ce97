# SPDX-License-Identifier: Apache-2.0
"""A real guest that boots anew between repetitions, and drops its caches."""

import pathlib

from tests.functional import laboratory
from tests.long import long

TASK = pathlib.Path(__file__).parent / "tasks" / "protocol.yaml"


@long.LONG
class TestProtocol(laboratory.Case):
    """The guest itself reports its boot and its page cache."""

    def test_reboot_and_cold_caches(self):
        """The boot is counted and gives no finding; the cache is smaller."""
        lab = self.laboratory
        lab.use("member")
        before = lab.journals()
        process = lab.start(TASK)
        self.check_ended(0, process)
        for verb in ("stop g1", "start g1"):
            self.assertIn(verb, f"{process.stdout}{process.stderr}")
        records = lab.records(self.new_journal(before, process))
        self.assertEqual(
            ["complete"] * 2, [record.repetition.state for record in records]
        )
        first, second = (self._values(record) for record in records)
        self.assertNotEqual(second["warm.booted"], first["warm.booted"])
        for values in (first, second):
            self.assertLess(values["cold.cached"], values["warm.cached"])
        for count, record in enumerate(records, 1):
            (guest,) = record.machines
            self.assertEqual(f"#{count}", guest.boot_id[-2:])
            measured = record.repetition
            kinds = {
                finding.kind
                for carrier in (measured, *measured.conditions)
                for finding in carrier.findings
            }
            self.assertNotIn("guest_rebooted", kinds)
            warm, cold = record.workloads
            self.assertFalse(warm.drop_caches)
            self.assertTrue(cold.drop_caches)
            self.assertEqual("between_repetitions", record.options["reboot"])

    def _values(self, record):
        """Return the values from the guest: label and metric -> value."""
        (level,) = record.repetition.conditions
        return {
            observation.sample.metric.name.removeprefix(
                "application.job."
            ): observation.sample.value
            for observation in level.observations
        }
