# SPDX-License-Identifier: Apache-2.0
"""Tests of the results of commands."""

import ast
import dataclasses
import pathlib
import unittest

import ddt

import rally_vmperf
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import cpu_seconds

PACKAGE = pathlib.Path(rally_vmperf.__file__).parent
RESULT = command_result.CommandResult(
    name="randread",
    exit_status=0,
    seconds=2.0,
    started=100.0,
    ended=102.0,
    stdout="out",
    stderr="err",
    user=0.5,
    system=0.25,
)


def _list_result_types():
    """Return the names of classes with an exit status and a duration."""
    names = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                fields = {
                    statement.target.id
                    for statement in node.body
                    if isinstance(statement, ast.AnnAssign)
                }
                if {"exit_status", "seconds"} <= fields:
                    names.append(node.name)
    return names


@ddt.ddt
class CommandResultTestCase(unittest.TestCase):
    def test_it_is_the_only_type_of_its_kind(self):
        self.assertEqual(["CommandResult"], _list_result_types())

    def test_without_output(self):
        result = RESULT.without_output()
        self.assertEqual(("", ""), (result.stdout, result.stderr))
        self.assertEqual((100.0, 0.5), (result.started, result.user))

    def test_usage_of_a_run(self):
        run = command_result.CommandRun(
            workload="fio db",
            machine="g1",
            result=RESULT,
            work=7.0,
            work_unit="ops",
        )
        self.assertEqual(
            cpu_seconds.Usage(
                workload="fio db",
                command="randread",
                runs=1,
                seconds=2.0,
                user=0.5,
                system=0.25,
                work=7.0,
                unit="ops",
            ),
            run.usage(),
        )

    @ddt.data({"exit_status": 1}, {"user": None}, {"system": None})
    def test_no_usage(self, changes):
        """A failed command did not do its work."""
        run = command_result.CommandRun(
            workload="fio db",
            machine="g1",
            result=dataclasses.replace(RESULT, **changes),
        )
        self.assertIsNone(run.usage())
