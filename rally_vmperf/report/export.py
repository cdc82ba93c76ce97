# SPDX-License-Identifier: Apache-2.0
"""Results in the formats of other programs."""

import base64
import collections.abc
import dataclasses
import functools
import gzip
import importlib
import types

from rally_vmperf.judging import counting
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import repetition
from rally_vmperf.records import table

Runs = collections.abc.Sequence[judged_run.JudgedRun]

#: The formats of the table; each is a module of ``formats``.
NAMES = ("markdown", "csv", "json", "ndjson", "openmetrics", "junit")

#: The maximum size in bytes of a file in a page that is not compressed.
_LARGEST_PLAIN = 200_000
#: The maximum number of samples in a page, in its link and its tables.
MOST_SAMPLES = 10_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataLink:
    """A file within a link.

    :param has_samples: True if it has the samples, not only the figures.
    """

    name: str
    address: str
    has_samples: bool


def load_format(name: str) -> types.ModuleType:
    """Return the module of a format.

    Its docstring describes the format, and its function ``render`` yields
    the text of rows in pieces.
    """
    return importlib.import_module(f"rally_vmperf.report.formats.{name}")


def render(name: str, runs: Runs) -> collections.abc.Iterator[str]:
    """Yield the results of runs in a format, in pieces.

    :param name: One of ``NAMES``.
    """
    rows = functools.partial(list_rows, runs)
    yield from load_format(name).render(rows)


def render_verdicts(name: str, runs: Runs) -> collections.abc.Iterator[str]:
    """Yield the verdicts and figures of runs in a format, in pieces."""
    yield from load_format(name).render(
        lambda: (row for run in runs for row in _list_judged(run))
    )


def create_link(run: judged_run.JudgedRun) -> DataLink:
    """Return a link with the verdicts, figures and samples of a run as CSV.

    A large file is compressed; if it is still too large for a page, it has
    no samples.
    """
    has_samples = _count_samples(run) <= MOST_SAMPLES
    pieces = (render if has_samples else render_verdicts)("csv", [run])
    content = "".join(pieces).encode()
    name, kind = "results.csv", "text/csv"
    if len(content) > _LARGEST_PLAIN:
        content = gzip.compress(content, 6, mtime=0)
        name, kind = f"{name}.gz", "application/gzip"
    encoded = base64.b64encode(content).decode()
    return DataLink(
        name=name,
        address=f"data:{kind};base64,{encoded}",
        has_samples=has_samples,
    )


def list_rows(runs: Runs) -> table.Rows:
    """Yield the verdicts, figures and samples of runs as rows."""
    for run in runs:
        yield from _list_judged(run)
        yield from _list_samples(run)


def _list_judged(run: judged_run.JudgedRun) -> table.Rows:
    """Yield a row per verdict, and per figure of each criterion."""
    finished_at = run.last.finished_at if run.records else ""
    start = _start(run, finished_at)
    for heading, status, judgement in run.verdicts:
        criterion = start._replace(criterion=heading.lower())
        if status != "none":
            sentences = [judgement.headline(), *judgement.reasons()]
            yield criterion._replace(
                row="verdict",
                status=status,
                passed=judgement.passed,
                reason=" ".join(f"{sentence}." for sentence in sentences),
            )
        for row in judgement.rows:
            value = row.to_value()
            # A level without a limit, such as a solo guest compared with
            # itself, can have no figure.
            if row.point is None or row.status or value.value is not None:
                yield table.build_figure_row(
                    criterion, row.metric, value, _list_kinds(judgement, row)
                )
    for sla_result in run.sla_results:
        status = "passed" if sla_result.success else "failed"
        yield start._replace(
            row="verdict",
            criterion=sla_result.criterion,
            status=status,
            passed=sla_result.success,
            reason=f"{status}: {sla_result.detail}",
        )


def _list_kinds(
    judgement: summary.Judgement, row: result.Result
) -> tuple[str, ...]:
    """Return the kinds of the findings about a result, as a tuple.

    Findings that void the whole run are about its void results.
    """
    is_void = row.status == "void"
    findings = [
        run_finding
        for run_finding in judgement.findings
        if run_finding in row.findings
        or (is_void and run_finding.voids and run_finding.finding.is_run_wide)
    ]
    kinds = (run_finding.finding.kind for run_finding in findings)
    return tuple(dict.fromkeys(kinds))


def _count_samples(run: judged_run.JudgedRun) -> int:
    """Return the number of samples of guests and of bare metal."""
    guests = sum(
        len(condition.observations)
        for measured in run.repetitions
        for condition in measured.conditions
    )
    return guests + sum(
        len(observations)
        for reference in _list_references(run).values()
        for observations in reference.repetitions
    )


def _list_samples(run: judged_run.JudgedRun) -> table.Rows:
    """Yield a row per sample of guests and of bare metal."""
    tolerate = _list_tolerated(run)
    times = [record.finished_at for record in run.records]
    times = times or [""] * len(run.repetitions)
    for measured, time in zip(run.repetitions, times, strict=True):
        yield from table.list_guest_rows(_start(run, time), measured, tolerate)
    references = _list_references(run)
    has_levels = len(references) > 1 or counting.has_levels(run.repetitions)
    for copies, reference in references.items():
        yield from table.list_bare_metal_rows(
            _start(run), copies if has_levels else None, reference
        )


def _start(run: judged_run.JudgedRun, time: str = "") -> table.Row:
    """Return a row with the columns of a run."""
    names = [measured.run for measured in run.repetitions if measured.run]
    return table.Row(
        run=names[0] if names else run.title,
        question=run.question,
        title=run.title,
        time=table.format_time(time),
    )


def _list_tolerated(run: judged_run.JudgedRun) -> set[str]:
    """Return the kinds of findings that do not void samples, as a set.

    If criteria differ, the main one decides.
    """
    is_tolerated: dict[str, bool] = {}
    for judgement in run.judgements.values():
        for run_finding in judgement.findings:
            is_tolerated.setdefault(
                run_finding.finding.kind, run_finding.tolerated
            )
    return {kind for kind, tolerated in is_tolerated.items() if tolerated}


def _list_references(
    run: judged_run.JudgedRun,
) -> collections.abc.Mapping[int, repetition.Reference]:
    """Return the samples of bare metal by the number of copies."""
    if run.records:
        bare_metal = run.last.bare_metal
        return bare_metal.references if bare_metal else {}
    return {
        condition.reference_copies or 1: condition.reference
        for measured in run.repetitions
        for condition in measured.conditions
    }
