"""Commands for the registry of baselines."""

import argparse
import dataclasses
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import normality
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import parts
from rally_vmperf.runs import reference

Row = tuple[t.Any, ...]

_LISTED = ("Name", "Recorded at", "Machine", "Class", "Workloads")
_METRIC = ("Workload", "Shape", "Metric")
_CONDITIONS = ("Repetitions", "Limited by", "CPUs", "NUMA node", "Network")
_SHOWN = (*_METRIC, "Bare metal", *_CONDITIONS)
_SHOWN_NUMBERS = (*_METRIC, "Bare metal", "Unit", *_CONDITIONS)
_COMPARED = ("Metric", "Shape", "First", "Second", "Loss", "95 % interval")
_COMPARED_NUMBERS = (
    *("Metric", "Shape", "First", "Second", "Unit"),
    *("Loss (%)", "Low (%)", "High (%)", "Remark"),
)


class List(base.Lister):
    """List the registered baselines."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return columns and one row per baseline, also for a damaged one."""
        baseline_store = rally_api.open_baseline_store(parsed.config_file)
        rows = []
        for name in baseline_store.names():
            try:
                content = baseline_store.load(name)
            except document.BaselineError as error:
                rows.append((name, "-", "-", "-", str(error)))
                continue
            workloads = sorted(
                {measured["workload"] for measured in content["entries"]}
            )
            rows.append(
                (
                    name,
                    content["recorded_at"],
                    content["machine"]["name"],
                    content.get("class", "-"),
                    ", ".join(workloads),
                )
            )
        if not rows:
            self.app.stderr.write(
                f"no baseline in {baseline_store.folder}; to record one: "
                "rally-vmperf baseline record NAME --task FILE --local (or "
                "--host USER@ADDRESS)\n"
            )
        return _LISTED, rows


class Show(base.Lister):
    """Show the figures of a baseline.

    Formats other than table contain numbers in base units.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("name", help="name of the baseline")
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return columns and one row per workload, shape and metric."""
        content = rally_api.open_baseline_store(parsed.config_file).load(
            parsed.name
        )
        if "class" in content:
            self.app.stderr.write(f"class of machines: {content['class']}\n")
        isolated = content["machine"]["fingerprint"].get("isolated_cpus")
        cpus = sanitize.printable(isolated or "unknown")
        self.app.stderr.write(f"isolated CPUs: {cpus}\n")
        for line in describe_irregular(content):
            self.app.stderr.write(f"{line}\n")
        has_numbers = parsed.formatter != "table"
        rows = []
        for measured in content["entries"]:
            shape = matching.describe(measured["shape"])
            nodes = ", ".join(map(str, measured.get("numa_nodes", ())))
            network = "; ".join(
                flow.describe() for flow in parts.decode_flows(measured)
            )
            conditions = (
                measured["limited_by"],
                "; ".join(measured.get("cpus", ())) or "-",
                nodes or "-",
                network or "-",
            )
            for name, repetitions in sorted(
                reference.collect_values(measured).items()
            ):
                unit = measured["metrics"][name]["unit"]
                average = _average(repetitions)
                figure: Row = (units.show(average, unit),)
                if has_numbers:
                    figure = (average, unit)
                rows.append(
                    (
                        measured["workload"],
                        shape,
                        name,
                        *figure,
                        len(repetitions),
                        *conditions,
                    )
                )
        return _SHOWN_NUMBERS if has_numbers else _SHOWN, rows


class Compare(base.Lister):
    """Compare the figures and the machines of two baselines.

    Formats other than table contain numbers in base units.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("first", help="name of the reference")
        parser.add_argument("second", help="name of the other baseline")
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return columns and one row per common metric; print differences."""
        baseline_store = rally_api.open_baseline_store(parsed.config_file)
        first = baseline_store.load(parsed.first)
        second = baseline_store.load(parsed.second)
        classes = [content.get("class", "none") for content in (first, second)]
        if classes[0] != classes[1]:
            self.app.stderr.write(f"classes differ: {', '.join(classes)}\n")
        for difference in comparability.compare_machines(
            first["machine"]["fingerprint"],
            second["machine"]["fingerprint"],
            parsed.second,
        ):
            self.app.stderr.write(f"{difference.kind}: {difference.detail}\n")
        pairs = list(_pair_metrics(first, second))
        if parsed.formatter == "table":
            return _COMPARED, [pair.texts() for pair in pairs]
        return _COMPARED_NUMBERS, [pair.numbers() for pair in pairs]


