# SPDX-License-Identifier: Apache-2.0
"""Limits files: the same format for reports, Tempest and tasks."""

import collections.abc
import pathlib
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import json_schema
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

Limits = dict[str, documents.Arguments]


def read_yaml(path: str) -> t.Any:
    """Return the decoded content of a YAML file.

    :raises DocumentError: If the file cannot be read.
    """
    return documents.read_yaml(pathlib.Path(path))


def read_limits(path: str) -> Limits:
    """Return the limits in a file as a dict by the name of their SLA.

    :raises VMPerfError: If an SLA is unknown or its limits are not valid.
    """
    content = read_yaml(path)
    if content is None:
        raise errors.VMPerfError(
            f"limits {path}: is empty; add an SLA with its limits, such as "
            "vmperf_overhead"
        )
    criteria = table.criteria()
    try:
        task.check_schema(content, json_schema.mapping({}, minProperties=1))
        for name in content:
            if name not in criteria:
                raise task.InvalidTask(
                    f"{name}: is not an SLA of rally_vmperf; use one of: "
                    f"{', '.join(criteria)}"
                )
        task.check_schema(content, build_schema())
    except task.InvalidTask as error:
        raise errors.VMPerfError(f"limits {path}: {error}") from error
    return t.cast(Limits, content)


def check_limits(
    path: str,
    criteria: collections.abc.Iterable[question.Criterion],
    sections: question.Criteria,
    metrics: task.Metrics,
    *,
    may_be_unmatched: bool = False,
) -> None:
    """Reject limits that match no metric, conflict or cannot fail.

    :param criteria: The criteria of the question.
    :param sections: The content of the file.
    :param may_be_unmatched: Whether a limit may match no metric.
    :raises VMPerfError: If a limit is not valid for a metric.
    """
    try:
        for criterion in criteria:
            parsed = criterion.parse(sections.get(criterion.name, {}))
            parsed.check_limits(metrics, may_be_unmatched=may_be_unmatched)
    except task.InvalidTask as error:
        raise errors.VMPerfError(f"limits {path}: {error}") from error


def list_applicable_slas(
    run_question: question.AnyQuestion, arguments: documents.Arguments
) -> list[str]:
    """Return the names of the SLAs that apply to a run, as a list.

    :param run_question: The question of the run.
    :param arguments: The arguments of the scenario.
    """
    return [
        criterion.name
        for criterion in run_question.criteria
        if not criterion.requires or arguments.get(criterion.requires)
    ]


def format_skipped(
    names: collections.abc.Iterable[str],
    applied: collections.abc.Container[str],
) -> list[str]:
    """Return one line of text for each SLA that applies to nothing.

    :param names: The names of SLAs in a file; other names are ignored.
    :param applied: The names of the SLAs that apply to a run or to a task.
    """
    lines = []
    criteria = table.criteria()
    for name in names:
        scenarios = [
            known_question.scenario
            for known_question in table.questions().values()
            if name
            in (criterion.name for criterion in known_question.criteria)
        ]
        if scenarios and name not in applied:
            required = criteria[name].requires
            condition = required and f" with {required}"
            lines.append(
                f"{name} is skipped: it applies to "
                f"{' and '.join(scenarios)}{condition}"
            )
    return lines


def build_schema() -> documents.Schema:
    """Return the JSON Schema of a limits file."""
    return json_schema.closed_mapping(
        {
            name: {"description": criterion.title, **criterion.schema}
            for name, criterion in table.criteria().items()
        },
        description="SLA -> limits, as in the section sla of a task.",
        minProperties=1,
    )
