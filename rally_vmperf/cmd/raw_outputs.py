"""Raw outputs of tools on the command line: read, and judged."""

import argparse
import collections.abc
import pathlib
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base as workloads

if t.TYPE_CHECKING:
    from rally_vmperf.measurement import overhead_judge

_COLUMNS = (
    *("METRIC", "BARE METAL", "GUEST", "OVERHEAD", "INTERVAL"),
    *("VERDICT", "WARNINGS"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for each tool whose output can be read."""
    for tool in raw.READERS:
        parser.add_argument(
            f"--{tool}",
            action="append",
            default=[],
            metavar="[WHICH=]FILE",
            help=f"output of {tool}; may be repeated, a repetition each; "
            f"WHICH: {raw.WHICH[tool]}",
        )


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the option for what a machine can do at most."""
    parser.add_argument(
        "--physical",
        action="append",
        default=[],
        type=_bound,
        metavar="METRIC=VALUE",
        help="with --raw: what the machine can do at most, in base units "
        "(B/s, bit/s): a metric or a glob, such as disk.*=330e6; may be "
        "repeated",
    )


def are_given(parsed: argparse.Namespace) -> bool:
    """Return whether there is an output of any tool."""
    return any(getattr(parsed, tool) for tool in raw.READERS)


def read(parsed: argparse.Namespace) -> list[raw.Raw]:
    """Return what the outputs hold.

    :raises BaselineError: naming the option and the file
    """
    found = [
        _read(tool, given)
        for tool in raw.READERS
        for given in getattr(parsed, tool)
    ]
    if not found:
        options = ", ".join(f"--{tool}" for tool in raw.READERS)
        raise document.BaselineError(
            f"no output of any tool; give at least one of {options}"
        )
    return raw.merge(found)


def judge(
    content: collections.abc.Mapping[str, t.Any], parsed: argparse.Namespace
) -> tuple[list[str], bool]:
    """Judge outputs of a guest; return the lines, and whether it passed.

    :param content: the baseline
    """
    from rally_vmperf.measurement import gathering
    from rally_vmperf.measurement import overhead_judge
    from rally_vmperf.measurement import repetition
    from rally_vmperf.questions import limits_file
    from rally_vmperf.questions.overhead import conclusion
    from rally_vmperf.questions.overhead import question
    from rally_vmperf.report import verdict_table
    from rally_vmperf.runs.raw_outputs import imported

    criteria = limits_file.by_criterion(parsed.limits) if parsed.limits else {}
    of_overhead = overhead_judge.OverheadJudge(
        **criteria.get(question.OVERHEAD.name, {})
    )
    measured: list[repetition.Condition] = []
    for entry in imported.repetitions(
        content, read(parsed), dict(parsed.physical)
    ):
        of_overhead.add(entry)
        measured += entry.conditions
    limits_file.check(
        parsed.limits,
        [question.OVERHEAD],
        criteria,
        gathering.metrics(measured),
    )
    judgement = of_overhead.judgement()
    table = [_COLUMNS, *map(_row, judgement.compared)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [verdict_table.aligned(row, widths) for row in table]
    lines += [judgement.headline(), *conclusion.sentences(judgement)]
    return lines, judgement.passed


def _row(row: "overhead_judge.rows.Row") -> tuple[str, ...]:
    from rally_vmperf.measurement.comparison import verdict
    from rally_vmperf.measurement.samples import units

    kinds = ", ".join(
        dict.fromkeys(
            one.finding.kind
            for one in row.findings
            if one.finding.severity != "note"
        )
    )
    found = row.comparison
    if found is None:
        why = ", ".join(filter(None, (kinds, row.reason)))
        return (row.metric.name, "-", "-", "-", "-", "-", why)
    unit = row.metric.unit
    return (
        row.metric.name,
        units.show(found.bare, unit),
        units.show(found.guest, unit),
        f"{units.show_percent(found.overhead_percent)} %",
        verdict.interval(found),
        row.status or "no limit",
        kinds,
    )


def _read(tool: str, given: str) -> raw.Raw:
    which, equals, path = given.partition("=")
    if not equals or "/" in which or pathlib.Path(given).is_file():
        which, path = "", given
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise document.BaselineError(
            f"--{tool} {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        return raw.read(tool, text, which)
    except workloads.WorkloadError as error:
        raise document.BaselineError(f"--{tool} {path}: {error}") from None


def _bound(text: str) -> tuple[str, float]:
    pattern, _, value = text.rpartition("=")
    try:
        found = float(value)
    except ValueError:
        found = 0.0
    if not (pattern and 0 < found < float("inf")):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no METRIC=VALUE, such as disk.*=330e6"
        )
    return pattern, found
