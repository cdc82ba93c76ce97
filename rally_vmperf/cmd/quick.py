# SPDX-License-Identifier: Apache-2.0
"""Short measurements of a task, for a first verdict."""

import argparse
import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.questions import table
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry

OPTION = "--quick"
#: The number of counted repetitions, the fewest with an interval.
REPETITIONS = 3
#: The end of the title of each subtask, which verdicts and reports show.
MARK = " (quick: short measurements)"
#: The maximum number of characters of a title in Rally.
_LONGEST_TITLE = 128


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option for short measurements."""
    parser.add_argument(
        OPTION,
        action="store_true",
        help="measure for a first verdict: short arguments of workloads, "
        f"{REPETITIONS} repetitions and one boot; titles in verdict and page "
        "are marked",
    )


def shorten_task(content: documents.Arguments) -> None:
    """Shorten the measurements of a task.

    It changes arguments that each scenario has, and the times of the runner.

    :param content: The rendered task.
    :raises VMPerfError: If the task does not have subtasks.
    """
    subtasks = content.get("subtasks")
    if not isinstance(subtasks, list):
        raise errors.VMPerfError(
            f"{OPTION}: the task must have subtasks, as version 2 has"
        )
    scenarios = table.scenarios()
    for subtask in subtasks:
        is_shortened = False
        for workload in subtask.get("workloads", [subtask]):
            for name, arguments in workload.get("scenario", {}).items():
                if name in scenarios:
                    runner = workload.get("runner", {}).get("serial", {})
                    _shorten_scenario(arguments, runner)
                    is_shortened = True
        if is_shortened:
            title = str(subtask.get("title") or "Task")
            subtask["title"] = title[: _LONGEST_TITLE - len(MARK)] + MARK


def _shorten_scenario(
    arguments: dict[str, t.Any], runner: dict[str, t.Any]
) -> None:
    """Shorten one scenario of a task.

    :param arguments: The arguments of the scenario.
    :param runner: The options of its serial runner.
    """
    arguments["warmup"] = min(int(arguments.get("warmup") or 0), 1)
    if arguments.get("reboot") == "auto":
        arguments["reboot"] = "never"
    runner["times"] = arguments["warmup"] + REPETITIONS
    overrides = arguments.get("arguments") or {}
    shortened = dict(overrides)
    for measured in arguments.get("workloads") or ():
        key = measured.get("label") or measured["name"]
        present = {
            **measured.get("arguments", {}),
            **overrides.get(measured["name"], {}),
            **overrides.get(key, {}),
        }
        if short := shorten_arguments(measured["name"], present):
            shortened[key] = {**overrides.get(key, {}), **short}
    arguments["arguments"] = shortened


def shorten_arguments(
    name: str, present: collections.abc.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Return the short arguments of a workload, none longer than before.

    :param name: The name of the workload.
    :param present: The arguments in the task.
    :returns: The arguments; {} if the workload has none or is not valid.
    """
    try:
        workload = registry.get_workload(name)
        completed = workload.complete(present)
        short = {
            key: min(limit, completed[key])
            for key, limit in workload.QUICK.items()
        }
        workload.complete({**present, **short})
    except base.WorkloadError:
        # The task is rejected with the reason, or these do not fit together.
        return {}
    return short
