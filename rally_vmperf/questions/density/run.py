# SPDX-License-Identifier: Apache-2.0
"""A run with several numbers of concurrent guests per host."""

import collections.abc
import dataclasses
import functools
import secrets
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.density import levels as numbers
from rally_vmperf.questions.density import question
from rally_vmperf.records import model
from rally_vmperf.runs import calibration
from rally_vmperf.runs import conditions
from rally_vmperf.runs import host_groups
from rally_vmperf.runs import reference
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting


def create_run(
    request: run_request.RunRequest, arguments: question.Arguments
) -> runs.Run:
    """Return a run with one condition for each number of guests.

    With unmeasured guests, each number has two conditions: without and with
    their workload. The random seed of the order is recorded.

    :param arguments: The complete arguments of the task.
    """
    counts = numbers.expand_levels(arguments.levels)
    unmeasured = arguments.create_unmeasured(request)
    guests = request.booted.guests
    largest = max(counts) + (unmeasured.guests if unmeasured else 0)
    groups, placement_findings = host_groups.group_by_host(
        guests, largest, request.booted.absent
    )
    if unmeasured:
        groups, names = groups.split(max(counts))
        unmeasured = dataclasses.replace(unmeasured, names=names)
    covered_shapes = _find_covered_shapes(request, counts)
    compared_copies = {measured.copies for measured in covered_shapes}
    return request.create_run(
        (
            conditions.PlannedCondition(
                axes={repetition.GUESTS: number, **axes},
                copies=number if number in compared_copies else None,
                choose=groups.choose_one_by_one
                if number == 1 and arguments.solo_guest == "all"
                else functools.partial(groups.choose, number),
                unmeasured=working,
                is_reference=number == 1 and not working,
            )
            for number in counts
            for axes, working in conditions.list_settings(unmeasured)
        ),
        shapes=covered_shapes,
        order=model.Order(
            kind=arguments.order or "listed", seed=secrets.randbits(32)
        ),
        calibration=_create_calibration(request, groups)
        if arguments.has_shares
        else None,
        enough=_create_stop(arguments.stop, unmeasured),
        findings=placement_findings,
        idle_guests=arguments.idle_guests,
        unmeasured=unmeasured,
        options={
            "idle_guests": arguments.idle_guests,
            "solo_guest": arguments.solo_guest,
            **({"levels": arguments.levels} if arguments.host_cpus else {}),
        },
    )


def _create_calibration(
    request: run_request.RunRequest, groups: host_groups.HostGroups
) -> calibration.Calibration:
    """Return the calibration of shares by a guest that is alone."""
    axes: repetition.Axes = {repetition.GUESTS: 1}
    return calibration.Calibration(
        driven=request.assignments,
        conditions=(
            conditions.PlannedCondition(
                axes=axes, choose=functools.partial(groups.choose, 1)
            ),
        ),
        progress=request.progress,
    )


def _find_covered_shapes(
    request: run_request.RunRequest, counts: collections.abc.Iterable[int]
) -> list[document.Shape]:
    """Return the shapes of all levels that the baseline covers, as a list."""
    if request.baseline is None:
        return []
    shape = setting.find_shape(request.booted.guests)
    return reference.find_covered_shapes(
        request.baseline,
        request.assignments,
        [dataclasses.replace(shape, copies=number) for number in counts],
    )


def _create_stop(
    stop: documents.Arguments | None, unmeasured: conditions.Unmeasured | None
) -> t.Callable[..., str]:
    """Return a function that returns why to stop after a level, or ""."""
    if not stop:
        return runs.never_stop
    # The load of unmeasured guests reduces the rates.
    counting: dict[str, t.Any] = {unmeasured.axis: False} if unmeasured else {}
    return functools.partial(
        find_stop_reason, numbers.create_stop_rule(stop), **counting
    )


def find_stop_reason(
    stop: numbers.StopRule,
    repetitions: collections.abc.Sequence[runs.ConditionResults],
    **axes: int | str,
) -> str:
    """Return why to stop after this level as text, or "".

    Incomplete levels are excluded, because their total is unknown.

    :param repetitions: The counted repetitions; the last one is running.
    :param axes: The axes of the levels that count, as in ``select``.
    """
    return stop.find_reason(
        [
            [
                numbers.Level(
                    t.cast(int, condition.axes[repetition.GUESTS]),
                    condition.observations,
                    condition.batches,
                )
                for condition in repetition.select(run_repetition, **axes)
                if condition.state == "complete"
            ]
            for run_repetition in repetitions
        ]
    )
