# SPDX-License-Identifier: Apache-2.0
"""Bare metal of another release than the guests."""

import pathlib
import platform

from rally_vmperf.baseline import store
from rally_vmperf.image import mirror
from tests.functional import laboratory
from tests.long import long

TASK = pathlib.Path(__file__).parent / "tasks" / "releases.yaml"
#: Its tools are others than those of the guest image.
RELEASE = "trixie"
NONE = '{"guest_options": {}}'


@long.LONG
class TestReleases(laboratory.Case):
    """Other tools are named; one bundle for both sides is compared."""

    def test_as_it_is_and_with_a_bundle(self):
        """The same guest, with its own tools and with those of bare metal."""
        lab = self.laboratory
        lab.use("member")
        bundle = lab.folder / "other.tar.gz"
        options = ("--task", str(TASK), "--task-args", NONE)
        here = mirror.sources(
            platform.freedesktop_os_release()["VERSION_CODENAME"],
            origin="Debian",
            components=("main",),
        )[0]
        release = ("--distribution", RELEASE, "--mirror", here.uri)
        lab.vmperf(
            "tools", "bundle", str(bundle), *options, *release, check=True
        )
        lab.record_baseline("releases", *options, "--bundle", str(bundle))
        metal = store.Store(lab.folder / "baselines").load("releases")
        tools = metal.machine.tools
        print({name: tool["version"] for name, tool in tools.items()})
        apart, verdict = self._run()
        self.assertIn("fio", apart)
        self.assertRegex(verdict, "^(passed|failed):")
        alike, verdict = self._run(bundle=str(bundle), install=False)
        self.assertEqual("", alike)
        self.assertFalse(verdict.startswith("void:"), verdict)
        guest = lab.machines(self.record)["g1"]
        for name in ("fio", "bzip2"):
            self.assertTrue(
                guest["tools"][name]["path"].endswith(f"bundle/bin/{name}")
            )
            self.assertEqual(
                tools[name]["checksum"], guest["tools"][name]["checksum"]
            )

    def _run(self, **options):
        """Return which tools differ, in words, and the verdict."""
        lab = self.laboratory
        before = lab.journals()
        process = lab.start(TASK, guest_options=options)
        records = lab.records(self.new_journal(before, process))
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )
        self.record = records[-1]
        (verdict,) = (
            verdict["detail"]
            for verdict in lab.verdicts()
            if verdict["criterion"] == "vmperf_overhead"
        )
        differ = {
            finding.detail
            for finding in self.record.repetition.findings
            if finding.kind == "tool_version_differs"
        }
        # Who runs it by hand sees both verdicts side by side.
        versions = {
            name: tool["version"]
            for name, tool in lab.machines(self.record)["g1"]["tools"].items()
        }
        print(f"{options or 'as it is'}: {verdict}\n  guest: {versions}")
        print(f"  differ: {sorted(differ) or 'none'}")
        return " ".join(sorted(differ)), verdict
