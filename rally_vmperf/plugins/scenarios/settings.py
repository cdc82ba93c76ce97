"""What stays the same over all repetitions of a run, as records tell it."""

import collections.abc
import dataclasses
import datetime
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import comparison
from rally_vmperf.execution import differences
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import request
from rally_vmperf.measurement import finding
from rally_vmperf.records import build
from rally_vmperf.records import codec

Context = dict[str, t.Any]
Json = dict[str, t.Any]


def of_overhead(session: sessions.Session, context: Context) -> build.Setting:
    """Return the setting of guests that are compared with bare metal.

    :raises BaselineError: when the baseline does not cover them
    """
    guests = context["vmperf_guests"]["guests"]
    baseline = context["vmperf_baseline"]["document"]
    shape = shape_of(guests)
    reference, metrics = comparison.reference(
        baseline, session.assignments, shape
    )
    return _setting(
        session,
        context,
        metrics=metrics,
        reference=reference,
        found=comparison.findings(baseline, session.assignments, shape, _now())
        + differences.find(session, baseline, shape)
        + differences.hosts(guests, baseline),
    )


def of_density(
    session: sessions.Session,
    context: Context,
    levels: collections.abc.Iterable[int],
    crowding: collections.abc.Sequence[finding.Finding],
) -> tuple[build.Setting, dict[int, Json]]:
    """Return the setting of a curve, and bare metal by number of guests.

    :param crowding: what there is to say of the hosts of the guests
    """
    guests = context["vmperf_guests"]["guests"]
    baseline = context.get("vmperf_baseline", {}).get("document")
    found = [*crowding, *differences.alone(session)]
    metrics: Json = {}
    references: dict[int, Json] = {}
    if baseline:
        found += differences.machines(session, baseline)
        found += differences.hosts(guests, baseline)
        for number in levels:
            shape = dataclasses.replace(shape_of(guests), copies=number)
            try:
                references[number], named = comparison.reference(
                    baseline, session.assignments, shape
                )
            except document.BaselineError:
                continue
            metrics |= named
            found += differences.data(session, baseline, shape)
            found += comparison.findings(
                baseline, session.assignments, shape, _now()
            )
    setting = _setting(
        session, context, metrics=metrics, reference=None, found=found
    )
    return setting, references


def shape_of(guests: collections.abc.Sequence[Context]) -> matching.Shape:
    """Return the shape that guests have by their flavor."""
    flavor = guests[0]["flavor"]
    return matching.Shape(
        vcpus=flavor["vcpus"],
        memory_mib=flavor["memory_mib"],
        copies=len(guests),
    )


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _setting(
    session: sessions.Session,
    context: Context,
    *,
    metrics: Json,
    reference: Json | None,
    found: list[finding.Finding],
) -> build.Setting:
    booted = context["vmperf_guests"]
    guests = booted["guests"]
    expected = [m for one in session.assignments for m in one.metrics()]
    of_boot = [finding.Finding(**one) for one in booted["findings"]]
    return build.Setting(
        shape=dataclasses.asdict(shape_of(guests)),
        machines=_machines(session, guests),
        workloads=[
            {
                "name": one.workload.name,
                "label": one.label,
                "arguments": one.arguments,
                "facts": {
                    name: facts.get(one.title, {})
                    for name, facts in session.facts.items()
                },
            }
            for one in session.assignments
        ],
        expected=[metric.name for metric in expected],
        metrics={**metrics, **codec.encode_metrics(expected)},
        reference=reference,
        findings=tuple(dict.fromkeys(of_boot + found)),
    )


def _machines(
    session: sessions.Session, guests: collections.abc.Sequence[Context]
) -> list[Json]:
    nova = {
        guest["name"]: {
            key: value
            for key, value in guest.items()
            if key not in ("host_key", "name", *request.REACHING)
        }
        for guest in guests
    }
    return [
        {
            "name": place.name,
            "role": place.role,
            "nova": nova.get(place.name, {}),
            **session.describe(place.name),
        }
        for place in session.everyone()
    ]
