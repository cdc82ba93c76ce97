# SPDX-License-Identifier: Apache-2.0
"""Raw outputs of tools on the command line."""

import argparse
import collections.abc
import dataclasses
import math
import os
import re
import sys
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import output_bounds

if t.TYPE_CHECKING:
    from rally_vmperf.judging import summary
    from rally_vmperf.judging.results import result
    from rally_vmperf.measurement import repetition
    from rally_vmperf.questions.common import question as question_
    from rally_vmperf.questions.common import task
    from rally_vmperf.report import reports
    from rally_vmperf.runs.raw_outputs import raw

_COLUMNS = (
    *("METRIC", "BARE METAL", "GUEST", "OVERHEAD", "INTERVAL"),
    *("VERDICT", "WARNINGS"),
)
#: The standard deviation of repetitions on a quiet machine, and the number of
#: outputs of each side that shows a small overhead.
_USUAL_NOISE, _RECOMMENDED = 0.02, 5
#: Confidence -> half the width of the interval in percent with the fewest and
#: with the recommended number of outputs; the default does without SciPy,
#: whose import takes as long as the rest of the command.
_USUAL_PRECISION = {0.95: (4.534, 2.917)}
#: The options of the SLA with limits by metric.
_LIMITS = ("max_percent", "max", "min")
#: The SLA of findings, and its option with limits by metric.
_VALID, _PHYSICAL = "vmperf_valid", "physical_limit"
#: An output on the command line.
OUTPUT = "[TOOL[:ARGUMENT=VALUE]...=]FILE"
OUTPUT_HELP = (
    "output of a tool, which is recognised by its content; each file is one "
    "repetition. If something is missing in it, name the tool and the "
    "argument, such as mbw:version=1.4=FILE or dd:direction=write=FILE"
)


def add_raw_options(
    parser: argparse.ArgumentParser, *, baseline_help: str
) -> None:
    """Add the options for a comparison of raw outputs.

    :param baseline_help: The help text of ``--baseline``.
    """
    parser.add_argument("--baseline", metavar="NAME", help=baseline_help)
    parser.add_argument(
        "--raw",
        action="store_true",
        help="compare outputs of tools, instead of runs: those of --guest "
        "with those of --bare-metal or of --baseline",
    )
    for side, owner in (("bare-metal", "bare metal"), ("guest", "a guest")):
        parser.add_argument(
            f"--{side}",
            nargs="+",
            default=[],
            metavar=OUTPUT,
            help=f"with --raw: outputs of {owner}. {OUTPUT_HELP}",
        )
    parser.add_argument(
        "--allow",
        choices=("arguments",),
        help="with --raw: compare outputs with different arguments, too",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        type=_parse_limit,
        metavar="[METRIC=]PERCENT",
        help="with --raw: the largest overhead in percent, of a metric or a "
        "glob, or of all metrics, such as 10 or disk.*=25; may be repeated, "
        "and replaces --limits",
    )
    parser.add_argument(
        "--physical-limit",
        action="append",
        default=[],
        type=_parse_physical_limit,
        metavar="METRIC=VALUE",
        help="with --raw: the physical limit of the machine for a metric or "
        "a glob, in base units (B/s, bit/s), such as disk.*=330e6; may be "
        "repeated",
    )


def check_options(
    parsed: argparse.Namespace, runs: collections.abc.Sequence[str]
) -> None:
    """Reject inconsistent options.

    :param parsed: The parsed arguments.
    :param runs: The names and files of runs on the command line.
    :raises VMPerfError: If ``--raw`` or options of raw outputs are misused.
    """
    if not parsed.raw:
        if parsed.physical_limit or parsed.guest or parsed.bare_metal:
            raise errors.VMPerfError(
                "outputs of tools and --physical-limit require --raw; add "
                "--raw"
            )
        if parsed.limit:
            raise errors.VMPerfError(
                "--limit requires --raw; give the limits of runs with --limits"
            )
        return
    for option in ("limit", "physical_limit"):
        _check_single_limits(option, getattr(parsed, option))
    if parsed.limit and parsed.limits:
        raise errors.VMPerfError(
            "--limit and --limits both have limits; remove one of them"
        )
    if runs:
        raise errors.VMPerfError(
            f"--raw compares outputs of tools and not {runs[0]}; remove one "
            "of them, or put the file after --guest"
        )
    if not parsed.guest:
        raise errors.VMPerfError(
            "--raw requires outputs of a guest: --guest FILE..."
        )
    if parsed.baseline and parsed.bare_metal:
        raise errors.VMPerfError(
            "--bare-metal and --baseline both name the other side; give one "
            "of them"
        )
    if not (parsed.baseline or parsed.bare_metal):
        raise errors.VMPerfError(
            "--raw requires either --bare-metal FILE... or --baseline NAME"
        )


