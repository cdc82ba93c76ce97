# SPDX-License-Identifier: Apache-2.0
"""The result of an audit: one line per host, and one verdict."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.audit import acknowledged
from rally_vmperf.audit import fleet_capacity
from rally_vmperf.audit import hosts
from rally_vmperf.measurement.comparison import medians
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

#: The statuses of hosts, the gravest first.
Status = t.Literal[
    "worse",
    "no result",
    "incomplete",
    "differ",
    "not compared",
    "undecided",
    "acknowledged",
    "not worse",
]
STATUSES: tuple[Status, ...] = t.get_args(Status)
#: The statuses of hosts in the headline, if they differ.
_PHRASES = {"no result": "without a result"}
#: The statuses with which an audit does not pass.
FAILED = STATUSES[: STATUSES.index("undecided")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostResult:
    """The result of one host.

    :param worse: The figures that are worse, the largest loss first.
    :param missing: The figures that it lost.
    :param differing: The figures in which the two hosts of a class differ.
    :param undecided: The figures that may be worse.
    :param slower: The figures that became worse since the earlier audit.
    :param lost: The CPUs and memory that it lost as texts, in percent.
    :param versions: The versions that differ from the earlier audit.
    :param is_alone: Whether there is no other host and no earlier result that
        it can be compared with.
    :param known: The known difference of the host as a whole, or None.
    """

    host: hosts.Host
    worse: tuple[hosts.HostChange, ...] = ()
    missing: tuple[hosts.HostChange, ...] = ()
    differing: tuple[hosts.HostChange, ...] = ()
    undecided: tuple[hosts.HostChange, ...] = ()
    slower: tuple[hosts.HostChange, ...] = ()
    lost: collections.abc.Mapping[str, float] = dataclasses.field(
        default_factory=dict
    )
    versions: tuple[str, ...] = ()
    is_alone: bool = False
    known: acknowledged.Acknowledgement | None = None

    def explain_alone(self) -> str:
        """Return why no other host is a reference, as text."""
        most = max(
            (mean.repetitions for mean in self.host.means.values()), default=0
        )
        if 0 < most < statistics.FEWEST:
            return (
                f"requires {statistics.FEWEST} counted repetitions and has "
                f"{most}"
            )
        return (
            f"no other host of its class has {statistics.FEWEST} repetitions "
            "of the same test"
        )

    @property
    def status(self) -> Status:
        """The status of the host: the gravest that is not acknowledged."""
        differences = [
            (status, self.accepts(percent))
            for status, percent in self.list_losses()
        ]
        by_status: dict[Status, tuple[hosts.HostChange, ...]] = {
            "worse": self.all_worse,
            "incomplete": self.missing,
            "differ": self.differing,
            "undecided": self.undecided,
        }
        differences += [
            (status, change.is_acknowledged)
            for status, changes in by_status.items()
            for change in changes
        ]
        left = {status for status, is_known in differences if not is_known}
        return next(
            (status for status in STATUSES if status in left),
            "acknowledged" if differences else "not worse",
        )

    def list_losses(self) -> list[tuple[Status, float]]:
        """Return the losses of the host as a whole, with their statuses."""
        losses: list[tuple[Status, float]] = [
            ("worse", percent) for percent in self.lost.values()
        ]
        if self.host.reason or self.is_alone:
            status: Status = (
                "no result" if self.host.reason else "not compared"
            )
            losses.append((status, acknowledged.ALL_LOST))
        return losses

    @property
    def deciding(self) -> list[hosts.HostChange]:
        """The undecided figures that require a decision."""
        return [
            change
            for change in self.undecided
            if change.decides and not change.is_acknowledged
        ]

    def accepts(self, percent: float) -> bool:
        """Return whether a loss of the host as a whole is acknowledged."""
        return self.known is not None and self.known.covers(percent)

    @property
    def all_worse(self) -> tuple[hosts.HostChange, ...]:
        """The figures that are worse than others', or became worse."""
        return (*self.worse, *self.slower)

    @property
    def largest_loss(self) -> float:
        """The largest loss of a figure that is worse in percent, or 0."""
        losses = [
            change.decision.loss
            for change in self.all_worse
            if change.decision
        ]
        return max(losses, default=0.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit.

    :param results: The results of hosts, the worst first.
    :param changes: All changes against the other hosts.
    :param accepts_undecided: Whether an audit passes whose metrics with a
        limit are undecided.
    :param capacities: The capacity by flavor, and in all.
    :param notes: Further sentences, such as on expired acknowledgements.
    """

    results: tuple[HostResult, ...]
    changes: tuple[hosts.HostChange, ...]
    capacities: tuple[fleet_capacity.Capacity, ...] = ()
    notes: tuple[str, ...] = ()
    accepts_undecided: bool = False

    @property
    def counts(self) -> collections.Counter[str]:
        """The number of hosts by status."""
        return collections.Counter(result.status for result in self.results)

    @property
    def is_compared(self) -> bool:
        """Whether any host was compared with others or with itself."""
        return any(change.has_interval for change in self.changes)

    def is_accepted(self, result: HostResult) -> bool:
        """Return whether a host does not fail the audit."""
        if result.status == "undecided":
            return self.accepts_undecided or not result.deciding
        return result.status not in FAILED

    @property
    def passed(self) -> bool:
        """Whether all hosts are accepted, and enough guests fit."""
        return all(map(self.is_accepted, self.results)) and not any(
            capacity.is_too_small for capacity in self.capacities
        )

    @property
    def headline(self) -> str:
        """The number of hosts by status as one line of text."""
        counts = self.counts
        parts = [
            f"{counts[status]} {_PHRASES.get(status, status)}"
            for status in STATUSES
            if counts[status] or status == "worse"
        ]
        return (
            f"{units.number_of('host', len(self.results))}: {', '.join(parts)}"
        )


def audit(
    audited: collections.abc.Sequence[hosts.Host],
    margins: verdict.Limits,
    *,
    earlier: collections.abc.Sequence[hosts.Host] | None = None,
    accepted: acknowledged.Acknowledgements | None = None,
    inventories: fleet_capacity.Inventories | None = None,
    required: collections.abc.Mapping[str, int] | None = None,
    accepts_undecided: bool = False,
) -> Audit:
    """Return the result of an audit.

    :param margins: The margins in percent by metric or glob.
    :param earlier: The results of an earlier audit; None without one.
    :param accepted: The known differences.
    :param inventories: The inventories in Placement; None if not known.
    :param required: The smallest accepted number of guests by flavor.
    :param accepts_undecided: Whether undecided metrics that have a limit pass.
    :raises VMPerfError: If a required flavor was not measured.
    """
    accepted = accepted or acknowledged.Acknowledgements()
    earlier = earlier or ()
    names = {host.name for host in audited}
    changes = hosts.compare_hosts(audited, margins)
    slower = hosts.compare_with_earlier(audited, earlier, margins)
    by_host = _group(changes, accepted)
    slower_by_host = _group(slower, accepted)
    before = {host.name: host for host in earlier}
    lost = hosts.list_hardware_losses(audited, earlier)
    results = [
        _create_result(
            host,
            by_host.get(host.name, []),
            slower_by_host.get(host.name, []),
            lost=lost.get(host.name, {}),
            versions=_list_version_changes(before.get(host.name), host),
            known=accepted.find(host.name),
        )
        for host in audited
    ]
    results.sort(
        key=lambda result: (
            STATUSES.index(result.status),
            -result.largest_loss,
            result.host.name,
        )
    )
    return Audit(
        results=tuple(results),
        changes=tuple(change for host in by_host.values() for change in host),
        capacities=tuple(
            fleet_capacity.sum_capacities(audited, inventories, required)
        ),
        notes=(
            *accepted.list_expired(),
            *accepted.list_unknown_hosts(names),
            *_describe_unmatched(names, before),
        ),
        accepts_undecided=accepts_undecided,
    )


def _group(
    changes: collections.abc.Iterable[hosts.HostChange],
    accepted: acknowledged.Acknowledgements,
) -> dict[str, list[hosts.HostChange]]:
    """Return changes by host, with the known differences.

    The difference of a pair is known if it is that of the slower host.
    """
    by_host: dict[str, list[hosts.HostChange]] = {}
    # The slower host of a pair comes before the other one.
    for change in sorted(changes, key=lambda change: change.is_gain):
        known = accepted.find(change.host, change.figure.metric.name)
        if change.is_gain and change.peer:
            (slower,) = (
                other
                for other in by_host[change.peer]
                if other.figure == change.figure
            )
            known = slower.known if slower.is_acknowledged else None
        if known:
            change = dataclasses.replace(change, known=known)
        by_host.setdefault(change.host, []).append(change)
    return by_host


def _create_result(
    host: hosts.Host,
    changes: list[hosts.HostChange],
    slower: list[hosts.HostChange],
    **facts: t.Any,
) -> HostResult:
    """Return the result of a host.

    :param slower: The changes since the earlier audit.
    :param facts: The fields that do not depend on changes.
    """
    compared = [*changes, *slower]
    is_alone = all(change.reference is None for change in compared)
    is_compared = any(change.has_interval for change in compared)
    if not (host.reason or is_alone or is_compared):
        reasons = [change.reason for change in compared]
        host = dataclasses.replace(host, reason=next(filter(None, reasons)))
    undecided = {
        change.figure: change
        for change in compared
        if change.status == "undecided"
        and change.value is not None
        and change.reference is not None
    }
    return HostResult(
        host=host,
        worse=_list_by_loss(changes, "worse"),
        missing=tuple(change for change in changes if change.is_lost),
        differing=_list_by_loss(changes, "differ"),
        undecided=tuple(undecided.values()),
        slower=_list_by_loss(slower, "worse"),
        is_alone=is_alone,
        **facts,
    )


def _list_by_loss(
    changes: list[hosts.HostChange], status: medians.Status
) -> tuple[hosts.HostChange, ...]:
    """Return the changes with a status, the largest loss first."""
    found = [
        (change.decision.loss, change)
        for change in changes
        if change.decision and change.status == status
    ]
    found.sort(key=lambda pair: -pair[0])
    return tuple(change for _, change in found)


def _list_version_changes(
    before: hosts.Host | None, now: hosts.Host
) -> tuple[str, ...]:
    """Return the versions that differ from an earlier audit as texts."""
    if before is None:
        return ()
    return tuple(
        f"{name} {before.versions[name]} -> {version}"
        for name, version in now.versions.items()
        if before.versions.get(name, version) != version
    )


def _describe_unmatched(
    names: collections.abc.Set[str],
    before: collections.abc.Mapping[str, hosts.Host],
) -> list[str]:
    """Return a sentence on the hosts of the earlier audit that are gone."""
    gone = sorted(before.keys() - names)
    if not gone:
        return []
    listed = ", ".join(gone[:5])
    more = f" and {len(gone) - 5} more" if len(gone) > 5 else ""
    return [f"only in the earlier audit: {listed}{more}"]
