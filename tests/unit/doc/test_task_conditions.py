# SPDX-License-Identifier: Apache-2.0
"""Tasks have the conditions, workloads and limits that they always had.

The subtasks of ``tests/unit/data/tasks/conditions.json`` are those of tasks
before they were shortened; its arguments are those of today.
"""

import dataclasses
import json
import unittest

import ddt

from rally_vmperf.guests import schema
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions import table
from rally_vmperf.questions.density import levels
from rally_vmperf.runs import event_types
from tests.unit.doc import task_conditions
from tests.unit.doc import tasks

CASES = json.loads(task_conditions.PATH.read_text())
#: The defaults of options of SLAs.
SLA_DEFAULTS = {
    "tolerate": [],
    "levels": "all",
    "statistic": "mean",
    "compare_to": "solo_guest",
}
#: The CPUs of the host of tasks that do not state them.
HOST_CPUS = 8


def complete(subtask):
    """Return the conditions of a subtask with all defaults.

    Limits that are not judged are omitted, which earlier tasks did not have.
    """
    created = tasks.create_task(subtask)
    question = table.scenarios()[created.scenario]
    created = question.complete_task(created, lambda: HOST_CPUS)
    guests = {**schema.DEFAULTS, **question.create_guest_options(created)}
    if "groups" in guests:
        guests.pop("count", None)
    content = {
        field.name: getattr(created.arguments, field.name)
        for field in dataclasses.fields(created.arguments)
        if field.name not in ("workloads", "arguments", "guests")
    }
    if "levels" in content:
        content["levels"] = levels.expand_levels(content["levels"])
    if "event" in content:
        content["event"] = event_types.parse(content["event"]).plain()
    return {
        "title": created.title,
        "scenario": created.scenario,
        "arguments": content,
        "workloads": [
            (each.title, each.arguments, each.protocol())
            for each in created.assignments
        ],
        "guests": guests,
        "baseline": created.baseline,
        "sla": list_judged(created, question),
        "counted": created.times - created.warmup,
        "runner": created.runner,
    }


def list_judged(created, question):
    """Return the SLAs of a task without limits that are not judged."""
    metrics = [
        *created.metrics,
        *(
            figure
            for criterion in question.criteria
            for figure in criterion.list_figures(created.metrics)
        ),
    ]
    judged = {}
    for name, options in created.criteria.items():
        kept = {
            key: option
            for key, option in options.items()
            if key not in SLA_DEFAULTS or option != SLA_DEFAULTS[key]
        }
        if kept.pop("unmeasured", "") == "skip":
            for key in [key for key in kept if key.startswith(("max", "min"))]:
                names = [metric.name for metric in metrics]
                is_percent = (name, key) == ("vmperf_overhead", "max_percent")
                unmatched = verdict.Limits(kept[key]).unmatched(names)
                if is_percent and created.baseline is None:
                    unmatched = (*kept[key],)
                kept[key] = {
                    pattern: limit
                    for pattern, limit in kept[key].items()
                    if pattern not in unmatched
                }
            kept = {key: option for key, option in kept.items() if option}
            if not any(key.startswith(("max", "min")) for key in kept):
                continue
        judged[name] = kept
    return judged


@ddt.ddt
class ConditionsTestCase(unittest.TestCase):
    """Rendered tasks with defaults, embedded arguments and others."""

    @ddt.data(*CASES)
    def test_same_conditions(self, case):
        task, _ = case.split()
        arguments = task_conditions.read_arguments(
            case, CASES[case]["arguments"]
        )
        rendered = tasks.render(f"tasks/{task}.yaml", arguments)
        subtasks = CASES[case]["subtasks"]
        self.assertEqual(
            len(subtasks), len(rendered["subtasks"]), task_conditions.HINT
        )
        for old, new in zip(subtasks, rendered["subtasks"], strict=True):
            with self.subTest(title=old["title"]):
                self.assertEqual(
                    complete(old), complete(new), task_conditions.HINT
                )

    def test_every_task(self):
        """Each is compared with its defaults and embedded arguments."""
        for name in task_conditions.list_names():
            self.assertIn(name, CASES, task_conditions.HINT)

    def test_written_cases(self):
        """A new task gets the cases that would be compared with it."""
        self.assertEqual(
            task_conditions.PATH.read_text(),
            task_conditions.show(CASES),
            task_conditions.HINT,
        )
        for name in task_conditions.list_names():
            created = task_conditions.create_case(name)
            self.assertEqual(
                [complete(subtask) for subtask in CASES[name]["subtasks"]],
                [complete(subtask) for subtask in created["subtasks"]],
            )
