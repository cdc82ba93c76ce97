# SPDX-License-Identifier: Apache-2.0
"""Tempest with several guests, and the state that it leaves at its end."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from tests import patience
from tests.functional import gate
from tests.functional import laboratory
from tests.functional import test_tempest
from tests.long import long
from tests.unit.doc import gitlab
from tests.unit.doc import pages

DENSITY = "TestDensity.test_density"
PLACEMENT = "TestPlacement.test_placement"
WORKLOADS = [{"name": "sysbench", "arguments": {"time": 1}}]
#: What the image of the embedded cloud lacks.
ABSENT = [{"name": "iozone", "arguments": {}}]
#: What a host does that is busy beside emulated guests: they start a program
#: late, and whichever is measured first may be the slowest.
NOISE = ["clock_wrong", "solo_guest_slow", "partial_overlap"]


def limits(percent):
    """Return limits on what the mean of two guests may lose."""
    return {
        "vmperf_degradation": {
            "max_percent": {"cpu.*": percent},
            "tolerate": NOISE,
        },
        "vmperf_fairness": {
            "min_index": {"cpu.*": 0.01},
            "tolerate": NOISE,
        },
    }


class TempestCase(laboratory.Case):
    """A test with a workspace of its own."""

    def workspace(self, percent=99.99, **options):
        """Return a workspace that measures a processor for a second."""
        there = gate.Workspace(
            self.laboratory, "tempest", limits(percent), **options
        )
        there.change(workloads_file=there.file("workloads.yaml", WORKLOADS))
        return there

    def outcome(self, name, text):
        """Return the outcome that ``tempest run`` printed of a test."""
        outcomes = re.findall(rf"{name}(?: \[[\d.]+s\])? \.\.\. (.*)", text)
        self.assertEqual(1, len(outcomes), text[-4000:])
        return outcomes[0]

    def check_no_owner(self):
        """Fail where the ledger still knows of a run."""
        owners = self.laboratory.journal_dir / "owners"
        self.assertEqual([], list(owners.glob("*.json")))


@long.LONG
class TestSeveralGuests(TempestCase):
    """Density and placement, one after the other."""

    def test_wide_limits_and_the_only_host(self):
        """Both pass, and never run at the same time."""
        there = self.workspace(host=self._host())
        process = there.run(
            *("run", "--concurrency", "2"),
            *("--regex", "vmperf.*test_(density|placement)"),
        )
        output = process.stdout + process.stderr
        self.assertEqual(0, process.returncode, output[-4000:])
        self.assertEqual("ok", self.outcome(DENSITY, output))
        self.assertEqual("ok", self.outcome(PLACEMENT, output))
        self._check_turns(there.log.read_text())
        self.check_no_owner()

    def test_strict_limits_and_one_host_for_guests_apart(self):
        """Both fail and say why, in the pipeline that we show."""
        before = self.laboratory.journals()
        there = self.workspace(-100000, server_group="soft-anti-affinity")
        # The job copies both from the checkout, which this directory is.
        (there.folder / "baselines").mkdir()
        there.change(limits_file="limits.yaml", baseline_dir="baselines")
        job = gitlab.read_job("tempest.gitlab-ci.yaml")
        install, *commands = job["script"]
        self.assertIn("pip install", install)
        conf = there.folder / "etc" / "tempest.conf"
        process = there.shell(commands, TEMPEST_CONF=str(conf))
        output = process.stdout + process.stderr
        reporters = self._install_reporters(there.folder)
        after = there.shell([reporters, *job["after_script"]])
        self.assertEqual(0, after.returncode, after.stderr)
        self._check_artifacts(there.folder, job["artifacts"])
        self.assertEqual(1, process.returncode, output[-4000:])
        self.assertEqual("FAILED", self.outcome(DENSITY, output))
        self.assertEqual("FAILED", self.outcome(PLACEMENT, output))
        self.assertRegex(output, r"limit -100000 %( \(\S+\))?: failed")
        self.assertRegex(output, "soft-anti-affinity was asked for, host by ")
        (path,) = self.laboratory.journals() - before
        self.assertTrue(path.with_suffix(".html").exists())
        self.check_no_owner()

    def _install_reporters(self, folder):
        """Install what the job adds to this tree; return how to use it."""
        target = folder / "reporters"
        pip = (str(laboratory.BIN / "pip"), "install", "-q", "--target")
        subprocess.run([*pip, target, "os-testr", "junitxml"], check=True)
        return f'export PATH="$PATH:{target}/bin" PYTHONPATH="{target}"'

    def test_an_image_without_the_tool(self):
        """The test fails, and the line says what the guest lacks."""
        there = self.workspace(install="false")
        disk = {"vmperf_degradation": {"max_percent": {"disk.*": 99}}}
        there.change(
            workloads_file=there.file("workloads.yaml", ABSENT),
            limits_file=there.file("disk.yaml", disk),
        )
        process = there.run(
            "run", "--serial", "--regex", "vmperf.*test_density"
        )
        output = process.stdout + process.stderr
        self.assertEqual("FAILED", self.outcome(DENSITY, output))
        self.assertRegex(output, "g[12] has no iozone: install it")

    def _check_artifacts(self, folder, artifacts):
        """Check that both have the table of the verdict of a failed test."""
        page, _ = artifacts["paths"]
        for name in (page, artifacts["reports"]["junit"]):
            text = (folder / name).read_text()
            self.assertIn("vmperf-verdict", text)
            self.assertIn("failed   cpu.sysbench.rate", text)
        self.assertRegex(text, r"no limits: \S+ has none for vmperf_overhead")

    def _host(self):
        (host,) = (
            service.host
            for service in self.laboratory.admin.compute.services(
                binary="nova-compute"
            )
        )
        return host

    def _check_turns(self, log):
        """Fail where two processes did not wait for each other."""
        steps = re.findall(
            r" (\d+) DEBUG tempest\.test .*?"
            r"(Test\w+) (taking|took|releasing) the write lock",
            log,
        )
        first, second = [step for step in steps if step[2] == "took"]
        self.assertEqual(
            {DENSITY, PLACEMENT},
            {
                f"{kind}.test_{kind.removeprefix('Test').lower()}"
                for _, kind, _ in (first, second)
            },
        )
        self.assertNotEqual(first[0], second[0])
        ended = steps.index((*first[:2], "releasing"))
        self.assertLess(steps.index((*second[:2], "taking")), ended)
        self.assertLess(ended, steps.index(second))


@long.LONG
class TestConfiguration(TempestCase):
    """The configuration that ``cloud up`` leaves, as it stands."""

    def test_server_basic_ops(self):
        """A test of Tempest's own boots, reaches and removes a guest."""
        there = self.workspace()
        left = pathlib.Path(laboratory.CLOUD, "tempest.conf")
        shutil.copy(left, there.folder / "etc")
        process = there.run(
            *("run", "--serial", "--regex", "test_server_basic_ops")
        )
        output = process.stdout + process.stderr
        self.assertEqual(0, process.returncode, output[-4000:])
        name = "TestServerBasicOps.test_server_basic_ops"
        self.assertEqual("ok", self.outcome(name, output))


