# SPDX-License-Identifier: Apache-2.0
"""The examples on the page about formats are outputs of its commands."""

import io
import itertools
import re
import shlex
import unittest
from unittest import mock

import ddt
from rally import plugins
from rally.task import exporter

from rally_vmperf.cmd import report
from rally_vmperf.report import export
from tests.unit import listing
from tests.unit.doc import pages
from tests.unit.questions import golden_runs

PAGE = "doc/source/formats.rst"
RUN = "overhead-inconclusive"
plugins.load()


def examples():
    """Return the arguments of each report with the lines of its output."""
    blocks = [
        block for block in pages.blocks("", "text") if block.page == PAGE
    ]
    blocks.sort(key=lambda block: block.line)
    commands = []
    for command, output in itertools.pairwise(blocks):
        if output.kind == "text":
            joined = re.sub(r"\\\n\s*", " ", command.text)
            line, *_ = joined.splitlines()
            commands.append((shlex.split(line)[2:], output.text.splitlines()))
    return commands


@ddt.ddt
class FormatsTestCase(unittest.TestCase):
    def test_every_format_has_an_example(self):
        formats = {
            arguments[arguments.index("--format") + 1]
            for arguments, _ in examples()
        }
        listing.check(
            self,
            formats,
            export.NAMES,
            f"the examples in {PAGE}",
            "add a section with a command and its output",
        )

    @ddt.data(*examples())
    @ddt.unpack
    def test_output(self, arguments, lines):
        files = {
            "JOURNAL.jsonl": str(golden_runs.journal(RUN)),
            "limits.yaml": str(golden_runs.limits(RUN)),
            "rows.ndjson": "-",
        }
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = report.Report(app, None)
        parser = command.get_parser("report")
        command.run(
            parser.parse_args([files.get(word, word) for word in arguments])
        )
        printed = app.stdout.getvalue().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertIn(line, printed)

    def test_exporters(self):
        named = set(re.findall(r"``(vmperf-\w+)``", pages.text(PAGE)))
        registered = {
            plugin.get_name() for plugin in exporter.TaskExporter.get_all()
        }
        listing.check(
            self,
            named,
            {name for name in registered if name.startswith("vmperf-")},
            f"the list of exporters in {PAGE}",
            "add it",
        )
