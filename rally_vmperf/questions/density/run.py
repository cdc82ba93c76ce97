# SPDX-License-Identifier: Apache-2.0
"""A run with several numbers of concurrent guests per host."""

import collections.abc
import dataclasses
import functools
import itertools
import secrets
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.density import levels as numbers
from rally_vmperf.questions.density import question
from rally_vmperf.records import model
from rally_vmperf.runs import calibration
from rally_vmperf.runs import conditions
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
    groups, placement_findings = group_by_host(
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
    request: run_request.RunRequest, groups: "HostGroups"
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


@dataclasses.dataclass(frozen=True)
class HostGroups:
    """The guests of each host.

    :param groups: The names of the guests of each host.
    :param absent: The names of unavailable guests.
    """

    groups: tuple[tuple[str, ...], ...]
    absent: tuple[str, ...] = ()

    def split(self, number: int) -> tuple["HostGroups", tuple[str, ...]]:
        """Return the first guests of each host, and the names of the rest.

        :param number: The number of guests per host in the first group.
        """
        first = tuple(group[:number] for group in self.groups)
        rest = (name for group in self.groups for name in group[number:])
        return HostGroups(first, self.absent), tuple(rest)

    def choose(
        self, guests: int, lost: conditions.Names, number: int = 1
    ) -> conditions.Participants:
        """Return the names of the first available guests of each host.

        A single guest is a different one in each repetition, because guests
        differ in core, NUMA node and disk position, and therefore in
        performance.

        :param guests: The number of guests per host.
        :param lost: The names of guests that no longer answer.
        :param number: The number of the repetition.
        """
        names: list[str] = []
        for group in self.groups:
            left = [name for name in group if name not in lost]
            if len(left) < guests:
                gone = tuple(name for name in group if name in lost)
                reasons = [
                    f"{', '.join(names)} {event}"
                    for names, event in (
                        (gone, "stopped answering"),
                        (self.absent, "failed to boot"),
                    )
                    if names
                ]
                return conditions.Participants(
                    names=tuple(group[:guests]),
                    unavailable=(*gone, *self.absent),
                    reason=f"{guests} guests of a host are required, "
                    f"{len(left)} of {len(group)} are left: "
                    f"{'; '.join(reasons)}",
                )
            first = (number - 1) % len(left) if guests == 1 else 0
            names += left[first : first + guests]
        return conditions.Participants(names=tuple(names))

    def choose_one_by_one(
        self, lost: conditions.Names, number: int = 1
    ) -> conditions.Participants:
        """Return all guests, in batches of one guest per host.

        :param lost: The names of guests that no longer answer, which are
            skipped.
        :param number: The number of the repetition.
        """
        left = [
            [name for name in group if name not in lost]
            for group in self.groups
        ]
        if not all(left):
            return self.choose(1, lost, number)
        batches = tuple(
            tuple(name for name in batch if name)
            for batch in itertools.zip_longest(*left)
        )
        names = tuple(itertools.chain(*batches))
        return conditions.Participants(names=names, batches=batches)


def group_by_host(
    guests: collections.abc.Sequence[models.Guest],
    largest: int,
    absent: tuple[str, ...] = (),
) -> tuple[HostGroups, list[finding.Finding]]:
    """Group the guests by host; return the groups and placement findings.

    Members of a project see a host as ``hostId``, a hash that is the same for
    all guests of the project on one host.

    :param largest: The number of guests that should share each host; the
        number of all guests is a multiple of it.
    :param absent: The names of unavailable guests.
    """
    requested_groups = tuple(
        tuple(guest.name for guest in guests[first : first + largest])
        for first in range(0, len(guests), largest)
    )
    by_host: dict[str, list[str]] = {}
    for guest in guests:
        host = guest.host_id
        if not host:
            return HostGroups(requested_groups, absent), [
                finding.Finding(
                    kind="placement_unknown",
                    subject=guest.name,
                    detail="Nova reports no hostId, so it is unknown "
                    "whether the guests share a host",
                )
            ]
        by_host.setdefault(host, []).append(guest.name)
    groups = tuple(tuple(names) for names in by_host.values())
    full = [len(group) == largest for group in groups]
    fitting = [len(group) <= largest for group in groups]
    requested_hosts = (len(guests) + len(absent)) // largest
    if all(full) or (
        absent and all(fitting) and len(groups) <= requested_hosts
    ):
        return HostGroups(groups, absent), []
    hosts = f"each of {len(requested_groups)} hosts"
    if len(requested_groups) == 1:
        hosts = "one host"
    description = "; ".join(", ".join(group) for group in groups)
    return HostGroups(requested_groups, absent), [
        finding.Finding(
            kind="level_placement_wrong",
            subject="guests",
            detail=f"{largest} guests on {hosts} were requested; the guests "
            f"by host: {description}",
        )
    ]
