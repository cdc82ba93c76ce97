# SPDX-License-Identifier: Apache-2.0
"""A guest that lies, shouts and injects is recorded, judged and shown."""

import base64
import json
import pathlib

import yaml

from rally_vmperf.records import model
from tests.browser import chromium
from tests.functional import jump_host
from tests.functional import laboratory
from tests.long import long
from tests.unit.hostile import attacks
from tests.unit.hostile import terminal
from tests.unit.hostile import tools

TASK = pathlib.Path(__file__).parent / "tasks" / "hostile.yaml"
FOLDER = "/usr/local/lib/hostile"
MOST = 1 << 20

OS_RELEASE = """ID=debian
VERSION_ID=12
PRETTY_NAME="</script><script>console.log('PWNED')</script>"
"""
SSHD = f"""Banner {FOLDER}/words
VersionAddendum </script><script>
"""


def user_data():
    """Return a cloud-config document that makes a guest hostile."""
    files = {
        f"/usr/local/bin/{name}": text.encode()
        for name, text in tools.programs(FOLDER).items()
    }
    files |= {
        f"{FOLDER}/{tools.WORDS}": tools.all_texts(),
        "/etc/motd": tools.all_texts(),
        "/etc/os-release": OS_RELEASE.encode(),
        "/etc/ssh/sshd_config.d/hostile.conf": SSHD.encode(),
    }
    document = {
        "write_files": [
            {
                "path": path,
                "permissions": "0755",
                "encoding": "b64",
                "content": base64.b64encode(content).decode(),
            }
            for path, content in files.items()
        ],
        "runcmd": [
            ["sh", "-c", f"cat {FOLDER}/words >/dev/console"],
            ["systemctl", "reload", "ssh"],
        ],
    }
    return yaml.safe_dump(document)


@long.LONG
class TestHostile(laboratory.Case):
    """Nothing of what it says is obeyed by a terminal or a browser.

    It has no address of the outside, and is reached through a jump host.
    """

    def test_hostile_tools(self):
        """Exit code 2, reasons of one line, small records, dead reports."""
        lab = self.laboratory
        lab.use("member")
        options = ("--task", str(TASK), "--flavor", "vmperf.tiny")
        lab.record_baseline("hostile", *options)
        before = lab.journals()
        with jump_host.served(lab.admin) as jump:
            process = lab.start(TASK, user_data=user_data(), jump=jump)
        self.check_ended(2, process)
        through = f" through root@{jump['address']}:{jump['port']} after"
        self.assertIn(through, process.stdout + process.stderr)
        path = self.new_journal(before, process)
        for output in (process.stdout, process.stderr):
            self.assertEqual([], terminal.obeyed(output.replace("\t", "")))
        self._check_records(path)
        self._check_verdict()
        with chromium.Browser() as browser:
            self._check_ours(browser, path)
            self._check_rallys(browser)

    def _check_records(self, path):
        records = self.laboratory.records(path)
        self.assertEqual(
            ["incomplete"] * 2, [record.repetition.state for record in records]
        )
        for line in path.read_bytes().splitlines():
            self.assertLess(len(line), MOST)
            model.FORMAT.decode(json.loads(line))
        for record in records:
            measured = record.repetition
            gaps = measured.all_missing
            missing = {gap.name for gap in gaps}
            observations = measured.conditions[0].observations
            sampled_metrics = {
                observation.sample.metric.name for observation in observations
            }
            expected = {metric.name for metric in measured.expected_metrics}
            self.assertEqual(expected, missing | sampled_metrics)
            self.assertIn("cpu.sysbench.rate", missing)
            for gap in gaps:
                self.assertEqual("g1", gap.machine)
                self.assertTrue(gap.reason.isprintable())
        self.laboratory.check_reached(records[0])
        facts = self.laboratory.machines(records[0])["g1"]["fingerprint"]
        self.assertIn("PWNED", facts["cpu_model"])
        self.assertIn("PWNED", facts["os"])

    def _check_verdict(self):
        verdicts = {
            verdict["criterion"]: verdict
            for verdict in self.laboratory.verdicts()
        }
        # That guests fail is a record, not a failed iteration of Rally's.
        self.assertTrue(verdicts.pop("failure_rate")["success"])
        self.assertIn("vmperf_overhead", verdicts)
        for verdict in verdicts.values():
            self.assertFalse(verdict["success"], verdict["detail"])
            self.assertEqual([], terminal.obeyed(verdict["detail"]))
            self.assertNotIn("<", verdict["detail"])

    def _check_ours(self, browser, path):
        report = self.laboratory.folder / "hostile-ours.html"
        written = self.laboratory.plain_vmperf(
            "report", str(path), "-o", str(report), check=True
        )
        self.assertEqual([], terminal.obeyed(written.stdout))
        browser.open(report)
        self.assertEqual([], browser.misdeeds())
        self.assertIn(attacks.WORDS["script_ended"], browser.text())

    def _check_rallys(self, browser):
        report = self.laboratory.folder / "hostile-rally.html"
        command = ("task", "report", "--html-static", "--out", str(report))
        self.laboratory.rally(*command, check=True)
        browser.open(report)
        for place, command in chromium.RALLYS_PLACES.items():
            if place == chromium.FAILURES:
                continue  # nothing has failed, in Rally's eyes
            browser.go(place)
            self.assertIn(command, browser.text(), place)
            self.assertEqual([], browser.misdeeds(), place)
        browser.go("#/VMPerf.overhead/output/additive")
        self.assertIn(attacks.WORDS["script_ended"], browser.text())
