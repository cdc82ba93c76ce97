"""Raw outputs of tools on the command line: read, judged, and reported."""

import argparse
import collections.abc
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.cmd import rally_api
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base as workloads

if t.TYPE_CHECKING:
    from rally_vmperf.measurement import overhead_judge
    from rally_vmperf.measurement import repetition
    from rally_vmperf.report import run as runs

    _Judged = tuple[
        document.Json,
        list[repetition.Repetition],
        overhead_judge.Judgement,
    ]

_COLUMNS = (
    *("METRIC", "BARE METAL", "GUEST", "OVERHEAD", "INTERVAL"),
    *("VERDICT", "WARNINGS"),
)


class OptionError(errors.VMPerfError):
    """Options contradict each other; one line."""


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
        "--physical-limit",
        action="append",
        default=[],
        type=_bound,
        metavar="METRIC=VALUE",
        help="with --raw: what the machine can do at most, in base units "
        "(B/s, bit/s): a metric or a glob, such as disk.*=330e6; may be "
        "repeated",
    )


def check_options(
    parsed: argparse.Namespace, runs: collections.abc.Sequence[str]
) -> None:
    """Reject options that contradict each other.

    :param runs: The names and files of runs on the command line.
    :raises OptionError: If ``--raw`` or options of raw outputs are misused.
    """
    if parsed.raw:
        if runs:
            raise OptionError(
                f"--raw reads outputs of tools and not {runs[0]}; "
                "leave one of them out"
            )
        if not parsed.baseline:
            raise OptionError(
                "--raw compares outputs with a baseline; name it by --baseline"
            )
    elif parsed.physical_limit or any(
        getattr(parsed, tool) for tool in raw.READERS
    ):
        raise OptionError(
            "outputs of tools and --physical-limit require --raw; add it"
        )


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


def judge(parsed: argparse.Namespace) -> tuple[list[str], bool]:
    """Judge outputs of a guest; return the lines, and whether it passed."""
    from rally_vmperf.questions.overhead import conclusion
    from rally_vmperf.report import verdict_table

    _, _, judgement = _judge(parsed)
    table = [_COLUMNS, *map(_row, judgement.compared)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [verdict_table.aligned(row, widths) for row in table]
    lines += [judgement.headline(), *conclusion.sentences(judgement)]
    return lines, judgement.passed


def report(parsed: argparse.Namespace) -> "runs.RunReport":
    """Judge outputs of a guest, and return them as a run."""
    from rally_vmperf.questions.overhead import conclusion
    from rally_vmperf.questions.overhead import question

    content, entries, judgement = _judge(parsed)
    tools = [tool for tool in raw.READERS if getattr(parsed, tool)]
    section = question.QUESTION.section()
    found: runs.RunReport = section.make(
        section=section,
        title=f"Guest compared with {content['name']}",
        records=(),
        repetitions=tuple(entries),
        judgements={question.OVERHEAD.heading: judgement},
        machines=(),
        lacking="",
        conclusion=conclusion.sentences(judgement),
        facts=[
            ("Guest", [f"outputs of {', '.join(tools)}"]),
            (
                "Bare metal",
                [
                    f"baseline {content['name']}, "
                    f"machine {content['machine']['name']}"
                ],
            ),
            ("Confidence", [f"{judgement.confidence * 100:g} %"]),
        ],
    )
    return found


def _judge(parsed: argparse.Namespace) -> "_Judged":
    """Return the baseline, the repetitions of the guest, and the judgement."""
    from rally_vmperf.measurement import gathering
    from rally_vmperf.measurement import overhead_judge
    from rally_vmperf.questions import limits_file
    from rally_vmperf.questions.overhead import question
    from rally_vmperf.runs.raw_outputs import imported

    content = rally_api.registry(parsed.config_file).load(parsed.baseline)
    criteria = limits_file.by_criterion(parsed.limits) if parsed.limits else {}
    of_overhead = overhead_judge.OverheadJudge(
        **criteria.get(question.OVERHEAD.name, {})
    )
    entries = imported.repetitions(
        content, read(parsed), dict(parsed.physical_limit)
    )
    for entry in entries:
        of_overhead.add(entry)
    limits_file.check(
        parsed.limits,
        [question.OVERHEAD],
        criteria,
        gathering.metrics([one for x in entries for one in x.conditions]),
    )
    return content, entries, of_overhead.judgement()


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
