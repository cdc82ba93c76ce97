"""Files of limits: one form for reports, Tempest and the sla of a task."""

import collections.abc
import pathlib
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.questions import checks
from rally_vmperf.questions import table
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

Limits = dict[str, dict[str, t.Any]]


class LimitsError(errors.VMPerfError):
    """A file of limits cannot be used; one line."""


def read(path: str) -> t.Any:
    """Return the content of a file of limits, or of another YAML file.

    :raises LimitsError: for one that cannot be read
    """
    try:
        return documents.read_yaml(pathlib.Path(path))
    except documents.DocumentError as error:
        raise LimitsError(error) from error


def by_criterion(path: str) -> Limits:
    """Return the limits in a file, by the name of their SLA.

    :raises LimitsError: for an unknown SLA, or limits that it does not take
    """
    found = read(path)
    known = table.criteria()
    try:
        task.check_form(found, {"type": "object", "minProperties": 1})
        for name in found:
            if name not in known:
                raise task.Refused(
                    f"{name} is not an SLA of rally_vmperf; put limits below "
                    "the name of "
                    f"their SLA: {', '.join(known)}"
                )
        task.check_form(found, schema())
    except task.Refused as error:
        raise LimitsError(f"limits {path}: {error}") from error
    return t.cast(Limits, found)


def check(
    path: str,
    criteria: collections.abc.Iterable[question.Criterion],
    given: question.Criteria,
    metrics: task.Metrics,
) -> None:
    """Refuse limits that a task with these metrics may not have either.

    :param criteria: those of the question that was asked
    :param given: what the file holds
    :raises LimitsError: naming the limit and a metric
    """
    try:
        for one in criteria:
            checks.check_limits(one, given.get(one.name, {}), metrics)
    except task.Refused as error:
        raise LimitsError(f"limits {path}: {error}") from error


def applicable(entry: question.Question, *, has_neighbours: bool) -> list[str]:
    """Return the names of the SLAs that apply to a run or to a task.

    :param entry: The question of the run.
    :param has_neighbours: Whether guests run with neighbours.
    """
    return [
        criterion.name
        for criterion in entry.criteria
        if has_neighbours or criterion is not neighbours.CRITERION
    ]


def skipped(
    names: collections.abc.Iterable[str],
    applied: collections.abc.Container[str],
) -> list[str]:
    """Return a line for each SLA that applies to nothing.

    :param names: The names of SLAs in a file; other names are ignored.
    :param applied: The names of the SLAs that apply to a run or to a task.
    """
    lines = []
    for name in names:
        scenarios = [
            entry.scenario
            for entry in table.questions().values()
            if name in applicable(entry, has_neighbours=True)
        ]
        if scenarios and name not in applied:
            condition = (
                " with neighbours" if name == neighbours.CRITERION.name else ""
            )
            lines.append(
                f"{name} is skipped: it applies to "
                f"{' and '.join(scenarios)}{condition}"
            )
    return lines


def schema() -> dict[str, t.Any]:
    """Return the JSON Schema of a file of limits."""
    return {
        "type": "object",
        "description": "SLA -> its limits, as in the section sla of a task.",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {
            name: {"description": one.title, **one.schema}
            for name, one in table.criteria().items()
        },
    }
