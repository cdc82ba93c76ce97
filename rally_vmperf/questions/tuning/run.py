# SPDX-License-Identifier: Apache-2.0
"""A run with one condition for each variant of a guest."""

import collections.abc
import contextlib
import dataclasses
import functools
import secrets
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.tuning import variants as variants_
from rally_vmperf.records import model
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import reference as references
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting

Names = collections.abc.Sequence[str]


def create_run(
    request: run_request.RunRequest, arguments: variants_.Arguments
) -> runs.Run:
    """Return a run with one condition for each variant.

    The guests of all variants are booted once, or those of each condition for
    it. The random seed of the order is recorded.

    :param arguments: The arguments of the task.
    """
    reference = arguments.get_reference()
    guests = request.booted.guests
    groups = variants_.list_guests(request.options)
    shape = dataclasses.replace(
        setting.find_shape(guests), copies=len(groups[reference])
    )
    covered_shapes = []
    if request.baseline is not None:
        covered_shapes = references.find_covered_shapes(
            request.baseline, request.assignments, [shape]
        )
    hosts = {guest.host_id for guest in guests if guest.group == reference}
    sequential = request.booted.sequential
    if sequential and request.protocol.reboot == "between_repetitions":
        # Each condition has new guests.
        request = dataclasses.replace(
            request,
            protocol=dataclasses.replace(request.protocol, reboot="never"),
        )

    def open_session(
        prepared: run_request.RunRequest = request,
    ) -> attempt.ReadySession:
        """Return a session, in which findings on a guest are its variant's."""
        booted = prepared.booted
        return separate_findings(
            prepared.prepare_session(
                covered_shapes,
                idle_guests="running" if sequential else arguments.idle_guests,
                findings=find_host_findings(booted.guests, reference, hosts),
            ),
            booted,
        )

    @contextlib.contextmanager
    def open_condition(
        condition: conditions.PlannedCondition,
    ) -> collections.abc.Iterator[
        tuple[conditions.PlannedCondition, attempt.ReadySession]
    ]:
        """Boot the guests of a variant; yield its condition and session."""
        name = str(condition.axes[repetition.VARIANT])
        prepared = request.boot_group(name)
        copies = _count_copies(
            prepared.booted.guests, groups[name], covered_shapes
        )
        ready = open_session(prepared)
        try:
            yield dataclasses.replace(condition, copies=copies), ready
        finally:
            ready.session.close()

    options: dict[str, t.Any] = {
        "variants": list(arguments.variants),
        "reference": reference,
        "idle_guests": arguments.idle_guests,
    }
    fields: dict[str, t.Any] = {"open": open_session}
    if sequential:
        options["boot"] = "each_condition"
        fields["open_condition"] = open_condition
    run = request.create_run(
        # Judges compare with the first one, the reference.
        (
            conditions.PlannedCondition(
                axes={repetition.VARIANT: name},
                copies=_count_copies(guests, names, covered_shapes),
                choose=functools.partial(choose_guests, names, request.booted),
            )
            for name, names in groups.items()
        ),
        order=model.Order(kind=arguments.order, seed=secrets.randbits(32)),
        findings=find_host_findings(guests, reference, hosts),
        options=options,
        **fields,
    )
    if sequential:
        number = sum(map(len, groups.values()))
        before = run.fallback_setting
        run.fallback_setting = dataclasses.replace(
            before, shape=dataclasses.replace(before.shape, copies=number)
        )
    return run


def choose_guests(
    names: Names,
    booted: models.BootedGuests,
    lost: conditions.Names,
    number: int = 1,
) -> conditions.Participants:
    """Return all guests of a variant, or the reason why they are unavailable.

    :param names: The names of the guests of the variant.
    :param booted: The guests of all variants.
    :param lost: The names of guests that no longer answer.
    :param number: The number of the repetition, which changes nothing.
    """
    available = tuple(
        name for name in names if name not in {*booted.absent, *lost}
    )
    reasons = [
        f"{name} stopped answering" for name in names if name in lost
    ] + [
        reported_finding.detail
        for reported_finding in booted.findings
        if reported_finding.kind == "guest_unavailable"
        and reported_finding.subject in names
    ]
    return conditions.Participants(
        names=available,
        unavailable=tuple(name for name in names if name not in available),
        reason="; ".join(reasons),
    )


def find_host_findings(
    guests: collections.abc.Sequence[models.Guest],
    reference: str,
    hosts: collections.abc.Set[str | None],
) -> list[finding.Finding]:
    """Return a finding on each guest that is on no host of the reference.

    :param reference: The name of the variant that the others are compared
        with.
    :param hosts: The identifiers of the hosts on which it booted first.
    """
    return [
        finding.Finding(
            "variant_host_differs",
            guest.name,
            f"{guest.name} ({guest.group}) is on host "
            f"{setting.get_host(guest) or 'unknown'}, on which the reference "
            f"{reference} has no guest",
        )
        for guest in guests
        if hosts and guest.host_id not in hosts
    ]


def separate_findings(
    ready: attempt.ReadySession, booted: models.BootedGuests
) -> attempt.ReadySession:
    """Return a session whose findings on a guest concern its conditions only.

    Findings on the comparison with a baseline remain in the setting, because
    they are replaced if a run is compared with another baseline.
    """
    names = {guest.name for guest in booted.guests} | {*booted.absent}
    by_guest: dict[str, tuple[finding.Finding, ...]] = {}
    others = []
    for reported_finding in ready.setting.findings:
        name = reported_finding.subject
        if (
            name in names
            and reported_finding.kind not in finding.FROM_BASELINE
        ):
            by_guest[name] = (*by_guest.get(name, ()), reported_finding)
        else:
            others.append(reported_finding)
    return dataclasses.replace(
        ready,
        setting=dataclasses.replace(ready.setting, findings=tuple(others)),
        guest_findings=by_guest,
    )


def _count_copies(
    guests: collections.abc.Sequence[models.Guest],
    names: Names,
    covered_shapes: collections.abc.Collection[document.Shape],
) -> int | None:
    """Return the number of bare-metal copies for a variant; None without."""
    shapes = {
        dataclasses.replace(setting.find_shape([guest]), copies=len(names))
        for guest in guests
        if guest.name in names
    }
    return len(names) if shapes and shapes <= {*covered_shapes} else None