@long.LONG
class TestVerify(TempestCase):
    """``rally verify`` by what its page says, and nothing else."""

    def test_rally_verify(self):
        """Verifier, extension, configuration, run and page."""
        lab = self.laboratory
        lab.use("admin")
        lab.record_baseline(
            "tempest",
            *("--task", str(laboratory.TASKS / "tempest.yaml")),
            *("--flavor", "vmperf.tiny"),
        )
        there = gate.Workspace(
            lab, "tempest", test_tempest.LIMITS, baseline="tempest"
        )
        shutil.copy(there.folder / "etc" / "tempest.conf", there.folder)
        self._repository(there.folder)
        made, started = [
            block.text.splitlines()
            for block in pages.blocks("")
            if "rally verify" in block.text
        ]
        output = self._shell(there, made)
        self.assertRegex(output, r"\| rally-vmperf \|")
        configure, *start, report = started
        output = self._shell(there, [configure, *start], 3)
        self.assertRegex(output, r"TestOverhead\.test_cpu.* \.\.\. success")
        self.assertRegex(output, r"TestOverhead\.test_memory.* \.\.\. fail")
        sentence = (
            r"limit -100000 % \(memory\.\*\): failed\. Report: \S+\.html"
        )
        self.assertRegex(output, sentence)
        self._shell(there, [report])
        page = (there.folder / "verify.html").read_text()
        self.assertIn("TestOverhead.test_memory", page)
        self.assertRegex(page, sentence)
        self.check_no_owner()

    def _shell(self, there, lines, code=0):
        """Run lines of the page, and return what they print."""
        process = there.shell(lines, **self._environment())
        output = process.stdout + process.stderr
        self.assertEqual(code, process.returncode, output[-4000:])
        return output

    def _environment(self):
        """Return variables for a home that configures Rally and git."""
        home = self.laboratory.folder
        settings = home / ".rally"
        self.addCleanup(
            shutil.rmtree, settings / "verification", ignore_errors=True
        )
        settings.mkdir(exist_ok=True)
        shutil.copy(self.laboratory.conf, settings / "rally.conf")
        return {
            "RALLY_ENV": "admin",
            # What was downloaded before, in spite of the other home.
            "PIP_CACHE_DIR": str(pathlib.Path.home() / ".cache" / "pip"),
            **{
                f"GIT_{role}_{what}": f"test@{role}"
                for role in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }

    def _repository(self, folder):
        """Make a repository of this tree as it is, clean or not."""
        target = folder / "rally_vmperf.git"
        files = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],
            cwd=laboratory.TOP, capture_output=True, text=True, check=True,
        ).stdout.split("\0")  # fmt: skip
        for name in filter(None, files):
            source = laboratory.TOP / name
            if source.exists():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target / name)
        process = gate.shell(
            ["git init -q -b main", "git add -A", "git commit -q -m tree"],
            target,
            **self._environment(),
        )
        self.assertEqual(0, process.returncode, process.stderr)


