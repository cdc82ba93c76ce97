# SPDX-License-Identifier: Apache-2.0
"""The page about Tempest says what its plugin has."""

import configparser
import pathlib
import re
import tempfile
import unittest

import ddt
from oslo_config import cfg

from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.tempest_plugin import config
from tests.unit import made
from tests.unit.doc import gitlab
from tests.unit.doc import pages

PAGE = "doc/source/tempest.rst"
TESTS = pages.ROOT / "rally_vmperf" / "tempest_plugin" / "tests"


@ddt.ddt
class TempestPageTestCase(unittest.TestCase):
    def blocks(self):
        """Return the configurations of the page as blocks."""
        return [block for block in pages.blocks("ini") if block.page == PAGE]

    def configurations(self):
        """Return the configurations of the page, parsed."""
        parsers = []
        for block in self.blocks():
            parsers.append(configparser.ConfigParser())
            parsers[-1].read_string(block.text)
        return parsers

    def test_shown_configuration(self):
        names = {option.dest for option in config.OPTIONS}
        for configuration in self.configurations():
            self.assertLessEqual(set(configuration["vmperf"]), names)
        (block, _) = self.blocks()
        read = cfg.ConfigOpts()
        read.register_opts(config.OPTIONS, group=config.GROUP.name)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as stream:
            stream.write(block.text)
            stream.flush()
            read([], default_config_files=[stream.name])
            self.assertEqual("root", read.vmperf.peer["user"])

    def test_every_test_is_named(self):
        page = pages.text(PAGE)
        for path in TESTS.glob("test_*.py"):
            text = path.read_text()
            (kind,) = re.findall(r"^class (\w+)\(", text, re.M)
            for name in re.findall(r"    def (test_\w+)\(", text):
                self.assertIn(f"``{kind}.{name}``", page)

    def test_pipeline(self):
        """The commands of its reports are those of the page."""
        job = gitlab.read_job("tempest.gitlab-ci.yaml")
        page = pages.text(PAGE)
        self.assertIn("../../etc/tempest.gitlab-ci.yaml", page)
        self.assertLessEqual(
            {
                line.removesuffix(" || true")
                for line in job["after_script"][1:]
            },
            {line.strip() for line in page.splitlines()},
        )

    def test_pipeline_delivers_what_the_page_configures(self):
        """Limits and baselines are copied into the workspace."""
        job = gitlab.read_job("tempest.gitlab-ci.yaml")
        (copy,) = [line for line in job["script"] if line.startswith("cp -r")]
        *copied, workspace = copy.removeprefix("cp -r ").split()
        configured = [
            configuration["vmperf"]
            for configuration in self.configurations()
            if not configuration["vmperf"]["limits_file"].startswith("/")
        ]
        (options,) = configured
        self.assertEqual(
            sorted(copied), [options["baseline_dir"], options["limits_file"]]
        )
        for path in job["artifacts"]["paths"]:
            self.assertTrue(path.startswith(f"{workspace}/"))
        self.assertIn(
            f"{workspace}/{options['journal_dir']}/", job["artifacts"]["paths"]
        )

    @ddt.data("solo_guest", "bare_metal")
    def test_density_with_a_baseline_on_the_embedded_cloud(self, compare_to):
        """The findings about its bare metal do not void the run."""
        path = pathlib.Path(pages.ROOT, "etc", "tempest-limits.embedded.yaml")
        limits = limits_file.read_limits(str(path))
        limits["vmperf_degradation"]["compare_to"] = compare_to
        records = made.density_records((1, 2), bare_metal=(1, 2))
        for kind in ("bare_metal_is_guest", "bare_metal_busy"):
            records = made.with_finding(records, kind, "compute-1")
        run = made.density_run(records, limits)
        self.assertTrue(run.passed, run.headline)

    @ddt.data("tempest-limits.yaml", "tempest-limits.embedded.yaml")
    def test_shipped_limits(self, name):
        path = pathlib.Path(pages.ROOT, "etc", name)
        metric_limits = limits_file.read_limits(str(path))
        questions = table.questions()
        # Tempest has no test of them.
        del questions["tuning"], questions["event"]
        for entry in questions.values():
            main, *_ = entry.criteria
            self.assertIn(main.name, metric_limits)
