# SPDX-License-Identifier: Apache-2.0
"""Stored runs, and what is expected of their verdicts.

A run is a folder of ``tests/unit/data/runs``: a journal with its files or, in
``outputs.yaml``, outputs of tools; the limits that judge it; and the expected
verdict. If a rule changes, write the expected verdicts again::

    python -m tests.unit.questions.golden_runs

and explain the difference in the message of the commit.
"""

import argparse
import collections.abc
import json
import pathlib
import typing as t

import yaml

from rally_vmperf.cmd import raw_outputs
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement import finding
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.records import sources
from rally_vmperf.runs.raw_outputs import imported
from tests.unit.workloads import golden

FOLDER = pathlib.Path(__file__).parents[1] / "data" / "runs"

Json = dict[str, t.Any]


def names() -> list[str]:
    """Return the names of the runs."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def journals() -> list[str]:
    """Return the names of the runs that have a journal."""
    return [name for name in names() if [*(FOLDER / name).glob("*.jsonl")]]


def limits(name: str) -> pathlib.Path:
    """Return the path of the limits of a run."""
    return FOLDER / name / "limits.yaml"


def journal(name: str) -> pathlib.Path:
    """Return the path of the journal of a run."""
    (path,) = (FOLDER / name).glob("*.jsonl")
    return path


def source(name: str) -> sources.Source:
    """Return the records of a run, as ``rally-vmperf judge`` reads them."""
    (run_source,) = sources.read(str(journal(name)), table.scenarios())
    return run_source


def judge(name: str, records: sources.Source | None = None) -> Json:
    """Return the verdict on a run by its limits.

    :param records: The records to judge; default: those of the journal.
    """
    if (FOLDER / name / "outputs.yaml").exists():
        judgements = {"Overhead": _judge_outputs(name)}
        status = judgements["Overhead"].status
    else:
        run = source_judge.judge_by_file(
            records or source(name), str(limits(name))
        )
        judgements, status = dict(run.judgements), run.status
    return {
        "status": status,
        "criteria": {
            heading: _summary(judgement)
            for heading, judgement in judgements.items()
        },
    }


def expected(name: str) -> Json:
    """Return the expected verdict on a run."""
    content: Json = json.loads((FOLDER / name / "expected.json").read_text())
    return content


def _judge_outputs(name: str) -> summary.Judgement:
    """Return the verdict on outputs, as ``judge --raw`` judges them."""
    parser = argparse.ArgumentParser()
    raw_outputs.add_raw_options(parser, baseline_help="")
    content = yaml.safe_load((FOLDER / name / "outputs.yaml").read_text())
    arguments = [
        word.replace("DATA", str(golden.DATA)) for word in content["options"]
    ]
    parsed = parser.parse_args(arguments)
    baseline = imported.build_baseline(
        name, "compute1", raw_outputs.read_outputs(parsed.bare_metal), {}
    )
    criteria = limits_file.read_limits(str(limits(name)))
    judge_ = overhead.OVERHEAD.parse(
        criteria["vmperf_overhead"]
    ).create_judge()
    repetitions, _ = imported.build_repetitions(
        baseline,
        raw_outputs.read_outputs(parsed.guest),
        dict(parsed.physical_limit),
    )
    for repetition in repetitions:
        judge_.add(repetition)
    return t.cast(summary.Judgement, judge_.judgement())


def _summary(judgement: summary.Judgement) -> Json:
    return {
        "status": judgement.status,
        "left_out": list(judgement.omitted),
        "missing": judgement.missing.sentence(),
        "rows": [
            {"metric": row.metric.name, **_summarise(row), "limit": row.limit}
            for row in judgement.limited
        ],
        "findings": _findings(judgement.findings),
    }


def _summarise(row: result.Result) -> Json:
    """Return the figure of a row with its interval and status.

    The figure of a loss is that of the mean guest, or that of the worst guest
    at a number of guests, without correction. The figure of an index is the
    coefficient of variation that it is made of.
    """
    figure = row.figure
    name, suffix = figure.name, row.level_suffix
    value: float | None = None
    low: float | None = None
    high: float | None = None
    if isinstance(figure, figures.Loss):
        name, comparison = "overhead", row.comparison
        if row.point is not None:
            name, suffix = "loss", f" at {row.guests}"
            comparison = row.point.compared(
                figure.statistic, figure.compare_to
            )
        if comparison is not None:
            value, low, high = (
                comparison.overhead_percent,
                comparison.low,
                comparison.high,
            )
    elif isinstance(figure, spreads.Fairness):
        suffix = f" at {row.guests}"
        if uneven := figure.unevenness:
            value = uneven.mean
            low, high = uneven.interval(figure.confidence) or (None, None)
    elif isinstance(figure, spreads.SpreadFigure):
        value = figure.of(figure.guest)
    elif estimate := figure.estimate():
        value, low, high = estimate
    return {
        "figure": f"{name}{suffix}",
        "value": value,
        "low": low,
        "high": high,
        "status": row.status,
    }


def _findings(
    run_findings: collections.abc.Iterable[finding.RunFinding],
) -> Json:
    """Return kind and effect -> subjects, with repetitions."""
    subjects: dict[str, list[str]] = {}
    for run_finding in run_findings:
        effect = run_finding.finding.severity
        if run_finding.omitted:
            effect = "left out"
        elif run_finding.tolerated:
            effect = "tolerated"
        numbers = ", ".join(map(str, run_finding.repetitions))
        subject = run_finding.finding.subject
        subjects.setdefault(
            f"{run_finding.finding.kind}: {effect}", []
        ).append(f"{subject} ({numbers})" if numbers else subject)
    return {
        title: sorted(dict.fromkeys(every))
        for title, every in sorted(subjects.items())
    }


def text(verdict: Json) -> str:
    """Return a verdict as JSON, with a line for each row and each kind."""
    lines = ["{", f' "status": {json.dumps(verdict["status"])},']
    lines.append(' "criteria": {')
    for heading, content in verdict["criteria"].items():
        lines.append(f"  {json.dumps(heading)}: {{")
        for key in ("status", "left_out", "missing"):
            lines.append(f'   "{key}": {json.dumps(content[key])},')
        every = [f"    {json.dumps(row)}" for row in content["rows"]]
        lines += _block('   "rows": [', every, "   ],")
        every = [
            f"    {json.dumps(title)}: {json.dumps(subjects)}"
            for title, subjects in content["findings"].items()
        ]
        lines += [*_block('   "findings": {', every, "   }"), "  },"]
    lines[-1] = "  }"
    return "\n".join([*lines, " }", "}", ""])


def _block(start: str, entries: list[str], end: str) -> list[str]:
    """Return lines of JSON with a comma between entries."""
    return [start, *([",\n".join(entries)] if entries else []), end]


def main() -> None:
    """Write the expected verdicts of all runs again."""
    for name in names():
        path = FOLDER / name / "expected.json"
        path.write_text(text(judge(name)))


if __name__ == "__main__":
    main()
