"""Raw outputs of tools on the command line."""

import argparse
import collections.abc
import os
import pathlib
import sys
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base as workloads

if t.TYPE_CHECKING:
    from rally_vmperf.judging import summary
    from rally_vmperf.judging.results import figure_result
    from rally_vmperf.measurement import repetition
    from rally_vmperf.report import reports

    _JudgedOutputs = tuple[
        document.Baseline,
        list[repetition.Repetition],
        summary.Judgement[figure_result.FigureResult],
    ]

_COLUMNS = (
    *("METRIC", "BARE METAL", "GUEST", "OVERHEAD", "INTERVAL"),
    *("VERDICT", "WARNINGS"),
)


class OptionError(errors.VMPerfError):
    """Options that are inconsistent; the message is one line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for each tool whose output can be parsed."""
    for tool in raw.PARSERS:
        parser.add_argument(
            f"--{tool}",
            action="append",
            default=[],
            metavar="[WHICH=]FILE",
            help=f"output of {tool}; may be repeated, once per repetition; "
            f"WHICH: {raw.WHICH_HELP[tool]}",
        )


def add_raw_options(
    parser: argparse.ArgumentParser, *, baseline_help: str
) -> None:
    """Add the options for a comparison of raw outputs with a baseline.

    :param baseline_help: The help text of ``--baseline``.
    """
    parser.add_argument("--baseline", metavar="NAME", help=baseline_help)
    parser.add_argument(
        "--raw",
        action="store_true",
        help="use outputs of tools that ran in a guest, instead of runs; the "
        "options with the names of the tools specify the files",
    )
    add_arguments(parser)
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
    :raises OptionError: If ``--raw`` or options of raw outputs are misused.
    """
    if parsed.raw:
        if runs:
            raise OptionError(
                f"--raw reads outputs of tools and not {runs[0]}; remove one "
                "of them"
            )
        if not parsed.baseline:
            raise OptionError(
                "--raw requires a baseline; specify it with --baseline"
            )
    elif parsed.physical_limit or any(
        getattr(parsed, tool) for tool in raw.PARSERS
    ):
        raise OptionError(
            "outputs of tools and --physical-limit require --raw; add --raw"
        )


def read_outputs(parsed: argparse.Namespace) -> list[raw.RawOutput]:
    """Return the parsed outputs of all tools, merged.

    :param parsed: The parsed arguments.
    :raises BaselineError: If an output cannot be read, or a file is given
        twice; the message names the option and the file.
    """
    outputs = [
        output
        for tool in raw.PARSERS
        for output in _read_tool_outputs(tool, getattr(parsed, tool))
    ]
    if not outputs:
        options = ", ".join(f"--{tool}" for tool in raw.PARSERS)
        raise document.BaselineError(
            f"outputs of tools are missing; add at least one of {options}"
        )
    return raw.merge(outputs)


def judge_outputs(parsed: argparse.Namespace) -> tuple[list[str], bool]:
    """Judge outputs of a guest; return table lines and whether it passed."""
    from rally_vmperf.judging import verdict_table
    from rally_vmperf.questions.overhead import conclusion

    _, _, judgement = _judge(parsed)
    table = [_COLUMNS, *map(_format_row, judgement.compared)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [verdict_table.aligned(row, widths) for row in table]
    lines += [judgement.headline(), *conclusion.conclude(judgement)]
    return lines, judgement.passed


def report_outputs(parsed: argparse.Namespace) -> "reports.RunReport":
    """Judge outputs of a guest, and return a report."""
    from rally_vmperf.judging import judged_run
    from rally_vmperf.questions.overhead import conclusion
    from rally_vmperf.questions.overhead import question
    from rally_vmperf.report import reports

    content, repetitions, judgement = _judge(parsed)
    tools = [tool for tool in raw.PARSERS if getattr(parsed, tool)]
    run = judged_run.JudgedRun(
        question=question.QUESTION.name,
        title=f"Guest compared with {content.name}",
        records=(),
        repetitions=tuple(repetitions),
        judged_repetitions=tuple(repetitions),
        judgements={question.OVERHEAD.heading: judgement},
        machines=(),
        machines_error="",
    )
    return reports.create_report(
        question.QUESTION.section(),
        run,
        conclusion=conclusion.conclude(judgement),
        facts=[
            ("Guest", [f"outputs of {', '.join(tools)}"]),
            (
                "Bare metal",
                [f"baseline {content.name}, machine {content.machine.name}"],
            ),
            ("Confidence", [f"{judgement.confidence * 100:g} %"]),
        ],
    )


def _judge(parsed: argparse.Namespace) -> "_JudgedOutputs":
    """Judge outputs; return baseline, guest repetitions and judgement."""
    from rally_vmperf.measurement import gathering
    from rally_vmperf.measurement import repetition
    from rally_vmperf.questions import limits_file
    from rally_vmperf.questions.overhead import question
    from rally_vmperf.runs.raw_outputs import imported

    content = rally_api.open_baseline_store(parsed.config_file).load(
        parsed.baseline
    )
    criteria = limits_file.read_limits(parsed.limits) if parsed.limits else {}
    judge = question.OVERHEAD.parse(
        criteria.get(question.OVERHEAD.name, {})
    ).create_judge()
    repetitions = imported.build_repetitions(
        content, read_outputs(parsed), dict(parsed.physical_limit)
    )
    for guest_repetition in repetitions:
        judge.add(guest_repetition)
    limits_file.check_limits(
        parsed.limits,
        [question.OVERHEAD],
        criteria,
        gathering.metrics(repetition.list_conditions(repetitions)),
        may_be_unmatched=True,
    )
    return content, repetitions, judge.judgement()


def _format_row(row: "figure_result.FigureResult") -> tuple[str, ...]:
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
        warnings = ", ".join(filter(None, (kinds, row.reason)))
        return (row.metric.name, "-", "-", "-", "-", "-", warnings)
    unit = row.metric.unit
    return (
        row.metric.name,
        units.show(comparison.bare, unit),
        units.show(comparison.guest, unit),
        f"{units.show_percent(comparison.overhead_percent)} %",
        verdict.interval(comparison),
        row.status or "no limit",
        kinds,
    )


def _read_tool_outputs(
    tool: str, arguments: collections.abc.Sequence[str]
) -> list[raw.RawOutput]:
    """Return the parsed outputs of a tool; reject a file given twice.

    Different files with the same content are a warning: one output counted
    as several repetitions would have an interval without cause, but coarse
    tools print equal outputs.

    :param arguments: The arguments of the option, each [WHICH=]FILE.
    """
    outputs: list[raw.RawOutput] = []
    paths: dict[str, str] = {}
    for argument in arguments:
        which, path = _split_argument(argument)
        text = _read_text(tool, path)
        notes: tuple[str, ...] = ()
        if previous := paths.get(text):
            if os.path.samefile(previous, path):
                raise document.BaselineError(
                    f"--{tool} {path}: was given twice, but is one "
                    "repetition; remove one of the options"
                )
            notes = (f"equals {previous}; if it is a copy, remove it",)
        paths[text] = path
        try:
            output = raw.parse(tool, text, which)
        except workloads.WorkloadError as error:
            raise document.BaselineError(f"--{tool} {path}: {error}") from None
        outputs.append(output)
        for note in (*notes, *output.notes):
            base.write(sys.stderr, f"--{tool} {path}: {note}\n")
    return outputs


def _split_argument(argument: str) -> tuple[str, str]:
    """Split [WHICH=]FILE into the mode of the tool, or "", and the path."""
    which, equals, path = argument.partition("=")
    if not equals or "/" in which or pathlib.Path(argument).is_file():
        return "", argument
    return which, path


def _read_text(tool: str, path: str) -> str:
    """Return the text of a file, one character more than parsers accept."""
    try:
        with open(
            path, encoding="utf-8", opener=documents.open_regular
        ) as stream:
            return stream.read(workloads.MAX_OUTPUT_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise document.BaselineError(
            f"--{tool} {path}: {getattr(error, 'strerror', None) or error}"
        ) from None


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
