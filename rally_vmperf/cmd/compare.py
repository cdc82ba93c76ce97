# SPDX-License-Identifier: Apache-2.0
"""Command that compares runs with each other."""

import argparse
import collections.abc
import math
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import runs as runs_
from rally_vmperf.judging.results import changes
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import changes_table

if t.TYPE_CHECKING:
    from rally_vmperf.questions import compared_run
    from rally_vmperf.records import sources as records

ValueT = t.TypeVar("ValueT")


class ComparisonLister(base.Lister):
    """A command that lists the changes of metrics between runs."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of all comparisons."""
        parser.add_argument(
            "--margin",
            action="append",
            default=[],
            type=parse_margin,
            metavar="[METRIC=]PERCENT",
            help="largest loss or gain that is equal, of all metrics or of a "
            "metric or a glob, such as disk.*=10, and that decides the exit "
            "code; may be repeated; default: max_percent of the first run if "
            f"it is smaller than {verdict.MARGIN:g}, or {verdict.MARGIN:g}",
        )
        base.add_on_inconclusive(parser)
        parser.add_argument(
            "--html",
            metavar="FILE",
            help="write a page with a chart of all changes",
        )

    def list_changes(
        self,
        parsed: argparse.Namespace,
        runs: collections.abc.Sequence[changes.RunSamples],
        differences: list[str],
    ) -> changes_table.Row:
        """Return columns and rows; print differences, and write the page.

        A run that is or may be worse sets the exit code.

        :raises VMPerfError: If no metric can be compared.
        """
        metrics = {metric for run in runs for _, metric in run.samples}
        margins = create_margins(parsed.margin, metrics)
        compared = changes.compare_runs(runs, margins)
        if not any(change.figure.means for change in compared):
            reason = compared[0].reason if compared else "they have none"
            raise errors.VMPerfError(f"no metric can be compared: {reason}")
        summary = changes.summarise(runs, compared)
        summary += [gap for run in runs for gap in run.gaps]
        for line in (*differences, changes.BOOTS, *summary):
            self.warn(line)
        if parsed.html:
            _write_page(parsed.html, runs, compared, differences, summary)
        status, headline = changes.conclude(compared)
        if status == "worse" or any(run.missing for run in runs):
            self.code = base.NOT_PASSED
        elif status == "undecided" and parsed.on_inconclusive == "fail":
            self.code = base.NOT_PASSED
            self.warn(
                f"{headline}; record more repetitions, name the metrics that "
                "decide with --margin, or use --on-inconclusive pass"
            )
        ranked = changes.rank(compared)
        if parsed.formatter != "table":
            return changes_table.list_numbers(ranked)
        return changes_table.list_texts(runs, ranked)


