"""Commands over the registry of baselines."""

import argparse
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
_SHOWN = (
    *("Workload", "Shape", "Metric"),
    *("Bare metal", "Repetitions", "Held by", "CPUs", "NUMA node", "Network"),
)
_COMPARED = ("Metric", "Shape", "First", "Second", "Loss", "95 % interval")


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
    """Show the figures of a baseline."""

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
                rows.append(
                    (
                        entry["workload"],
                        shape,
                        name,
                        units.show(_typical(values), unit),
                        len(values),
                        *held,
                    )
                )
        return _SHOWN, rows


class Compare(base.Lister):
    """Compare two baselines, figure by figure and machine by machine."""

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
        return _COMPARED, list(_compared(first, second))


class Delete(base.Command):
    """Delete a baseline."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("name", help="name of the baseline")
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Remove the document."""
        rally_api.registry(parsed.config_file).delete(parsed.name)


def _compared(first: document.Json, second: document.Json) -> t.Iterator[Row]:
    for entry in first["entries"]:
        described = matching.describe(entry["shape"])
        shape = matching.Shape(**entry["shape"])
        try:
            other = matching.find(
                second, entry["workload"], matching.conditions(entry), shape
            )
        except document.BaselineError as error:
            yield entry["workload"], described, "-", "-", "-", str(error)
            continue
        metrics = codec.decode_metrics(entry["metrics"])
        ours, theirs = _values(entry), _values(other)
        for name in sorted(ours.keys() & theirs.keys()):
            metric = metrics[name]
            if metric.scale == "count":
                continue
            found = loss.compare(metric, ours[name], theirs[name])
            interval = (
                f"{found.low:.1f} to {found.high:.1f} %"
                if found.low is not None
                else "needs 3 repetitions on both sides"
            )
            yield (
                name,
                described,
                units.show(found.bare, metric.unit),
                units.show(found.guest, metric.unit),
                f"{found.overhead_percent:.1f} %",
                interval,
            )


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
