# SPDX-License-Identifier: Apache-2.0
"""The setting of a run, which all repetitions share."""

import collections
import collections.abc
import dataclasses
import itertools
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import sessions
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests import verification
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import flows
from rally_vmperf.records import model
from rally_vmperf.runs import guest_promises

#: The reports of Nova, the machine and the workloads, by machine.
Details = collections.abc.Mapping[str, documents.Facts]
Guests = collections.abc.Sequence[models.Guest]
Assignments = collections.abc.Sequence[assignment.Assignment]
T = t.TypeVar("T")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """The properties that all repetitions of a run share.

    :param details: The reports for the file next to the journal.
    :param metrics: The metrics of the baseline and of the workloads.
    :param bare_metal: The baseline; None without one.
    :param rate_limits: The links and policies that can limit rates.
    :param sizes: The promised sizes of the guests, and those that they have.
    :param ends: The other ends of network workloads.
    """

    shape: model.RecordedShape
    machines: tuple[model.RecordedMachine, ...]
    details: Details
    workloads: tuple[model.RecordedWorkload, ...]
    expected_metrics: tuple[sample.Metric, ...]
    metrics: tuple[sample.Metric, ...]
    bare_metal: model.BareMetal | None = None
    findings: tuple[finding.Finding, ...] = ()
    rate_limits: tuple[rate_caps.Cap, ...] = ()
    sizes: tuple[promises.Size, ...] = ()
    ends: flows.FlowEndpoints = dataclasses.field(
        default_factory=flows.FlowEndpoints
    )

    def merge(
        self, settings: collections.abc.Sequence["Setting"]
    ) -> "Setting":
        """Return the setting of sessions that follow one another.

        :param settings: The settings, which have their own machines and share
            workloads, baseline and peer. The shape remains that of this one.
        """
        if not settings:
            return self
        machines = {
            machine.name: machine
            for setting in settings
            for machine in setting.machines
        }
        addresses: dict[str, str] = {}
        details: dict[str, documents.Facts] = {}
        for setting in settings:
            addresses |= setting.ends.addresses
            details |= setting.details
        first, *_ = settings
        return dataclasses.replace(
            first,
            shape=self.shape,
            machines=tuple(
                machines[name]
                for name in sorted(
                    machines,
                    key=lambda name: (machines[name].role, len(name), name),
                )
            ),
            details=details,
            findings=_unite(setting.findings for setting in settings),
            rate_limits=_unite(setting.rate_limits for setting in settings),
            sizes=_unite(setting.sizes for setting in settings),
            ends=first.ends._replace(addresses=addresses),
        )


