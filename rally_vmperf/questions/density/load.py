# SPDX-License-Identifier: Apache-2.0
"""The offered load of guests that are not always busy."""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.execution import assignment
from rally_vmperf.questions.common import task
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry

#: The number of warm-ups that measure the full speed.
CALIBRATIONS = 3
#: The largest number of loads of a task.
_MOST = 6

_SHARE = json_schema.number(exclusiveMinimum=0, maximum=1)
_RATE = json_schema.number(exclusiveMinimum=0)
_RATES = json_schema.values(
    {"oneOf": [_RATE, json_schema.values(_RATE, minProperties=1)]},
    minProperties=1,
)
#: JSON Schema of the load of a task.
SCHEMA: documents.Schema = {
    "description": "Share of the rate of a guest that is alone, such as 0.3, "
    "or rates by name or label of a workload, such as {sysbench: 285}; or a "
    "list of either.",
    "oneOf": [
        _SHARE,
        _RATES,
        json_schema.array(
            _SHARE, minItems=1, maxItems=_MOST, uniqueItems=True
        ),
        json_schema.array(
            _RATES, minItems=1, maxItems=_MOST, uniqueItems=True
        ),
    ],
}


def has_shares(argument: t.Any) -> bool:
    """Return whether the loads of an argument are shares."""
    loads = argument if isinstance(argument, list) else [argument]
    return all(isinstance(load, int | float) for load in loads)


def expand(
    workloads: collections.abc.Sequence[documents.Arguments],
    argument: t.Any,
    *,
    has_peer: bool = True,
) -> list[documents.Arguments]:
    """Return the workloads of a task, each once for each load.

    :param workloads: The workloads, as the task lists them.
    :param argument: The loads of the task.
    :param has_peer: Whether workloads that need a peer run; others are
        skipped, and need no rate.
    :raises InvalidTask: If a workload has no rate.
    """
    loads = argument if isinstance(argument, list) else [argument]
    labels = [
        _create_load(workloads[0], load, number, len(loads)).label
        for number, load in enumerate(loads, 1)
        if has_shares(argument)
    ]
    if len(set(labels)) < len(labels):
        raise task.InvalidTask(
            f"load={loads}: two shares are equal in four digits; remove one"
        )
    if not has_shares(argument):
        _check_names(workloads, loads)
    expanded: list[documents.Arguments] = []
    skipped = [
        workload
        for workload in workloads
        if not has_peer and _needs_peer(workload)
    ]
    if len(skipped) < len(workloads):
        workloads = [each for each in workloads if each not in skipped]
        expanded += skipped
    for number, load in enumerate(loads, 1):
        for workload in workloads:
            offered = _create_load(workload, load, number, len(loads))
            label = "-".join(
                filter(None, (workload.get("label", ""), offered.label))
            )
            expanded.append({**workload, "label": label, "load": offered})
    return expanded


def _needs_peer(workload: documents.Arguments) -> bool:
    """Return whether a workload needs a peer."""
    assigned = assignment.create_assignment(workload)
    return "peer" in assignment.required_endpoints([assigned])


def _check_names(
    workloads: collections.abc.Iterable[documents.Arguments],
    loads: collections.abc.Iterable[documents.Arguments],
) -> None:
    """Reject rates of other workloads than those of the task."""
    known = dict.fromkeys(
        name
        for workload in workloads
        for name in (workload["name"], workload.get("label", ""))
        if name
    )
    for load in loads:
        for name in load:
            if name not in known:
                raise task.InvalidTask(
                    f"load: {name!r:.80}: must be the name or label of a "
                    f"workload of the task: {', '.join(known)}"
                )


def _create_load(
    workload: documents.Arguments, load: t.Any, number: int, count: int
) -> assignment.Load:
    """Return a load of a workload.

    :param number: The number of the load among ``count``.
    """
    if isinstance(load, int | float):
        percent = f"{load * 100:.4g}"
        return assignment.Load(
            label=f"load-{percent.replace('.', '_')}",
            title=f"{percent} % load",
            share=load,
        )
    title = "the offered rates" if count == 1 else f"rates {number}"
    name = workload["name"]
    rates = load.get(workload.get("label", ""), load.get(name))
    if rates is None:
        raise task.InvalidTask(
            f"load: has no rate of {workload.get('label') or name}; add it, "
            "or remove the workload"
        )
    if not isinstance(rates, collections.abc.Mapping):
        rates = {"": rates}
    return assignment.Load(label=f"rate-{number}", title=title, rates=rates)


def check(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> None:
    """Reject workloads that cannot be driven, and rates of other commands.

    :raises InvalidTask: If a workload cannot offer its load.
    """
    for assigned in assignments:
        if assigned.load is None:
            continue
        name = assigned.workload.name
        try:
            assigned.workload.check_drivable(assigned.arguments)
        except base.WorkloadError as error:
            raise task.InvalidTask(
                f"load: {error}; these workloads can: "
                f"{', '.join(registry.drivable_workload_names())}"
            ) from None
        offers = assigned.workload.offers(assigned.arguments)
        commands = [offer.command for offer in offers]
        for command in assigned.load.rates:
            if command not in ("", *commands):
                raise task.InvalidTask(
                    f"load: {name}: {command!r:.80}: must be one of "
                    f"{', '.join(commands)}"
                )
        missing = [
            name for name in commands if name not in assigned.load.rates
        ]
        if assigned.load.rates and missing and "" not in assigned.load.rates:
            raise task.InvalidTask(
                f"load: {name}: has no rate of {missing[0]}; add it, or give "
                "one number for all"
            )
        is_given = any(offer.rate is not None for offer in offers)
        if assigned.load.share is not None and is_given:
            raise task.InvalidTask(
                f"load: the arguments of {assigned.directory} already have a "
                "rate, so that its full speed is unknown; give arguments "
                "without one"
            )
