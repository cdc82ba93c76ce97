"""Guests with temporary copies of a flavor and an image."""

from tests import patience
from tests.functional import laboratory

#: One that the guest shows, one that Nova cannot apply to a single vCPU.
PROPERTIES = {"hw_vif_model": "e1000", "hw_cpu_threads": "2"}
SPECS = {"hw:cpu_policy": "shared", "quota:cpu_shares": "2048"}


class TestSettings(laboratory.Case):
    """The guest shows which settings took effect."""

    def test_extra_specs_and_image_properties(self):
        """Copies are made, the guest is verified, and nothing is left."""
        lab = self.laboratory
        lab.use("admin")
        journals = lab.journals()
        process = lab.start(
            laboratory.TASKS / "density.yaml",
            levels=[1],
            count=1,
            times=1,
            workloads=[{"name": "sysbench", "arguments": {"time": 1}}],
            guest_options={
                "ssh_timeout": round(patience.seconds(300)),
                "extra_specs": SPECS,
                "image_properties": PROPERTIES,
            },
        )
        self.check_ended(0, process)
        (record,) = lab.records(self.new_journal(journals, process))
        findings = {
            (finding["kind"], finding["detail"])
            for finding in record["findings"]
            if finding["kind"].startswith("variant_")
        }
        self.assertEqual(
            {
                (
                    "variant_not_applied",
                    "hw_cpu_threads=2 was requested, g1 has 1",
                ),
                (
                    "variant_not_proven",
                    "quota:cpu_shares=2048 was requested, neither g1 nor "
                    "Nova shows it",
                ),
            },
            findings,
        )
        facts = lab.machines(record)["g1"]
        self.assertEqual({**SPECS, **PROPERTIES}, facts["nova"]["settings"])
        self.assertEqual("vmperf.tiny", facts["nova"]["flavor"]["name"])
        self.assertIn("nodes", facts["nova"]["topology"])
        (card,) = facts["fingerprint"]["network_interfaces"]
        self.assertEqual("e1000", card["driver"])
