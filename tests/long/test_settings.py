# SPDX-License-Identifier: Apache-2.0
"""Two variants of a guest, with temporary copies of flavors and images."""

from tests import patience
from tests.functional import test_settings
from tests.long import long
from tests.long import measuring


@long.LONG
class TestSettings(test_settings.SettingsCase):
    """Guests show which settings took effect, and work in turn."""

    def test_two_variants(self):
        """Copies are made, guests are verified, and nothing is left."""
        lab = self.laboratory
        lab.use("admin")
        journals = lab.journals()
        process = self.start(
            repetitions=2,
            warmup=0,
            arguments={"iperf3": {"time": 1}, "ping": {"count": 3}},
            limits={"vmperf_valid": measuring.ANY_FINDING},
            guest_options={"ssh_timeout": round(patience.seconds(300))},
        )
        self.check_ended(0, process)
        records = lab.records(self.new_journal(journals, process))
        for record in records:
            measured = record.repetition
            self.assertEqual("complete", measured.state)
            self.assertEqual(
                [("virtio", ("g1",)), ("e1000", ("g2",))],
                [
                    (condition.axes["variant"], condition.machines)
                    for condition in measured.conditions
                ],
            )
        self.assertEqual(
            [{1, 2}, {1, 2}],
            [
                {
                    record.repetition.conditions[index].position
                    for record in records
                }
                for index in (0, 1)
            ],
        )
        virtio, e1000 = records[-1].repetition.conditions
        self.assertEqual(
            {
                (
                    "variant_not_proven",
                    "quota:cpu_shares=2048 was requested, neither g1 nor "
                    "Nova shows it",
                )
            },
            _find_settings(virtio),
        )
        self.assertEqual(
            {
                (
                    "variant_not_applied",
                    "hw_cpu_threads=2 was requested, g2 has 1",
                )
            },
            _find_settings(e1000),
        )
        # A paused guest has no wrong clock.
        self.assertNotIn(
            "clock_wrong", {finding.kind for finding in e1000.findings}
        )
        facts = lab.machines(records[0])
        self.assertEqual(
            test_settings.PROPERTIES, facts["g2"]["nova"]["settings"]
        )
        self.assertEqual("vmperf.tiny", facts["g1"]["nova"]["flavor"]["name"])
        self.assertIn("nodes", facts["g1"]["nova"]["topology"])
        self.assertEqual(
            ["virtio_net", "e1000"],
            [
                card["driver"]
                for name in ("g1", "g2")
                for card in facts[name]["fingerprint"]["network_interfaces"]
            ],
        )


def _find_settings(condition):
    """Return the findings on settings of a condition as a set."""
    return {
        (finding.kind, finding.detail)
        for finding in condition.findings
        if finding.kind.startswith("variant_")
    }