class Compare(ComparisonLister):
    """Compare runs, and print how each metric changed.

    Each run is compared with the first: each metric is worse, better, equal
    within --margin, not worse, or undecided; one that it lost is worse. Of
    more than two runs, those compared are ranked by metric. The confidence
    is 95 % for all results together. Repetitions that are void and warm-ups
    do not count. Formats other than table contain numbers in base units.

    Metrics with a limit in the SLAs of the first run, or with a --margin,
    decide; if there are none, all rates and times do. The exit code is 0 if
    none of them is worse, 2 if one is worse or undecided or a run lacks
    repetitions or guests, and 1 if the runs cannot be compared.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        from rally_vmperf.questions import run_differences

        parser.add_argument(
            "runs",
            nargs="+",
            metavar="[NAME=]RUN",
            help="journal (*.jsonl), record (*.json), output of: rally task "
            "report --json, name of a registered baseline, UUID of a task, "
            "last, last:2, or a host for the newest task on it",
        )
        parser.add_argument(
            "--allow",
            action="append",
            default=[],
            choices=t.get_args(run_differences.Aspect),
            help="compare runs although these differ or are unknown; may be "
            "repeated",
        )
        runs_.add_limits(parser, "first run")
        runs_.add_journal_dir(parser)
        self.add_options(parser)

    def take_action(self, parsed: argparse.Namespace) -> changes_table.Row:
        """Return columns and one row per change; print differences."""
        from rally_vmperf.questions import run_differences

        if len(parsed.runs) < 2:
            raise errors.VMPerfError(
                "RUN is missing; specify at least two runs, such as: "
                "rally-vmperf compare before.jsonl after.jsonl"
            )
        differences: dict[str, None] = {}
        workloads = self._read_runs(parsed)
        for runs in workloads:
            run_differences.check_comparable(runs, parsed.allow)
            differences |= dict.fromkeys(
                run_differences.describe_differences(runs)
            )
        return self.list_changes(
            parsed, run_differences.join(workloads), list(differences)
        )

    def _read_runs(
        self, parsed: argparse.Namespace
    ) -> "list[list[compared_run.ComparedRun]]":
        """Return the runs of each workload; baselines as the first run needs.

        The first run of a workload has the limits of its SLAs.

        :raises VMPerfError: If the runs have different numbers of workloads.
        """
        from rally_vmperf.questions import compared_run
        from rally_vmperf.questions import source_judge

        store = rally_api.open_baseline_store(parsed.config_file)
        baselines = set(store.names())
        names = name_uniquely(map(_split_name, parsed.runs))
        contents = {
            name: store.load(run)
            for name, run in names.items()
            if run in baselines and not pathlib.Path(run).is_file()
        }
        if len(contents) == len(names):
            if parsed.limits:
                raise errors.VMPerfError(
                    f"--limits={parsed.limits}: baselines have no SLAs; use "
                    "--margin"
                )
            return [compared_run.create_baselines(contents)]
        sources = {
            name: runs_.read_sources(parsed, run)
            for name, run in names.items()
            if name not in contents
        }
        first = _check_numbers(sources)
        workloads = []
        for index, source in enumerate(sources[first]):
            records = [
                record for record in source.records if record is not None
            ]
            criteria = {
                name: source_judge.read_criteria(
                    run_sources[index], parsed.limits
                )
                for name, run_sources in sources.items()
            }
            runs = [
                compared_run.create_baseline_like(
                    name, contents[name], records
                )
                if name in contents
                else compared_run.create_run(
                    name, sources[name][index], criteria[name]
                )
                for name in names
            ]
            runs = compared_run.mark_lost_guests(runs)
            workloads.append(compared_run.set_limits(runs, criteria[first]))
        for line in source_judge.format_skipped(parsed.limits, sources[first]):
            self.warn(line)
        return workloads


def _check_numbers(
    by_name: "dict[str, list[records.Source]]",
) -> str:
    """Reject runs with other numbers of workloads; return the first name."""
    (first, workloads), *others = by_name.items()
    for name, other_workloads in others:
        if len(other_workloads) != len(workloads):
            number = units.number_of("workload", len(workloads))
            raise errors.VMPerfError(
                f"{first} has {number}, and {name} has "
                f"{len(other_workloads)}; compare tasks with the same "
                "workloads"
            )
    return first


def parse_margin(text: str) -> tuple[str, float]:
    """Return pattern and percent of a margin; reject other texts."""
    pattern, _, number = text.rpartition("=")
    try:
        percent = float(number.removesuffix("%"))
    except ValueError:
        percent = math.nan
    if not 0 <= percent < 100:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be [METRIC=]PERCENT with 0 <= PERCENT < 100, "
            "such as 5 or disk.*=10"
        )
    return pattern or "*", percent


def create_margins(
    patterns: collections.abc.Iterable[tuple[str, float]],
    metrics: collections.abc.Collection[sample.Metric],
) -> verdict.Limits:
    """Return the margins of the option ``--margin``.

    :param metrics: The metrics that were measured.
    :raises VMPerfError: If a pattern matches no ratio, or if patterns
        conflict.
    """
    margins = verdict.Limits(dict(patterns), ("ratio",))
    problem = margins.describe_conflict(metrics)
    if margins.patterns.keys() - {"*"}:
        problem = margins.describe_unmatched(metrics, "") or problem
    if problem:
        raise errors.VMPerfError(f"--margin: {problem}")
    return margins


def name_uniquely(
    named: collections.abc.Iterable[tuple[str, ValueT]],
) -> dict[str, ValueT]:
    """Return values by name as a dict, repeated names numbered."""
    unique: dict[str, ValueT] = {}
    for name, value in named:
        number, title = 1, name
        while title in unique:
            number += 1
            title = f"{name} ({number})"
        unique[title] = value
    return unique


def _split_name(argument: str) -> tuple[str, str]:
    """Return the name and the run of [NAME=]RUN, as a pair."""
    name, equals, run = argument.partition("=")
    if not (equals and name and run) or pathlib.Path(argument).exists():
        name, run = pathlib.Path(argument).name, argument
        for suffix in (".jsonl", ".json"):
            name = name.removesuffix(suffix)
    return sanitize.line(name), run


def _write_page(
    path: str,
    runs: collections.abc.Sequence[changes.RunSamples],
    compared: list[result.Result],
    differences: list[str],
    summary: list[str],
) -> None:
    """Write the page of a comparison to a file."""
    # These imports take a second, and other formats do not require them.
    from rally_vmperf.report import changes_page

    html = changes_page.standalone(
        [run.name for run in runs], compared, differences, summary
    )
    base.write_file(path, [html], "page", "--html")