def _unite(tuples: collections.abc.Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    """Return the elements of tuples, each once."""
    return tuple(dict.fromkeys(itertools.chain(*tuples)))


def build_setting(
    booted: models.BootedGuests,
    assignments: Assignments,
    session: sessions.Session | None = None,
    *,
    bare_metal: model.BareMetal | None = None,
    metrics: collections.abc.Iterable[sample.Metric] = (),
    findings: collections.abc.Iterable[finding.Finding] = (),
    unmeasured: int = 0,
) -> Setting:
    """Return the setting of guests: shape, machines, metrics, findings.

    :param booted: The result of booting the guests.
    :param session: The session with the guests; None if they are not ready.
    :param bare_metal: The baseline for the comparison.
    :param metrics: The metrics of the baseline.
    :param findings: The findings in addition to those of the boot.
    :param unmeasured: The number of guests, the last ones, that are not
        measured.
    """
    nova = {guest.name: _encode_guest(guest) for guest in booted.guests}
    machines = [
        model.RecordedMachine(
            name=guest.name,
            role="guest",
            host=get_host(guest),
            boot_id=guest.boot,
        )
        for guest in booted.guests
    ]
    if session and session.peer:
        machines.append(
            model.RecordedMachine(name=session.peer.name, role="peer")
        )
    if session and session.control:
        name = session.control.station.name
        machines.append(model.RecordedMachine(name=name, role="control"))
    sizes, unknown = _find_sizes(booted, session)
    caps, partial = guest_promises.list_caps(booted, assignments)
    return Setting(
        shape=_find_measured_shape(booted, unmeasured),
        machines=tuple(machines),
        details={
            machine.name: {
                "nova": nova.get(machine.name, {}),
                **(describe_machine(session, machine.name) if session else {}),
            }
            for machine in machines
        },
        workloads=list_workloads(assignments),
        expected_metrics=list_expected_metrics(assignments),
        metrics=(*metrics, *list_metrics(assignments)),
        bare_metal=bare_metal,
        findings=_unite(
            (booted.findings, tuple(findings), tuple(unknown), tuple(partial))
        ),
        rate_limits=(*caps, *_list_links(bare_metal, session)),
        sizes=sizes,
        ends=find_endpoints(assignments, session),
    )


def find_endpoints(
    assignments: Assignments, session: sessions.Session | None
) -> flows.FlowEndpoints:
    """Return the other ends of network workloads, as machines see them."""
    if session is None:
        return flows.FlowEndpoints()
    peer = session.peer
    stations = [*session.stations, *([peer] if peer else [])]
    return flows.FlowEndpoints(
        needed=assignment.required_endpoints(assignments),
        peer=peer.name if peer else "",
        addresses={station.name: station.address for station in stations},
    )


def _find_sizes(
    booted: models.BootedGuests, session: sessions.Session | None
) -> tuple[tuple[promises.Size, ...], list[finding.Finding]]:
    """Return the sizes of guests, and findings on those that are unknown."""
    if session is None:
        return (), []
    return guest_promises.find_sizes(
        booted.guests, session.fingerprints, session.volumes
    )


def _list_links(
    bare_metal: model.BareMetal | None, session: sessions.Session | None
) -> list[rate_caps.Cap]:
    """Return rate limits of the network links of bare metal and the peer."""
    machines: dict[str, documents.Facts] = {}
    if bare_metal:
        machines[bare_metal.machine] = bare_metal.fingerprint
    if session and session.peer:
        machines[session.peer.name] = session.fingerprints[session.peer.name]
    return [
        link
        for name, facts in machines.items()
        for link in rate_caps.links(
            facts.get("network_interfaces") or (), name
        )
    ]


def find_shape(guests: Guests) -> document.Shape:
    """Return the shape of guests from their flavor."""
    flavor = guests[0].flavor
    return document.Shape(
        vcpus=flavor.vcpus, memory_mib=flavor.memory_mib, copies=len(guests)
    )


def _find_measured_shape(
    booted: models.BootedGuests, unmeasured: int
) -> model.RecordedShape:
    """Return the shape of the measured guests, with their requested number."""
    measured = booted.guests[: len(booted.guests) - unmeasured]
    requested = len(measured) + len(booted.absent) if booted.absent else None
    return model.RecordedShape(
        **dataclasses.asdict(find_shape(measured)), requested_copies=requested
    )


def get_host(guest: models.Guest) -> str:
    """Return the name of the host of a guest or its hash; empty if unknown."""
    return guest.host or guest.hypervisor or guest.host_id or ""


def describe_machine(session: sessions.Session, name: str) -> documents.Facts:
    """Return a machine's fingerprint, tools and facts as a dict."""
    return {**session.describe(name), "facts": session.facts.get(name, {})}


def list_workloads(
    assignments: Assignments,
) -> tuple[model.RecordedWorkload, ...]:
    """Return the workloads with their arguments."""
    return tuple(
        model.RecordedWorkload(
            name=assignment.workload.name,
            label=assignment.label,
            arguments=assignment.arguments,
            cooldown=assignment.cooldown,
            drop_caches=assignment.drop_caches,
            offered_load=assignment.load.title if assignment.load else "",
            load_label=assignment.load.label if assignment.load else "",
        )
        for assignment in assignments
    )


def list_metrics(assignments: Assignments) -> tuple[sample.Metric, ...]:
    """Return the metrics that a condition can have."""
    return tuple(
        metric for assignment in assignments for metric in assignment.metrics()
    )


def list_expected_metrics(
    assignments: Assignments,
) -> tuple[sample.Metric, ...]:
    """Return the metrics of a complete condition."""
    return tuple(
        metric for metric in list_metrics(assignments) if not metric.optional
    )


def _encode_guest(guest: models.Guest) -> documents.Facts:
    """Return a guest's properties in Nova as a dict, without its login."""
    omitted = ("host_key", "name", "requested_at", *request.SSH_OPTIONS)
    plain: documents.Facts = {
        key: list(field) if isinstance(field, tuple) else field
        for key, field in dataclasses.asdict(guest).items()
        if key not in omitted
    }
    disk = {key: field for key, field in plain["disk"].items() if field}
    plain = {**plain, "disk": disk}
    if not guest.flavor.has_hidden_extra_specs:
        del plain["flavor"]["has_hidden_extra_specs"]
    del plain["volumes"]
    if guest.volumes:
        plain["volumes"] = _encode_volumes(guest)
        plain["settings"] = verification.list_requested(guest)
    return plain


def _encode_volumes(guest: models.Guest) -> list[documents.Facts]:
    """Return the data volumes of a guest as they are listed in a task."""
    counts = collections.Counter(
        (volume.size_gib, volume.type) for volume in guest.volumes
    )
    return [
        {
            "size_gib": size_gib,
            **({"type": name} if name else {}),
            "count": count,
        }
        for (size_gib, name), count in counts.items()
    ]
