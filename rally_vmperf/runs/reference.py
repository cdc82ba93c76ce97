"""The bare-metal samples that guests are compared with."""

import collections.abc
import contextlib
import dataclasses
import datetime
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec

#: Age at which a baseline deserves to be recorded again.
OLD_AFTER = datetime.timedelta(days=90)


def entries(
    baseline: document.Json,
    assignments: collections.abc.Iterable[assignment.Assignment],
    shape: matching.Shape,
) -> list[document.Json]:
    """Return the baseline's entry for each assignment.

    :raises BaselineError: when the baseline does not cover one
    """
    return [
        matching.find(baseline, one.workload.name, one.conditions(), shape)
        for one in assignments
    ]


def reference(
    baseline: document.Json,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shapes: collections.abc.Iterable[matching.Shape],
) -> tuple[dict[str, t.Any], dict[str, dict[str, t.Any]]]:
    """Return the record's ``reference``, and the metrics that it names.

    :param shapes: each with a number of copies of its own
    :raises BaselineError: when the baseline does not cover an assignment
    """
    metrics: dict[str, dict[str, t.Any]] = {}
    copies = []
    for shape in shapes:
        repetitions: list[dict[str, t.Any]] = []
        commands: dict[str, list[codec.Row]] = {}
        merged: dict[str, dict[str, t.Any]] = {
            what: {}
            for what in ("percentiles", "distributions", "time_series")
        }
        chosen = entries(baseline, assignments, shape)
        for one, entry in zip(assignments, chosen, strict=True):
            known = codec.decode_metrics(entry["metrics"])
            _check_meaning(baseline["name"], one, known)
            named = [one.relabel(metric) for metric in known.values()]
            metrics.update(codec.encode_metrics(named))
            commands[one.title] = entry.get("command_usage", [])
            for what, found in merged.items():
                for name, given in entry.get(what, {}).items():
                    found[one.rename(name)] = given
            # Only the percentiles of all copies together are compared.
            own = {
                each.name
                for name in entry.get("percentiles", {})
                for each in sample.percentiles(known[name])
            }
            for index, samples in enumerate(entry["repetitions"]):
                if index == len(repetitions):
                    repetitions.append({})
                repetitions[index] |= {
                    one.rename(name): values
                    for name, values in samples.items()
                    if name not in own
                }
        copies.append(
            {
                "copies": shape.copies,
                "repetitions": repetitions,
                "command_usage": commands,
                **merged,
            }
        )
    machine = baseline["machine"]
    return {
        "name": baseline["name"],
        "machine": machine["name"],
        "recorded_at": baseline["recorded_at"],
        "digest": document.digest(baseline),
        "session": baseline["session"],
        "fingerprint": machine["fingerprint"],
        "tools": machine.get("tools", {}),
        "copies": copies,
    }, metrics


def covered(
    baseline: document.Json,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shapes: collections.abc.Iterable[matching.Shape],
) -> list[matching.Shape]:
    """Return the shapes in which the baseline has all assignments."""
    found = []
    for shape in shapes:
        with contextlib.suppress(document.BaselineError):
            reference(baseline, assignments, [shape])
            found.append(shape)
    return found


def _check_meaning(
    name: str,
    one: assignment.Assignment,
    known: collections.abc.Mapping[str, sample.Metric],
) -> None:
    """Refuse a baseline whose metrics have other definitions than now."""
    for metric in one.workload.metrics(one.arguments):
        recorded = known.get(metric.name, metric)
        if recorded != metric:
            raise document.BaselineError(
                f"baseline {name!r} has {metric.name} in {recorded.unit} "
                f"({recorded.better} is better, {recorded.scale}), this "
                f"version measures {metric.unit} ({metric.better}, "
                f"{metric.scale}); record the baseline again"
            )


def findings(
    baseline: document.Json,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shape: matching.Shape,
    now: datetime.datetime,
) -> list[finding.Finding]:
    """Return findings on the baseline itself."""
    chosen = entries(baseline, assignments, shape)
    found = [
        _of_entry(assigned, finding.Finding(**one))
        for assigned, entry in zip(assignments, chosen, strict=True)
        for one in entry["findings"]
    ]
    recorded = datetime.datetime.fromisoformat(baseline["recorded_at"])
    if now - recorded > OLD_AFTER:
        found.append(
            finding.Finding(
                kind="baseline_old",
                subject="baseline",
                detail=f"baseline {baseline['name']} was recorded "
                f"{(now - recorded).days} days ago",
            )
        )
    return list(dict.fromkeys(found))


def _of_entry(
    assigned: assignment.Assignment, one: finding.Finding
) -> finding.Finding:
    """Return a finding of a recording with the metrics that it concerns.

    CPUs and memory beyond those of the guest matter less to disks and links.
    """
    if one.kind != "shape_not_enforced":
        return one
    if assigned.workload.part in ("disk", "network"):
        one = dataclasses.replace(one, kind="io_shape_not_enforced")
    metrics = tuple(metric.name for metric in assigned.metrics())
    return dataclasses.replace(one, metrics=metrics)