@long.LONG
class TestInterrupted(TempestCase):
    """The remains of runs that are ended from outside."""

    def test_ctrl_c_while_it_measures(self):
        """Guests, network, project and user are gone once all have ended."""
        there = self.workspace()
        with self._measuring(there) as process:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(patience.seconds(300))
            laboratory.wait_for("end", lambda: not _group(process.pid))
        self.assertNotEqual(0, process.returncode)
        self.check_nothing_left()
        self.check_no_owner()

    def test_killed(self):
        """Our clean-up finds the guests, Tempest's the rest."""
        lab = self.laboratory
        there = self.workspace()
        self._cleanup(there, "--init-saved-state")
        with self._measuring(there) as process:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(patience.seconds(60))
        lab.use("admin")
        listed = lab.vmperf("cleanup")
        self.assertEqual(1, listed.returncode, listed.stderr)
        self.assertRegex(listed.stdout, r"killed +\| server +\|.*--yes")
        lab.vmperf("cleanup", "--yes", check=True)
        self.assertEqual(self.before["servers"], lab.count()["servers"])
        self.check_no_owner()
        self._cleanup(there, "--dry-run")
        leftovers = json.loads((there.folder / "dry_run.json").read_text())
        (project,) = leftovers["projects"]
        self.assertRegex(project["name"], "tempest-TestDensity-")
        self.assertEqual(self.before["servers"], lab.count()["servers"])
        self._cleanup(there)
        # Neutron keeps the default group of a project that is gone.
        for group in lab.admin.network.security_groups(
            project_id=project["id"]
        ):
            self.assertEqual("default", group.name)
            lab.admin.network.delete_security_group(group)

    def test_plugins_are_listed(self):
        """They are listed by the name of the distribution."""
        process = self.workspace().run("list-plugins")
        self.assertRegex(
            process.stdout, r"rally-vmperf +\|.*VMPerfTempestPlugin"
        )

    @contextlib.contextmanager
    def _measuring(self, there):
        """Run the test of density until its first condition is measured."""
        with there.started(
            *("run", "--serial", "--regex", "vmperf.*test_density")
        ) as process:
            laboratory.wait_for(
                "measurement",
                lambda: (
                    process.poll() is not None
                    or "] sysbench on g1" in _text(there.log)
                ),
                900,
            )
            self.assertIsNone(process.poll(), _text(process.log)[-4000:])
            yield process

    def _cleanup(self, there, *options):
        process = there.run("cleanup", *options)
        self.assertEqual(
            0, process.returncode, process.stdout + process.stderr
        )


def _text(path):
    """Return what is in a file by now."""
    try:
        return path.read_text()
    except OSError:  # not there yet, or a process that has just ended
        return ""


def _group(leader):
    """Return the processes of a group that live."""
    return [
        folder.name
        for folder in pathlib.Path("/proc").glob("[0-9]*")
        if (fields := _text(folder / "stat").rpartition(")")[2].split())
        and fields[0] != "Z"
        and fields[2] == str(leader)
    ]
