# SPDX-License-Identifier: Apache-2.0
"""Commands for the registry of baselines."""

import argparse
import collections.abc
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import base
from rally_vmperf.cmd import compare
from rally_vmperf.cmd import rally_api
from rally_vmperf.machines import background_load
from rally_vmperf.measurement.comparison import normality
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


class RegistrationCommand(base.Command):
    """A command that registers a baseline."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments for the registration."""
        parser.add_argument("name", help="name of the baseline")
        parser.add_argument(
            "--class",
            dest="machine_class",
            type=_parse_class,
            metavar="CLASS",
            help="class of machines that this machine represents, such as "
            "r740; a host with another name and the same fingerprint then "
            "causes no warning",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace a baseline with the same name",
        )

    def register(
        self,
        baseline_store: store.Store,
        content: document.Baseline,
        parsed: argparse.Namespace,
        *,
        replace: bool = False,
    ) -> None:
        """Register a baseline, and print its path and warnings.

        :param replace: Whether it replaces one of the same name without the
            option.
        """
        baseline_store.save(content, replace=replace or parsed.replace)
        self.print_line(
            f"baseline {parsed.name!r} is registered: "
            f"{baseline_store.folder / parsed.name}.json"
        )
        for line in describe_irregular(content):
            self.print_line(line)


def _parse_class(text: str) -> str:
    """Return a class of baselines unchanged; reject an invalid name."""
    if not store.NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid class: {store.NAME_RULE}"
        )
    return text


Row = tuple[t.Any, ...]

_LISTED = (
    *("Name", "Recorded at", "Machine", "Class", "Workloads"),
    *("Shape", "Repetitions", "Busy"),
)
_METRIC = ("Workload", "Shape", "Metric")
_CONDITIONS = ("Repetitions", "Limited by", "CPUs", "NUMA node", "Network")
_SHOWN = (*_METRIC, "Bare metal", *_CONDITIONS)
_SHOWN_NUMBERS = (*_METRIC, "Bare metal", "Unit", *_CONDITIONS)


class List(base.Lister):
    """List the registered baselines."""

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return columns and one row per baseline, also for a damaged one."""
        baseline_store = rally_api.open_baseline_store(parsed.config_file)
        rows = []
        for name in baseline_store.names():
            try:
                baseline = baseline_store.load(name)
            except document.BaselineError as error:
                rows.append((name, *"---", str(error), *"---"))
                continue
            rows.append(
                (
                    name,
                    baseline.recorded_at,
                    baseline.machine.name,
                    baseline.machine_class or "-",
                    *_summarise_entries(baseline.entries),
                )
            )
        if not rows:
            self.warn(
                f"no baseline in {baseline_store.folder}; to record one: "
                f"{document.format_record_command()}"
            )
        return _LISTED, rows


class Show(base.Lister):
    """Show the figures of a baseline.

    Formats other than table contain numbers in base units.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("name", help="name of the baseline")

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return columns and one row per workload, shape and metric."""
        baseline = rally_api.open_baseline_store(parsed.config_file).load(
            parsed.name
        )
        if baseline.machine_class:
            self.warn(f"class of machines: {baseline.machine_class}")
        isolated = baseline.machine.fingerprint.get("isolated_cpus")
        self.warn(f"isolated CPUs: {isolated or 'unknown'}")
        for line in describe_irregular(baseline):
            self.warn(line)
        has_numbers = parsed.formatter != "table"
        rows = []
        for measured in baseline.entries:
            conditions = (
                measured.limited_by,
                "; ".join(measured.cpus) or "-",
                ", ".join(map(str, measured.numa_nodes)) or "-",
                "; ".join(flow.describe() for flow in measured.flows) or "-",
            )
            for metric, repetitions in _sort_values(measured):
                average = _average(repetitions)
                figure: Row = (units.show(average, metric.unit),)
                if has_numbers:
                    figure = (average, metric.unit)
                rows.append(
                    (
                        measured.workload,
                        measured.describe_shape(),
                        metric.name,
                        *figure,
                        len(repetitions),
                        *conditions,
                    )
                )
        return _SHOWN_NUMBERS if has_numbers else _SHOWN, rows


class Compare(compare.ComparisonLister):
    """Compare the figures and the machines of two baselines.

    The results, the formats and the exit codes are those of: rally-vmperf
    compare.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("first", help="name of the reference")
        parser.add_argument("second", help="name of the other baseline")
        self.add_options(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return columns and one row per metric; print differences."""
        from rally_vmperf.questions import compared_run
        from rally_vmperf.questions import run_differences

        baseline_store = rally_api.open_baseline_store(parsed.config_file)
        runs = compared_run.create_baselines(
            compare.name_uniquely(
                (name, baseline_store.load(name))
                for name in (parsed.first, parsed.second)
            )
        )
        return self.list_changes(
            parsed, runs, run_differences.describe_differences(runs)
        )


class Delete(base.Command):
    """Delete a baseline."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("name", help="name of the baseline")

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Delete the baseline from the registry."""
        rally_api.open_baseline_store(parsed.config_file).delete(parsed.name)


def _summarise_entries(
    entries: collections.abc.Collection[document.BaselineEntry],
) -> tuple[str, str, str, str]:
    """Return workloads, shapes, repetitions, and the parts that were busy."""
    workloads = {measured.workload for measured in entries}
    shapes = dict.fromkeys(measured.describe_shape() for measured in entries)
    counts = [len(measured.reference.repetitions) for measured in entries]
    low, high = min(counts), max(counts)
    busy_parts = {
        found.subject.replace(background_load.WHOLE, "whole machine")
        for measured in entries
        for found in measured.findings
        if found.kind == "bare_metal_busy"
    }
    return (
        ", ".join(sorted(workloads)),
        "; ".join(shapes),
        str(low) if low == high else f"{low} to {high}",
        ", ".join(sorted(busy_parts)) or "-",
    )


def describe_irregular(baseline: document.Baseline) -> list[str]:
    """Return a line for each metric with irregular repetitions.

    They are skewed, bimodal or drift.
    """
    lines = []
    for measured in baseline.entries:
        for metric, repetitions in _sort_values(measured):
            if metric.scale == "count":
                continue
            means = [*map(statistics.geometric_mean, repetitions)]
            error = metric.error(statistics.geometric_mean(means)) or 0
            where = f"{metric.name} of {measured.describe_shape()}"
            if departure := normality.departure(means, error):
                lines.append(
                    f"baseline_irregular: {where}: {', '.join(departure)}; "
                    "record the baseline again with 5 more repetitions"
                )
            if drift := normality.drift(means, error, is_rare=True):
                lines.append(
                    f"drifting: {where}: {drift}; record the baseline again "
                    "with more warm-up repetitions"
                )
    return lines


def _sort_values(
    measured: document.BaselineEntry,
) -> list[tuple[sample.Metric, list[list[float]]]]:
    """Return the metrics of an entry by name, with values by repetition."""
    return sorted(
        measured.collect_values().items(), key=lambda pair: pair[0].name
    )


def _average(repetitions: list[list[float]]) -> float:
    """Return the geometric mean of values, the arithmetic one with zeros."""
    values = [value for copies in repetitions for value in copies]
    if min(values) > 0:
        return statistics.geometric_mean(values)
    return sum(values) / len(values)
