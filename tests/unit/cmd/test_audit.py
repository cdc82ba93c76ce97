# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that compares hosts."""

import contextlib
import csv
import datetime
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt
import yaml

from rally_vmperf import errors
from rally_vmperf.cmd import audit
from rally_vmperf.cmd import rally_api
from rally_vmperf.guests import cloud
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import model
from tests.unit import made
from tests.unit.guests import testing

FACTORS = (1.0, 1.004, 0.996, 1.002)
RATE = "cpu.sysbench.rate"


@ddt.ddt
class TestAudit(unittest.TestCase):
    """The exit code is 2 if a host is worse or has no result."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.failed = mock.patch.object(
            rally_api, "list_failed_hosts", autospec=True, return_value={}
        ).start()
        self.loaded = mock.patch.object(
            rally_api, "load", autospec=True
        ).start()
        self.cloud = testing.FakeCloud()
        self.platform = {"admin": object(), "users": []}
        mock.patch.object(
            rally_api,
            "get_platform",
            autospec=True,
            return_value=self.platform,
        ).start()
        mock.patch.object(
            cloud, "connect", autospec=True, return_value=self.cloud
        ).start()
        self.addCleanup(mock.patch.stopall)
        self.now = datetime.datetime.now(datetime.UTC)

    def write(
        self,
        host,
        rate=100.0,
        task="t1",
        days=1,
        factors=FACTORS,
        **changes,
    ):
        """Write the journal of a host that was measured some days ago."""
        time = self.now - datetime.timedelta(days=days)
        for number, factor in enumerate(factors, start=1):
            record = made.record(
                run=f"{task}-{host}",
                task=task,
                number=number,
                planned_repetitions=len(FACTORS),
                started_at=time.isoformat(),
                finished_at=(
                    time + datetime.timedelta(minutes=number)
                ).isoformat(),
                machines=(made.machine("g1", host=host),),
                conditions=[
                    made.build_condition(
                        number, {made.EVENTS: [rate * factor]}
                    )
                ],
                **changes,
            )
            journal.Journal(self.folder, record.repetition.run).append(record)

    def write_hosts(self, slow=0.8):
        """Write the journals of three hosts, of which h2 is slow."""
        for host in ("h1", "h2", "h3"):
            self.write(host, 100 * slow if host == "h2" else 100.0)

    def audit(self, *arguments):
        """Return the exit code and the output."""
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = audit.Audit(app, None)
        parsed = command.get_parser("audit").parse_args(
            [*map(str, arguments), "--journal-dir", str(self.folder)]
        )
        code = command.run(parsed)
        self.warnings = app.stderr.getvalue()
        return code, app.stdout.getvalue()

    @ddt.data(
        ["last"], ["--days", "7"], ["DIRECTORY"], ["last", "--days", "1"]
    )
    def test_slow_host(self, arguments):
        """It is named and no other, whatever selects the runs."""
        self.write_hosts()
        argv = [
            str(self.folder) if argument == "DIRECTORY" else argument
            for argument in arguments
        ]
        code, text = self.audit(*argv)
        self.assertEqual(2, code)
        lines = text.splitlines()
        self.assertRegex(lines[1], rf"^h2 +worse .* {RATE} 20.\d %$")
        self.assertEqual("3 hosts: 1 worse, 2 not worse.", lines[-1])

    def test_equal_hosts(self):
        """Exit with 0."""
        self.write_hosts(slow=1.0)
        code, text = self.audit("last")
        self.assertEqual(0, code)
        self.assertIn("3 hosts: 0 worse, 3 not worse.", text)

    def test_failed_host(self):
        """It has the reason from Rally, and does not pass."""
        self.write_hosts(slow=1.0)
        self.failed.return_value = {"t1": {"h4": "no valid host was found"}}
        code, text = self.audit("last")
        self.assertEqual(2, code)
        self.assertRegex(text, "h4 +no result .*no valid host was found")
        self.assertEqual(["t1"], self.failed.call_args.args[1])

    def test_no_database(self):
        """It is a warning."""
        self.write_hosts(slow=1.0)
        self.failed.side_effect = RuntimeError("no such table\nmore")
        self.assertEqual(0, self.audit("last")[0])
        self.assertRegex(self.warnings, "not listed, .*: no such table\n$")

    def test_old_runs(self):
        """They are not among those of the last days."""
        self.write_hosts()
        self.write("h4", 50.0, task="old", days=40)
        _, text = self.audit("--days", "30")
        self.assertNotIn("h4", text)
        _, text = self.audit("--days", "60")
        self.assertRegex(text, "h4 +worse")

    def test_margin(self):
        """Accepts a loss."""
        self.write_hosts()
        self.assertEqual(0, self.audit("last", "--margin", "30")[0])
        self.assertEqual(0, self.audit("last", "--margin", "cpu.*=30")[0])
        with self.assertRaisesRegex(errors.VMPerfError, "--margin: "):
            self.audit("last", "--margin", "disk.*=30")

    def test_acknowledged(self):
        """A known difference exits with 0."""
        self.write_hosts()
        path = self.folder / "known.yaml"
        path.write_text(
            "- {host: h2, loss_percent: 30, until: 2999-12-31, reason: old}\n"
        )
        code, text = self.audit("last", "--acknowledge", path)
        self.assertEqual(0, code)
        self.assertIn("acknowledged", text)
        path.write_text(
            "- {host: h2, loss_percent: 30, until: 2020-12-31, reason: old}\n"
        )
        code, text = self.audit("last", "--acknowledge", path)
        self.assertEqual(2, code)
        self.assertIn("expired on 2020-12-31", text)
        path.write_text(
            "- {host: h2, loss_percent: 10, until: 2999-12-31, reason: old}\n"
        )
        code, text = self.audit("last", "--acknowledge", path)
        self.assertEqual(2, code)
        self.assertIn("20.0 %, beyond the acknowledged 10 %", text)
        path.write_text("- {host: h2, until: 2999-12-31, reason: old}\n")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            r"^--acknowledge .*known.yaml is damaged: \$\[0\]: 'loss_percent' "
            "is a required property$",
        ):
            self.audit("last", "--acknowledge", path)

    @ddt.data(True, False)
    def test_undecided(self, has_limit):
        """It does not pass if the metric has a limit in the task."""
        criteria = {"vmperf_overhead": {"min": {"cpu.*": 50}}}
        for host, rate in (("h1", 95.3), ("h2", 100.0), ("h3", 100.0)):
            self.write(host, rate, criteria=criteria if has_limit else {})
        code, text = self.audit("last")
        self.assertEqual(2 if has_limit else 0, code)
        self.assertRegex(text, "h1 +undecided ")
        self.assertEqual(has_limit, "Undecided: 1 host; " in self.warnings)
        code, text = self.audit("last", "--margin", "5")
        self.assertEqual(2, code)
        self.assertIn(f"undecided: {RATE} 4.7 %", text)
        options = ("--margin", "5", "--on-inconclusive", "pass")
        self.assertEqual(0, self.audit("last", *options)[0])
        self.assertEqual("", self.warnings)

    def test_two_hosts(self):
        """They differ, and neither is worse."""
        self.write("h1")
        self.write("h2", 80.0)
        code, text = self.audit("last")
        self.assertEqual(2, code)
        self.assertIn("2 hosts: 0 worse, 2 differ.", text)

    def test_lost_cpus(self):
        """A host with fewer CPUs than the others of its model is named."""
        for number, name in enumerate(("h1", "h2", "h3", "h4")):
            facts = {
                "nova": {"host": name, "host_vcpus": 32 if number else 16},
                "fingerprint": {"cpu_model": "Xeon"},
                "tools": {},
            }
            reference = files.write_machines(self.folder, {"g1": facts}, print)
            rate = 100.0 if number else 50.0
            self.write(name, rate, machines_file=reference)
        code, text = self.audit("last")
        self.assertEqual(2, code)
        self.assertRegex(
            text,
            "h1 +worse .* 16 CPUs; 3 hosts of this CPU model have 32; no",
        )

    def test_earlier(self):
        """Hosts that all became slower are found."""
        for host in ("h1", "h2"):
            self.write(host, task="before", days=9)
            self.write(host, 80.0, task="now")
        self.assertEqual(0, self.audit("last")[0])
        code, text = self.audit("last", "--earlier", "last:2")
        self.assertEqual(2, code)
        self.assertEqual(2, text.count(f"slower than before: {RATE} 20.0 %"))

    def test_page_and_file(self):
        """They are written in one run."""
        self.write_hosts()
        page, rows = self.folder / "page.html", self.folder / "rows.csv"
        options = ("--html", page, "-f", "csv", "-o", rows)
        code, text = self.audit("last", *options)
        self.assertEqual((2, f"written to {rows}\n"), (code, text))
        self.assertIn("<h1>Audit of hosts</h1>", page.read_text())
        written = [*csv.DictReader(rows.open())]
        self.assertEqual(
            ["failed", "passed", "passed"],
            [row["status"] for row in written if row["row"] == "verdict"],
        )
        for option in ("--html", "-o"):
            with self.assertRaisesRegex(errors.VMPerfError, "nowhere"):
                self.audit("last", option, self.folder / "nowhere" / "x")

    def test_json(self):
        """It is a document with a row per host and metric."""
        self.write_hosts()
        _, text = self.audit("last", "-f", "json")
        rows = json.loads(text)["rows"]
        self.assertEqual(6, len(rows))

    def test_damaged_journal(self):
        """It is omitted with a warning, if a directory is read."""
        self.write_hosts()
        with (self.folder / "t1-h3.jsonl").open("a") as stream:
            stream.write("{}\n")
        code, text = self.audit(self.folder)
        self.assertEqual(2, code)
        self.assertNotIn("h3", text)
        self.assertRegex(self.warnings, "omitted: journal .*t1-h3.jsonl")

    def test_too_few_repetitions(self):
        """Hosts of one class are not said to have no other host."""
        for host in ("h1", "h2", "h3"):
            self.write(host, factors=FACTORS[:2])
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "no host can be compared: requires 3 counted repetitions and has "
            "2$",
        ):
            self.audit(self.folder)

    def test_nothing_to_compare(self):
        """It is an error, exit code 1."""
        self.write("h1")
        with self.assertRaisesRegex(
            errors.VMPerfError, "no host can be compared: no other host"
        ):
            self.audit("last")

    def test_no_runs(self):
        """Says how to make some."""
        with self.assertRaisesRegex(errors.VMPerfError, "RUN is missing"):
            self.audit()
        with self.assertRaisesRegex(audit.SelectionError, "rally task start"):
            self.audit(self.folder)

    @ddt.data(
        "--days=800000",
        "--days=0",
        "--days=x",
        "--min-guests=a",
        "--min-guests=m=-1",
    )
    def test_invalid_numbers(self, option):
        """They are rejected by the parser."""
        with (
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(SystemExit),
        ):
            self.audit("last", option)

    def test_min_guests_without_numbers(self):
        """It is an error."""
        self.write_hosts()
        with self.assertRaisesRegex(errors.VMPerfError, "density: true"):
            self.audit("last", "--min-guests", "4")

    def test_list_hosts(self):
        """Writes the argument of the task, without recent results."""
        self.cloud.compute.all_zones = {"nova": ["h1", "h2", "h3", "h4"]}
        self.write_hosts()
        self.write("h4", days=40, task="old")
        code, text = self.audit("--list-hosts")
        self.loaded.assert_called_once_with(None)
        self.assertEqual((0, {"hosts": ["h4"]}), (code, yaml.safe_load(text)))
        self.assertEqual(
            "1 of 4 enabled hosts; 3 have a result of an audit of the last 30 "
            "days\n",
            self.warnings,
        )
        _, text = self.audit("--list-hosts", "--older-than", "50")
        self.assertEqual({"hosts": []}, yaml.safe_load(text))
        _, text = self.audit("--list-hosts", "--older-than", "0")
        self.assertEqual(4, len(yaml.safe_load(text)["hosts"]))

    def test_list_hosts_with_other_runs(self):
        """A run of another test on a host is not its audit."""
        self.cloud.compute.all_zones = {"nova": ["h1", "h2", "h3", "h4", "h5"]}
        self.write_hosts()
        shape = model.RecordedShape(vcpus=8, memory_mib=65536, copies=1)
        self.write("h4", task="another", shape=shape)
        _, text = self.audit("--list-hosts")
        self.assertEqual({"hosts": ["h4", "h5"]}, yaml.safe_load(text))

    def test_list_hosts_with_one_run(self):
        """A run with a part of the metrics of the audit's task."""
        self.cloud.compute.all_zones = {"nova": ["h1", "h2"]}
        self.write("h1")
        _, text = self.audit("--list-hosts")
        self.assertEqual({"hosts": ["h1", "h2"]}, yaml.safe_load(text))

    def test_list_hosts_without_result(self):
        """A host whose run is void is due."""
        self.cloud.compute.all_zones = {"nova": ["h1"]}
        self.write("h1", findings=made.build_findings("wrong_host"))
        _, text = self.audit("--list-hosts")
        self.assertEqual({"hosts": ["h1"]}, yaml.safe_load(text))

    def test_list_hosts_needs_an_administrator(self):
        """The message says how to add one."""
        self.platform["admin"] = None
        with self.assertRaisesRegex(errors.VMPerfError, "has no admin"):
            self.audit("--list-hosts")

    def test_placement_file(self):
        """It is written by one command and read by the other."""
        self.cloud.compute.all_zones = {"nova": ["h1"]}
        path = self.folder / "placement.json"
        self.audit("--list-hosts", "--placement", path)
        self.assertEqual(
            4.0, json.loads(path.read_text())["h1"]["VCPU"]["allocation_ratio"]
        )
        self.write_hosts()
        self.assertEqual(2, self.audit("last", "--placement", path)[0])
        self.assertEqual(2, self.audit("last", "--placement")[0])
        path.write_text("[]")
        with self.assertRaisesRegex(
            errors.VMPerfError, "--placement .*damaged"
        ):
            self.audit("last", "--placement", path)
