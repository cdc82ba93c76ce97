# SPDX-License-Identifier: Apache-2.0
"""Statements of pages hold in Rally and in the code."""

import dataclasses
import pathlib
import re
import tempfile
import unittest

import yaml

from rally_vmperf.cmd.start import init
from rally_vmperf.guests import verification
from rally_vmperf.questions import table
from tests.unit.doc import pages
from tests.unit.doc import tasks
from tests.unit.doc import verdict_examples

#: A template of a task that writes a file.
PROGRAM = """\
{{ cycler.__init__.__globals__.os.system("echo run > " ~ path) }}
"""
#: What denies a scenario or an input that exists.
DENIALS = re.compile(
    r"\b(?:is|are) to come\b|\bnot (?:yet )?implemented\b"
    r"|scenario that there is not|\bmade up, in the layout"
)
#: Pages and this module in messages.
ARCHITECTURE = "doc/source/contributor/architecture.rst"
PLACE = "tests/unit/doc/test_statements.py"
#: Names in the table of rooms that are no modules of their room: a command, an
#: argument of scenarios, and a module of each question.
OTHER_NAMES = {"judge", "idle_guests", "section"}


def prose(page):
    """Return the text of a page in one line."""
    return " ".join(pages.text(page).split())


class StatementsTestCase(unittest.TestCase):
    def test_a_task_file_is_a_program(self):
        """Rally executes commands in a template, and pages warn of that."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        written = pathlib.Path(folder, "written")
        tasks.rally().task.render_template(
            task_template=PROGRAM, template_dir=folder, path=str(written)
        )
        self.assertEqual("run\n", written.read_text())
        for page in ("doc/source/own-cloud.rst", "doc/source/tasks.rst"):
            self.assertIn("A task file is a program", prose(page))

    def test_a_guest_reports_its_devices_itself(self):
        """Drivers in its fingerprint suffice; Nova is not asked for them."""
        evidence = verification.Evidence(
            vcpus=1,
            fingerprint={"network_interfaces": [{"driver": "e1000"}]},
            topology=None,
        )
        (setting,) = verification.verify({"hw_vif_model": "e1000"}, evidence)
        self.assertEqual("applied", setting.outcome)
        for page in (
            "doc/source/tuning.rst",
            "doc/source/contributor/untrusted-guests.rst",
        ):
            self.assertIn("model of a network interface", prose(page))


class ExistingTestCase(unittest.TestCase):
    """Pages and tasks name what exists, and do not deny it."""

    def texts(self):
        """Return path -> text of pages and tasks."""
        paths = [
            *pages.PAGES.values(),
            *pages.ROOT.glob("tasks/*.yaml"),
            *pages.ROOT.glob("scenarios/*.yaml"),
        ]
        return {path: " ".join(path.read_text().split()) for path in paths}

    def test_scenarios(self):
        for path, text in self.texts().items():
            named = set(re.findall(r"\bVMPerf\.\w+", text))
            with self.subTest(path=path):
                self.assertEqual(
                    set(),
                    named - set(table.scenarios()),
                    "no question has these scenarios: correct the name",
                )
                self.assertIsNone(
                    DENIALS.search(text), "describe what exists only"
                )

    def test_modules_of_the_rooms(self):
        """Each name in the row of a room is a module or a package in it."""
        page = pages.text(ARCHITECTURE)
        table_text = page.partition("Outside the package")[0]
        _, *rows = re.split(r"^   \* - ``(\w+)``$", table_text, flags=re.M)
        for room, row in zip(rows[::2], rows[1::2], strict=True):
            package = pages.ROOT / "rally_vmperf" / room
            for name in set(re.findall(r"``(\w+)``", row)) - OTHER_NAMES:
                with self.subTest(room=room, name=name):
                    self.assertTrue(
                        [
                            *package.rglob(f"{name}.py"),
                            *package.rglob(f"{name}/__init__.py"),
                        ],
                        f"the row of {room} in {ARCHITECTURE} names what is "
                        "no module of it: correct the row, or, if it is no "
                        f"module, add it to OTHER_NAMES in {PLACE}",
                    )

    def test_first_arguments_have_the_limits_of_the_task(self):
        """A user starts with limits that have been calibrated."""
        text = init.render(
            "compute1",
            "rally-vmperf baseline record NAME",
            ({"image": "vmperf-guest"}, "It suits."),
            ({"flavors": ["m1.large"]}, "It suits."),
            ({"network": "private"}, "It suits."),
        )
        arguments = {**yaml.safe_load(text), "peer": tasks.PEER}
        sla = arguments["limits"]["vmperf_overhead"]
        sla["max"].pop("guest.cpu.steal_percent")
        default = tasks.render(tasks.MAIN, {"peer": tasks.PEER})
        rendered = tasks.render(tasks.MAIN, arguments)
        self.assertEqual(
            default["subtasks"][0]["sla"], rendered["subtasks"][0]["sla"]
        )

    def test_first_verdicts(self):
        """The page shows what the command prints."""
        text = (pages.ROOT / "doc/source/own-cloud.rst").read_text()
        # A page shows the whole output of a run that passes.
        for status in ("inconclusive", "void"):
            lines = verdict_examples.lines(status)
            self.assertIn(f": {status}: ", lines[0])
            block = "\n".join(f"    {line}" for line in lines)
            self.assertIn(f"::\n\n{block}\n\n", text)

    def test_durations(self):
        """The page has the minutes of the tasks with their defaults."""
        minutes = []
        for path, arguments in (
            (tasks.MAIN, {}),
            (tasks.MAIN, {"peer": tasks.PEER}),
            (tasks.DENSITY, {}),
        ):
            (subtask,) = tasks.render(path, arguments)["subtasks"]
            created = dataclasses.replace(tasks.create_task(subtask), vcpus=2)
            question = table.scenarios()[created.scenario]
            minutes.append(question.estimate_minutes(created))
        text = prose("doc/source/own-cloud.rst")
        self.assertEqual(
            tuple(map(str, minutes)),
            re.search(
                r"takes about (\d+) minutes for each flavor, (\d+) with a "
                r"peer, and \S+ about (\d+) minutes",
                text,
            ).groups(),
        )

    def test_last_commands_of_the_readme(self):
        """They write pages that have the verdict."""
        lines = [
            line for _, line in pages.command_lines("rally-vmperf report")
        ]
        for line in (" -o report.html", " --format junit -o report.xml"):
            self.assertIn(line, lines)
        self.assertNotIn("rally task report", prose("README.rst"))