def _check_single_limits(
    option: str, given: collections.abc.Iterable[tuple[str, float]]
) -> None:
    """Reject two limits of one metric or glob, of which one would be lost.

    :param option: The name of the option in the parsed arguments.
    :param given: The pattern and the value of each limit.
    """
    limits: dict[str, float] = {}
    for pattern, limit in given:
        if limits.setdefault(pattern, limit) != limit:
            raise errors.VMPerfError(
                f"--{option.replace('_', '-')}: two limits for {pattern!r}, "
                f"{limits[pattern]:g} and {limit:g}; remove one of them"
            )


def read_outputs(
    arguments: collections.abc.Iterable[str],
    paths: dict[bytes, str] | None = None,
) -> "list[raw.RawOutput]":
    """Return the parsed outputs of all tools, merged.

    Different files with the same content are a warning: one output counted
    as several repetitions would have an interval without cause, but coarse
    tools print equal outputs.

    :param arguments: The outputs, each as in ``OUTPUT``.
    :param paths: The content of other outputs, and their paths; it is
        extended. Default: an empty mapping.
    :raises VMPerfError: If an output cannot be read, or a file is given
        twice; the message names the file.
    """
    from rally_vmperf.runs.raw_outputs import cleaning
    from rally_vmperf.runs.raw_outputs import raw
    from rally_vmperf.runs.raw_outputs import reading

    outputs: list[raw.RawOutput] = []
    paths = {} if paths is None else paths
    for argument in arguments:
        tool, given, path = _split_argument(argument)
        content = _read_content(path)
        notes: tuple[str, ...] = ()
        if previous := paths.get(content):
            if os.path.samefile(previous, path):
                raise errors.VMPerfError(
                    f"{path}: was given twice, but is one repetition of one "
                    "side; remove one of them"
                )
            notes = (f"equals {previous}; if it is a copy, remove it",)
        paths[content] = path
        try:
            found = reading.read(cleaning.clean(content), tool, given)
        except workloads.WorkloadError as error:
            raise errors.VMPerfError(f"{path}: {error}") from None
        outputs += found
        notes += tuple(note for output in found for note in output.notes)
        for note in notes:
            base.write(sys.stderr, f"{path}: {note}\n")
    return raw.merge(outputs)


