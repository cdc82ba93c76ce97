"""Two variants of a guest, with temporary copies of flavors and images."""

from tests import patience
from tests.functional import laboratory

#: One that the guest shows, one that Nova cannot apply to a single vCPU.
PROPERTIES = {"hw_vif_model": "e1000", "hw_cpu_threads": "2"}
SPECS = {"hw:cpu_policy": "shared", "quota:cpu_shares": "2048"}
VARIANTS = [
    {
        "name": "virtio",
        "extra_specs": SPECS,
        "image_properties": {"hw_vif_model": "virtio"},
    },
    {"name": "e1000", "image_properties": PROPERTIES},
]


class TestSettings(laboratory.Case):
    """Guests show which settings took effect, and work in turn."""

    def start(self, **arguments):
        """Run the task of two variants; return the completed process."""
        return self.laboratory.start(
            laboratory.TOP / "tasks" / "nic-models.yaml",
            variants=VARIANTS,
            flavors=["vmperf.tiny"],
            network="public",
            peer=laboratory.peer(),
            **arguments,
        )

    def test_extra_specs_without_an_administrator(self):
        """The validation rejects them, with the way out."""
        self.laboratory.use("member")
        process = self.start()
        self.assertNotEqual(0, process.returncode)
        self.assertIn(
            f"extra_specs={SPECS!r} of group 'virtio': only an administrator "
            "creates flavors; add an admin",
            process.stdout,
        )

    def test_two_variants(self):
        """Copies are made, guests are verified, and nothing is left."""
        lab = self.laboratory
        lab.use("admin")
        journals = lab.journals()
        process = self.start(
            repetitions=2,
            warmup=0,
            network_seconds=1,
            ping_count=3,
            vmperf_valid=False,
            guest_options={"ssh_timeout": round(patience.seconds(300))},
        )
        self.check_ended(0, process)
        records = lab.records(self.new_journal(journals, process))
        for record in records:
            self.assertEqual("complete", record["state"])
            self.assertEqual(
                [("virtio", ["g1"]), ("e1000", ["g2"])],
                [
                    (condition["axes"]["variant"], condition["machines"])
                    for condition in record["conditions"]
                ],
            )
        self.assertEqual(
            [{1, 2}, {1, 2}],
            [
                {record["conditions"][index]["position"] for record in records}
                for index in (0, 1)
            ],
        )
        virtio, e1000 = records[-1]["conditions"]
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
            "clock_wrong", {finding["kind"] for finding in e1000["findings"]}
        )
        facts = lab.machines(records[0])
        self.assertEqual(PROPERTIES, facts["g2"]["nova"]["settings"])
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
        (finding["kind"], finding["detail"])
        for finding in condition["findings"]
        if finding["kind"].startswith("variant_")
    }
