"""`tempest run` asks the same question, of guests on Tempest's credentials."""

import configparser
import pathlib
import subprocess

import yaml

from tests import patience
from tests.functional import laboratory

#: The processor is within its limit, the memory beyond any.
LIMITS = {
    "vmperf_overhead": {
        "max_percent": {"cpu.*.rate": 99.99, "memory.*": -1000},
        "tolerate": ["guest_faster"],
    }
}


class TestTempest(laboratory.Case):
    """One boot, one test that passes and one that says why it fails."""

    def test_wide_limits_pass_and_strict_ones_fail(self):
        """Verdict, records and reports are there, and nothing is left."""
        lab = self.laboratory
        task = laboratory.TASKS / "tempest.yaml"
        lab.record_baseline(
            "tempest",
            *("--task", str(task), "--flavor", "vmperf.tiny"),
        )
        before = lab.journals()
        folder = self._workspace()
        done = self._tempest(
            folder, "run", "--serial", "--regex", r"vmperf.*test_(cpu|memory)"
        )
        said = done.stdout + done.stderr
        self.assertEqual(1, done.returncode, said[-4000:])
        self.assertRegex(said, r"TestOverhead\.test_cpu.*ok")
        self.assertRegex(said, r"TestOverhead\.test_memory.*FAILED")
        self.assertRegex(said, r"failed: \d+ of \d+ metrics are beyond")
        self.assertIn("limit -1000 %: failed", said)
        new = lab.journals() - before
        self.assertEqual(2, len(new), said[-4000:])
        for path in new:
            records = lab.records(path)
            self.assertEqual(
                ["complete"] * 3, [one["state"] for one in records]
            )
            self.assertTrue(path.with_suffix(".html").exists())
        self.assertEqual([], list((lab.journal_dir / "owners").glob("*.json")))

    def _workspace(self) -> pathlib.Path:
        """Return a workspace of Tempest's for the embedded cloud."""
        lab = self.laboratory
        folder = lab.folder / "tempest"
        self._tempest(lab.folder, "init", folder.name)
        limits = lab.folder / "tempest-limits.yaml"
        limits.write_text(yaml.safe_dump(LIMITS))
        conf = configparser.RawConfigParser()
        conf.read(pathlib.Path(laboratory.CLOUD, "tempest.conf"))
        flavor = lab.admin.compute.find_flavor("vmperf.tiny").id
        conf["compute"]["flavor_ref"] = flavor
        conf["vmperf"] = {
            "baseline_dir": f"{lab.folder}/baselines",
            "journal_dir": str(lab.journal_dir),
            "baseline": "tempest",
            "limits_file": str(limits),
            "repetitions": "3",
            "warmup": "0",
        }
        with open(folder / "etc" / "tempest.conf", "w") as stream:
            conf.write(stream)
        return folder

    def _tempest(self, folder: pathlib.Path, *words: str):
        return subprocess.run(
            [str(laboratory.BIN / "tempest"), *words],
            cwd=folder,
            env=laboratory._environment(self.laboratory.folder),
            capture_output=True,
            text=True,
            timeout=patience.seconds(600),
            check=False,
        )