def judge_outputs(parsed: argparse.Namespace) -> tuple[list[str], bool]:
    """Judge outputs of a guest; return table lines and whether it passed."""
    from rally_vmperf.judging import verdict_table
    from rally_vmperf.questions.overhead import conclusion

    judged = _judge(parsed)
    judgement = judged.judgement
    table = [_COLUMNS, *map(_format_row, judgement.compared)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [verdict_table.aligned(row, widths) for row in table]
    headline = judgement.headline()
    is_limited = parsed.limit or parsed.limits
    if judgement.status == "inconclusive" and not is_limited:
        headline = (
            "inconclusive: no limit was given; add --limit 10 for an overhead "
            "of at most 10 %"
        )
    lines += [headline, *conclusion.conclude(judgement)]
    reasons = (row.reason for row in judgement.compared if not row.comparison)
    lines += [f"Not compared: {reason}." for reason in dict.fromkeys(reasons)]
    lines += [f"{reason}." for reason in judgement.reasons()]
    lines += judged.unstated
    if any(
        row.comparison and row.comparison.low is None for row in judgement.rows
    ):
        lines.append(_describe_precision(judgement.confidence))
    return lines, judgement.passed


def report_outputs(parsed: argparse.Namespace) -> "reports.RunReport":
    """Judge outputs of a guest, and return a report."""
    from rally_vmperf.judging import judged_run
    from rally_vmperf.questions.overhead import conclusion
    from rally_vmperf.questions.overhead import question
    from rally_vmperf.report import reports

    judged = _judge(parsed)
    content, judgement = judged.baseline, judged.judgement
    run = judged_run.JudgedRun(
        question=question.QUESTION.name,
        title=f"Guest compared with {content.name}",
        records=(),
        repetitions=tuple(judged.repetitions),
        judged_repetitions=tuple(judged.repetitions),
        judgements={question.OVERHEAD.heading: judgement},
        machines=(),
        machines_error="",
    )
    names = [_split_argument(one)[2] for one in parsed.guest]
    return reports.create_report(
        question.QUESTION.get_section(),
        run,
        conclusion=conclusion.conclude(judgement),
        facts=[
            ("Guest", [f"outputs: {', '.join(names)}"]),
            (
                "Bare metal",
                [f"baseline {content.name}, machine {content.machine.name}"],
            ),
            ("Confidence", [f"{judgement.confidence * 100:g} %"]),
            *([("Options", judged.unstated)] if judged.unstated else []),
        ],
    )


class _JudgedOutputs(t.NamedTuple):
    """Outputs that are compared with a baseline.

    :param repetitions: The repetitions of the guest.
    :param unstated: Sentences on options that the outputs do not state.
    """

    baseline: document.Baseline
    repetitions: "list[repetition.Repetition]"
    judgement: "summary.Judgement"
    unstated: list[str]


def _judge(parsed: argparse.Namespace) -> _JudgedOutputs:
    """Judge outputs of a guest; print what is not compared."""
    from rally_vmperf.measurement import gathering
    from rally_vmperf.measurement import repetition
    from rally_vmperf.measurement.comparison import verdict
    from rally_vmperf.questions import limits_file
    from rally_vmperf.questions.overhead import question
    from rally_vmperf.runs.raw_outputs import imported

    paths: dict[bytes, str] = {}
    content = _read_bare_metal(parsed, paths)
    origin = parsed.limits or "of --limit"
    criteria: question_.Criteria = {}
    if parsed.limits:
        criteria = limits_file.read_limits(parsed.limits)
    guest = read_outputs(parsed.guest, paths)
    if parsed.limit:
        criteria = {
            question.OVERHEAD.name: {"max_percent": dict(parsed.limit)}
        }
    overhead = criteria.get(question.OVERHEAD.name, {})
    question.OVERHEAD.parse(overhead)
    valid = verdict.Limits(criteria.get(_VALID, {}).get(_PHYSICAL) or {})
    physical = {**valid.patterns, **dict(parsed.physical_limit)}
    repetitions, omitted = imported.build_repetitions(
        content,
        guest,
        physical,
        is_lenient=parsed.allow == "arguments",
        limited=[
            pattern
            for option in _LIMITS
            for pattern in overhead.get(option, {})
        ],
    )
    metrics = gathering.metrics(repetition.list_conditions(repetitions))
    if parsed.limit:
        percent = _omit_covered_limit(dict(parsed.limit), metrics)
        overhead = {"max_percent": percent}
        criteria = {question.OVERHEAD.name: overhead}
    judge = question.OVERHEAD.parse(overhead).create_judge()
    omitted += _describe_unused_limits(origin, criteria, metrics)
    by_origin = {
        f"limits {origin}: {_PHYSICAL}": valid,
        "--physical-limit": verdict.Limits(dict(parsed.physical_limit)),
    }
    # A file of limits can be that of a task with more workloads.
    omitted += [
        f"{path}: {clause}"
        for path, patterns in by_origin.items()
        if (clause := patterns.describe_unmatched(metrics))
    ]
    for line in omitted:
        base.write(sys.stderr, f"{line}\n")
    for guest_repetition in repetitions:
        judge.add(guest_repetition)
    judgement = judge.judgement()
    if unmatched := verdict.Limits(physical).unmatched(
        metric.name for metric in metrics
    ):
        is_passed = judgement.status == "passed"
        judgement = dataclasses.replace(
            judgement,
            status="inconclusive" if is_passed else judgement.status,
            unmatched=(*judgement.unmatched, *unmatched),
        )
    limits_file.check_limits(
        origin,
        [question.OVERHEAD],
        criteria,
        metrics,
        may_be_unmatched=True,
    )
    return _JudgedOutputs(
        content,
        repetitions,
        judgement,
        imported.describe_unstated(content, guest),
    )


def _omit_covered_limit(
    percent: dict[str, float], metrics: "task.Metrics"
) -> dict[str, float]:
    """Return limits without that of all metrics if each has another limit.

    :param percent: The limits on the command line; ``*`` for all metrics.
    :param metrics: The metrics of both sides.
    """
    from rally_vmperf.measurement.comparison import verdict

    others = {
        pattern: limit for pattern, limit in percent.items() if pattern != "*"
    }
    matched = verdict.Limits(others)
    is_covered = all(map(matched.for_metric, matched.list_names(metrics)))
    return others if others and is_covered else percent


def _read_bare_metal(
    parsed: argparse.Namespace, paths: dict[bytes, str]
) -> document.Baseline:
    """Return the named baseline, or that of outputs; extend the paths."""
    from rally_vmperf.runs.raw_outputs import imported

    if parsed.baseline:
        store = rally_api.open_baseline_store(parsed.config_file)
        return store.load(parsed.baseline)
    bare_metal = read_outputs(parsed.bare_metal, paths)
    return imported.build_baseline("bare-metal", "bare metal", bare_metal, {})


def _describe_unused_limits(
    path: str, criteria: "question_.Criteria", metrics: "task.Metrics"
) -> list[str]:
    """Return a line for each limit in the file that judges nothing."""
    from rally_vmperf.questions.overhead import question

    name = question.OVERHEAD.name
    lines = [
        f"limits {path}: {other} is not judged: --raw judges {name}, and "
        f"{_PHYSICAL} of {_VALID}"
        for other in criteria
        if other not in (name, _VALID)
    ]
    lines += [
        f"limits {path}: {option} of {_VALID} is not judged: --raw judges "
        f"{_PHYSICAL} only"
        for option in criteria.get(_VALID, {})
        if option != _PHYSICAL
    ]
    parsed = question.OVERHEAD.parse(criteria.get(name, {}))
    for option, patterns in parsed.limits.items():
        if clause := patterns.describe_unmatched(metrics):
            lines.append(f"limits {path}: {option}: {clause}")
    return lines


def _describe_precision(confidence: float) -> str:
    """Return a sentence on the outputs that an interval requires."""
    from rally_vmperf.measurement.comparison import statistics

    few, more = _USUAL_PRECISION.get(confidence) or (
        100
        * statistics.half_width(
            _USUAL_NOISE**2, count, _USUAL_NOISE**2, count, confidence
        )
        for count in (statistics.FEWEST, _RECOMMENDED)
    )
    return (
        f"An interval requires {statistics.FEWEST} outputs of each side at "
        f"least. If they vary by {100 * _USUAL_NOISE:g} %, it is then the "
        f"overhead +/- {few:.1f} %; with {_RECOMMENDED} outputs +/- "
        f"{more:.1f} %."
    )


def _format_row(row: "result.Result") -> tuple[str, ...]:
    """Return the comparison of a metric as the texts of a table row."""
    from rally_vmperf.measurement.comparison import verdict
    from rally_vmperf.measurement.samples import units

    kinds = ", ".join(
        dict.fromkeys(
            report.finding.kind
            for report in row.findings
            if report.finding.severity != "note"
        )
    )
    comparison = row.comparison
    if comparison is None:
        warnings = ", ".join(filter(None, (kinds, "not compared")))
        return (row.metric.name, "-", "-", "-", "-", "-", warnings)
    unit = row.metric.unit
    return (
        row.metric.name,
        units.show(comparison.bare, unit),
        units.show(comparison.guest, unit),
        verdict.show_loss(comparison).value,
        verdict.interval(comparison),
        row.status or "no limit",
        kinds,
    )


def _split_argument(argument: str) -> tuple[str, dict[str, str], str]:
    """Return tool, given arguments and path of an output.

    An existing path is a path, whatever is in it.
    """
    tool = re.match("([a-z0-9]+)[:=]", argument)
    if os.path.exists(argument) or tool is None or "=" not in argument:
        return "", {}, argument
    # Patterns and names of files can contain "=".
    ends = [match.start() for match in re.finditer("=", argument)]
    end = next(
        (one for one in ends if os.path.exists(argument[one + 1 :])), ends[-1]
    )
    head, path = argument[:end], argument[end + 1 :]
    pairs = re.split(":(?=[a-z_]+=)", head)[1:]
    return tool[1], dict(pair.partition("=")[::2] for pair in pairs), path


def _read_content(path: str) -> bytes:
    """Return the bytes of a file, a few more than readers accept."""
    try:
        with open(path, "rb", opener=documents.open_regular) as stream:
            return stream.read(4 * output_bounds.MAX_CHARACTERS + 1)
    except OSError as error:
        raise errors.VMPerfError(
            f"{path or repr(path)}: {error.strerror or error}"
        ) from None


def _parse_limit(text: str) -> tuple[str, float]:
    """Return pattern and value of [METRIC=]PERCENT; reject other texts."""
    pattern, equals, number = text.rpartition("=")
    try:
        limit = float(number.removesuffix("%"))
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit) or bool(equals) != bool(pattern):
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be PERCENT or METRIC=PERCENT, such as 10 or "
            "disk.*=25"
        )
    return pattern or "*", limit


def _parse_physical_limit(text: str) -> tuple[str, float]:
    """Return pattern and value of METRIC=VALUE; reject other texts."""
    pattern, _, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = 0.0
    if not (pattern and 0 < limit < float("inf")):
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be METRIC=VALUE with a value > 0, such as "
            "disk.*=330e6"
        )
    return pattern, limit
