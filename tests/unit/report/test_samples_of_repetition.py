# SPDX-License-Identifier: Apache-2.0
import unittest

from rally_vmperf import sanitize
from rally_vmperf.measurement import repetition
from rally_vmperf.records import model
from rally_vmperf.report import samples
from tests.unit import made


def rows_of(record):
    """Return the rows of Rally's table."""
    return samples.of_repetition(record)


class RepetitionTableTestCase(unittest.TestCase):
    def test_samples_have_units_and_state(self):
        rows = rows_of(made.run_record())
        self.assertEqual(len(made.METRICS), len(rows))
        guest, metric, value, state = rows[0]
        self.assertEqual(("g1", "cpu.events.rate"), (guest, metric))
        self.assertEqual("complete", state)
        self.assertRegex(value, r"^3 \d{3} events/s$")

    def test_warm_up_and_what_is_missing_are_told(self):
        rows = rows_of(made.incomplete(made.run_record(counted=False)))
        self.assertEqual("warm-up, not counted", rows[0][3])
        self.assertEqual(
            ["g1", "disk.fio.randread.iops", "missing", "fio: no space left"],
            rows[-1],
        )

    def test_levels_are_told_apart(self):
        record = made.with_condition(
            made.density_record(levels=(1, 2, 3)),
            2,
            skip_reason="</the total fell",
            **made.SKIPPED,
        )
        rows = rows_of(record)
        self.assertEqual("1 guest at once: complete", rows[0][3])
        self.assertEqual(6 + 12 + 1, len(rows))
        self.assertEqual(["g2", "2 guests at once: complete"], rows[17][::3])
        self.assertEqual(
            f"3 guests at once: skipped, {sanitize.LESS}/the total fell",
            rows[18][3],
        )

    def test_nothing_that_ends_rallys_script(self):
        gap = repetition.Missing(
            name="fio",
            machine="g1",
            reason="</script><script>alert(1)</script>",
        )
        record = made.with_condition(made.run_record(), missing=(gap,))
        cells = [cell for row in rows_of(record) for cell in row]
        self.assertFalse([cell for cell in cells if "<" in cell])

    def test_damaged_record_does_not_break_rallys_report(self):
        for damaged in ({}, None, {"state": "complete"}):
            (row,) = rows_of(model.decode_or_none(damaged))
            self.assertEqual("the record cannot be read", row[3])
