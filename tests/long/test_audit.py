# SPDX-License-Identifier: Apache-2.0
"""An audit of two real hypervisors, the guests of one of which are slow."""

import contextlib
import csv
import io
import pathlib
import threading

import yaml

from tests import patience
from tests.cloud.system import layout
from tests.functional import laboratory
from tests.long import long

TASK = laboratory.TOP / "tasks" / "capacity-audit.yaml"
ARGUMENTS = TASK.with_suffix(".embedded.yaml")
SLOW, OTHER = layout.HYPERVISORS
#: The share of one CPU that the guests of the slow host have, in percent.
SHARE = 40
_PERIOD = 100_000


class LimitedHost:
    """A hypervisor whose guests have a share of a CPU, by a control group.

    Guests are found and limited while they boot.

    :param lab: The laboratory.
    :param host: The name of the host.
    """

    def __init__(self, lab, host):
        self._lab = lab
        self._host = host
        top = pathlib.Path("/sys/fs/cgroup")
        self._is_unified = (top / "cgroup.controllers").exists()
        top = top if self._is_unified else top / "cpu"
        self._group = top / "vmperf-slow-host"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._limit_guests)
        #: The processes that were limited.
        self.limited = set()

    def __enter__(self):
        self._group.mkdir(exist_ok=True)
        quota = _PERIOD * SHARE // 100
        if self._is_unified:
            (self._group / "cpu.max").write_text(f"{quota} {_PERIOD}")
        else:
            (self._group / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (self._group / "cpu.cfs_quota_us").write_text(str(quota))
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._thread.join()
        processes = (self._group / "cgroup.procs").read_text().split()
        for process in processes:
            (self._group.parent / "cgroup.procs").write_text(process)
        self._group.rmdir()

    def _limit_guests(self):
        """Add the processes of new guests to the control group."""
        while not self._ended.wait(1):
            for server in self._lab.admin.compute.servers(all_projects=True):
                if server.compute_host != self._host:
                    continue
                with contextlib.suppress(AssertionError, OSError):
                    process = laboratory.qemu(server.id)
                    (self._group / "cgroup.procs").write_text(str(process))
                    self.limited.add(process)


@long.LONG
class TestAudit(laboratory.Case):
    """The three commands of the page, as an administrator."""

    def setUp(self):
        """Use the environment with an administrator."""
        super().setUp()
        self.laboratory.use("admin")

    def test_slow_host(self):
        """Two hosts differ by CPU metrics, in any order of the runs."""
        lab = self.laboratory
        self.assertEqual([SLOW, OTHER], sorted(self.list_hosts()))
        arguments = yaml.safe_load(ARGUMENTS.read_text())
        arguments["hosts"] = [SLOW, OTHER]
        patient = {"ssh_timeout": round(patience.seconds(900))}
        arguments["guest_options"] = patient
        before = lab.journals()
        with LimitedHost(lab, SLOW) as limited:
            process = lab.rally(
                *("task", "start", str(TASK), "--task-args"),
                yaml.safe_dump(arguments, default_flow_style=True),
                timeout=1500,
            )
        self.assertEqual(
            0, process.returncode, laboratory.problem_lines(process)
        )
        self.assertEqual(1, len(limited.limited))
        journals = sorted(map(str, lab.journals() - before))
        self.assertEqual(2, len(journals))
        for runs in (["last"], journals, journals[::-1]):
            self.check_slow_host(*runs)
        self.assertEqual([], self.list_hosts("--older-than", "30"))

    def list_hosts(self, *options):
        """Return the hosts that are due."""
        process = self.laboratory.vmperf(
            "audit", "--list-hosts", *options, check=True
        )
        return yaml.safe_load(process.stdout)["hosts"]

    def check_slow_host(self, *runs):
        """Audit runs, and check how the two hosts differ."""
        lab = self.laboratory
        page = lab.folder / "audit.html"
        process = lab.vmperf("audit", *runs, "--html", str(page))
        (lab.folder / "audit.txt").write_text(process.stdout)
        self.assertEqual(
            2, process.returncode, process.stdout + process.stderr
        )
        self.assertIn("2 hosts: 0 worse, 2 differ", process.stdout)
        rows = lab.vmperf("audit", *runs, "-f", "csv").stdout
        losses = {
            row["host"]: float(row["value"])
            for row in csv.DictReader(io.StringIO(rows))
            if row["row"] == "figure" and row["metric"] == "cpu.sysbench.rate"
        }
        self.assertGreater(losses[SLOW], 5, process.stdout)
        self.assertLess(losses[OTHER], -5, process.stdout)
        self.assertIn(SLOW, page.read_text())