class Delete(base.Command):
    """Delete a baseline."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("name", help="name of the baseline")
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Delete the baseline from the registry."""
        rally_api.open_baseline_store(parsed.config_file).delete(parsed.name)


@dataclasses.dataclass(frozen=True)
class _MetricPair:
    """A metric in two baselines.

    :param name: The metric, or a workload that the second baseline lacks.
    :param shape: The shape as text.
    :param comparison: The comparison, or None for a missing workload.
    :param remark: The reason for a missing comparison or interval, or empty.
    """

    name: str
    shape: str
    comparison: loss.Comparison | None
    remark: str

    def texts(self) -> Row:
        """Return the table row as texts for a terminal."""
        pair = self.comparison
        if pair is None:
            return self.name, self.shape, "-", "-", "-", self.remark
        return (
            self.name,
            self.shape,
            units.show(pair.bare, pair.metric.unit),
            units.show(pair.guest, pair.metric.unit),
            f"{pair.overhead_percent:.1f} %",
            self.remark or f"{pair.low:.1f} to {pair.high:.1f} %",
        )

    def numbers(self) -> Row:
        """Return the table row with numbers in base units and in percent."""
        pair = self.comparison
        if pair is None:
            return self.name, self.shape, *[None] * 6, self.remark
        return (
            self.name,
            self.shape,
            pair.bare,
            pair.guest,
            pair.metric.unit,
            pair.overhead_percent,
            pair.low,
            pair.high,
            self.remark,
        )


def _pair_metrics(
    first: document.Json, second: document.Json
) -> t.Iterator[_MetricPair]:
    """Yield the averages of each metric in two baselines, in pairs."""
    for measured in first["entries"]:
        described = matching.describe(measured["shape"])
        shape = matching.Shape(**measured["shape"])
        try:
            counterpart = matching.find(
                second,
                measured["workload"],
                matching.conditions(measured),
                shape,
            )
        except document.BaselineError as error:
            yield _MetricPair(
                measured["workload"], described, None, str(error)
            )
            continue
        metrics = parts.decode_metrics(measured["metrics"])
        recorded, compared = (
            reference.collect_values(measured),
            reference.collect_values(counterpart),
        )
        for name in sorted(recorded.keys() & compared.keys()):
            metric = metrics[name]
            if metric.scale == "count":
                continue
            comparison = loss.compare(metric, recorded[name], compared[name])
            remark = ""
            if comparison.low is None:
                remark = "requires 3 repetitions in both baselines"
            yield _MetricPair(name, described, comparison, remark)


def describe_irregular(content: document.Json) -> list[str]:
    """Return a line for each metric with skewed or bimodal repetitions."""
    lines = []
    for measured in content["entries"]:
        shape = matching.describe(measured["shape"])
        metrics = parts.decode_metrics(measured["metrics"])
        for name, repetitions in sorted(
            reference.collect_values(measured).items()
        ):
            metric = metrics[name]
            if metric.scale == "count":
                continue
            means = [*map(statistics.geometric_mean, repetitions)]
            error = metric.error(statistics.geometric_mean(means)) or 0
            if departure := normality.departure(means, error):
                lines.append(
                    f"baseline_irregular: {name} of {shape}: "
                    f"{', '.join(departure)}; record the baseline again with "
                    "5 more repetitions"
                )
    return lines


def _average(repetitions: list[list[float]]) -> float:
    """Return the geometric mean of values, the arithmetic one with zeros."""
    samples = [sample for copies in repetitions for sample in copies]
    if min(samples) > 0:
        return statistics.geometric_mean(samples)
    return sum(samples) / len(samples)
