"""Commands over the registry of baselines."""

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
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import codec
from rally_vmperf.records import flows

Row = tuple[t.Any, ...]

_LISTED = ("Name", "Recorded at", "Machine", "Class", "Workloads")
_METRIC = ("Workload", "Shape", "Metric")
_HELD = ("Repetitions", "Held by", "CPUs", "NUMA node", "Network")
_SHOWN = (*_METRIC, "Bare metal", *_HELD)
_SHOWN_NUMBERS = (*_METRIC, "Bare metal", "Unit", *_HELD)
_COMPARED = ("Metric", "Shape", "First", "Second", "Loss", "95 % interval")
_COMPARED_NUMBERS = (
    *("Metric", "Shape", "First", "Second", "Unit"),
    *("Loss (%)", "Low (%)", "High (%)", "Remark"),
)


class List(base.Lister):
    """List the registered baselines."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return one row per baseline; damaged ones say so."""
        known = rally_api.registry(parsed.config_file)
        rows = []
        for name in known.names():
            try:
                content = known.load(name)
            except document.BaselineError as error:
                rows.append((name, "-", "-", "-", str(error)))
                continue
            workloads = sorted({e["workload"] for e in content["entries"]})
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
                f"no baseline in {known.folder}; record one with: "
                "rally-vmperf baseline record NAME --task FILE --local (or "
                "--host USER@ADDRESS)\n"
            )
        return _LISTED, rows


class Show(base.Lister):
    """Show the figures of a baseline.

    Other formats than table have numbers in base units.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("name", help="name of the baseline")
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return one row per workload, shape and metric."""
        content = rally_api.registry(parsed.config_file).load(parsed.name)
        if "class" in content:
            self.app.stderr.write(f"class of machines: {content['class']}\n")
        isolated = content["machine"]["fingerprint"].get("isolated_cpus")
        shown = sanitize.printable(isolated or "unknown")
        self.app.stderr.write(f"isolated CPUs: {shown}\n")
        has_numbers = parsed.formatter != "table"
        rows = []
        for entry in content["entries"]:
            shape = matching.describe(entry["shape"])
            near = ", ".join(map(str, entry.get("numa_nodes", ())))
            held = (
                entry["limited_by"],
                "; ".join(entry.get("cpus", ())) or "-",
                near or "-",
                "; ".join(map(flows.describe, entry.get("flows", ()))) or "-",
            )
            for name, values in sorted(_values(entry).items()):
                unit = entry["metrics"][name]["unit"]
                value = _typical(values)
                figure: Row = (units.show(value, unit),)
                if has_numbers:
                    figure = (value, unit)
                rows.append(
                    (
                        entry["workload"],
                        shape,
                        name,
                        *figure,
                        len(values),
                        *held,
                    )
                )
        return _SHOWN_NUMBERS if has_numbers else _SHOWN, rows


class Compare(base.Lister):
    """Compare two baselines, figure by figure and machine by machine.

    Other formats than table have numbers in base units.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("first", help="name of the reference")
        parser.add_argument("second", help="name of the other baseline")
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> Row:
        """Return one row per metric that both have; tell differences."""
        known = rally_api.registry(parsed.config_file)
        first = known.load(parsed.first)
        second = known.load(parsed.second)
        classes = [one.get("class", "none") for one in (first, second)]
        if classes[0] != classes[1]:
            self.app.stderr.write(f"classes differ: {', '.join(classes)}\n")
        for found in comparability.compare_machines(
            first["machine"]["fingerprint"],
            second["machine"]["fingerprint"],
            parsed.second,
        ):
            self.app.stderr.write(f"{found.kind}: {found.detail}\n")
        pairs = list(_compared(first, second))
        if parsed.formatter == "table":
            return _COMPARED, [one.texts() for one in pairs]
        return _COMPARED_NUMBERS, [one.numbers() for one in pairs]


class Delete(base.Command):
    """Delete a baseline."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("name", help="name of the baseline")
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Remove the document."""
        rally_api.registry(parsed.config_file).delete(parsed.name)


@dataclasses.dataclass(frozen=True)
class _Pair:
    """A metric of two baselines.

    :param name: The metric, or the workload that the second one lacks.
    :param comparison: None for a workload that the second one lacks.
    :param remark: The reason for a missing comparison or interval, or empty.
    """

    name: str
    shape: str
    comparison: loss.Comparison | None
    remark: str

    def texts(self) -> Row:
        """Return the row of a table."""
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
        """Return the row with numbers in base units and in percent."""
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


def _compared(
    first: document.Json, second: document.Json
) -> t.Iterator[_Pair]:
    for entry in first["entries"]:
        described = matching.describe(entry["shape"])
        shape = matching.Shape(**entry["shape"])
        try:
            other = matching.find(
                second, entry["workload"], matching.conditions(entry), shape
            )
        except document.BaselineError as error:
            yield _Pair(entry["workload"], described, None, str(error))
            continue
        metrics = codec.decode_metrics(entry["metrics"])
        ours, theirs = _values(entry), _values(other)
        for name in sorted(ours.keys() & theirs.keys()):
            metric = metrics[name]
            if metric.scale == "count":
                continue
            found = loss.compare(metric, ours[name], theirs[name])
            remark = ""
            if found.low is None:
                remark = "needs 3 repetitions on both sides"
            yield _Pair(name, described, found, remark)


def _typical(values: list[list[float]]) -> float:
    every = [value for copies in values for value in copies]
    if min(every) > 0:
        return statistics.geometric_mean(every)
    return sum(every) / len(every)


def _values(entry: document.Json) -> dict[str, list[list[float]]]:
    """Return metric -> per repetition, the values of all copies."""
    values: dict[str, list[list[float]]] = {}
    copies = codec.copies(entry["shape"]["copies"])
    for samples in entry["repetitions"]:
        here: dict[str, list[float]] = {}
        for one in codec.decode_samples(samples, copies, entry["metrics"]):
            here.setdefault(one.sample.metric.name, []).append(
                one.sample.value
            )
        for name, found in here.items():
            values.setdefault(name, []).append(found)
    return values
