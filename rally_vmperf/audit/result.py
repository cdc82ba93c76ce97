"""The result of an audit: one line per host, and one verdict."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.audit import acknowledged
from rally_vmperf.audit import fleet_capacity
from rally_vmperf.audit import hosts
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import units

#: The statuses of hosts, the gravest first.
Status = t.Literal[
    "worse",
    "no result",
    "incomplete",
    "not compared",
    "undecided",
    "acknowledged",
    "not worse",
]
STATUSES: tuple[Status, ...] = t.get_args(Status)
#: The statuses of hosts in the headline, if they differ.
_PHRASES = {"no result": "without a result"}
#: The statuses with which an audit does not pass.
FAILED: tuple[Status, ...] = ("worse", "no result", "incomplete")


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostResult:
    """The result of one host.

    :param worse: The figures that are worse, the largest loss first.
    :param missing: The figures that it lost.
    :param undecided: The number of figures that may be worse.
    :param slower: The figures that became worse since the earlier audit.
    :param versions: The versions that differ from the earlier audit.
    :param is_alone: Whether no other host of its class has the same figures.
    :param acknowledged: The reason why a missing result is accepted, or "".
    """

    host: hosts.Host
    worse: tuple[hosts.HostChange, ...] = ()
    missing: tuple[hosts.HostChange, ...] = ()
    undecided: int = 0
    slower: tuple[hosts.HostChange, ...] = ()
    versions: tuple[str, ...] = ()
    is_alone: bool = False
    acknowledged: str = ""

    @property
    def status(self) -> Status:
        """The status of the host."""
        if self.host.reason:
            return "acknowledged" if self.acknowledged else "no result"
        if any(not change.acknowledged for change in self.all_worse):
            return "worse"
        if any(not change.acknowledged for change in self.missing):
            return "incomplete"
        if self.is_alone:
            return "not compared"
        if self.undecided:
            return "undecided"
        accepted = self.all_worse or self.missing
        return "acknowledged" if accepted else "not worse"

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
    :param capacities: The capacity by flavor, and in all.
    :param notes: Further sentences, such as on expired acknowledgements.
    """

    results: tuple[HostResult, ...]
    changes: tuple[hosts.HostChange, ...]
    capacities: tuple[fleet_capacity.Capacity, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> collections.Counter[str]:
        """The number of hosts by status."""
        return collections.Counter(result.status for result in self.results)

    @property
    def is_compared(self) -> bool:
        """Whether any host was compared with others or with itself."""
        return any(change.has_interval for change in self.changes)

    @property
    def passed(self) -> bool:
        """Whether no host is worse or lacks results, and enough guests fit."""
        counts = self.counts
        return not any(counts[status] for status in FAILED) and not any(
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
    margins: limits.Limits,
    *,
    earlier: collections.abc.Sequence[hosts.Host] | None = None,
    accepted: acknowledged.Acknowledgements | None = None,
    inventories: fleet_capacity.Inventories | None = None,
    required: collections.abc.Mapping[str, int] | None = None,
) -> Audit:
    """Return the result of an audit.

    :param margins: The margins in percent by metric or glob.
    :param earlier: The results of an earlier audit; None without one.
    :param accepted: The known differences.
    :param inventories: The inventories in Placement; None if not known.
    :param required: The smallest accepted number of guests by flavor.
    :raises CapacityError: If a required flavor was not measured.
    """
    accepted = accepted or acknowledged.Acknowledgements()
    names = {host.name for host in audited}
    changes = hosts.compare_hosts(audited, margins)
    slower = hosts.compare_with_earlier(audited, earlier or (), margins)
    by_host = _group(changes, accepted)
    slower_by_host = _group(slower, accepted)
    before = {host.name: host for host in earlier or ()}
    results = [
        _create_result(
            host,
            by_host.get(host.name, []),
            slower_by_host.get(host.name, []),
            before.get(host.name),
            accepted,
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
    )


def _group(
    changes: collections.abc.Iterable[hosts.HostChange],
    accepted: acknowledged.Acknowledgements,
) -> dict[str, list[hosts.HostChange]]:
    """Return changes by host, with the reasons why they are accepted."""
    by_host: dict[str, list[hosts.HostChange]] = {}
    for change in changes:
        reason = accepted.for_metric(change.host, change.figure.metric.name)
        if reason:
            change = dataclasses.replace(change, acknowledged=reason)
        by_host.setdefault(change.host, []).append(change)
    return by_host


def _create_result(
    host: hosts.Host,
    changes: list[hosts.HostChange],
    slower: list[hosts.HostChange],
    before: hosts.Host | None,
    accepted: acknowledged.Acknowledgements,
) -> HostResult:
    """Return the result of a host.

    :param before: Its results in the earlier audit, or None.
    """
    is_alone = all(change.reference is None for change in changes)
    is_compared = any(change.has_interval for change in changes)
    if not (host.reason or is_alone or is_compared):
        reasons = [change.reason for change in changes]
        host = dataclasses.replace(host, reason=next(filter(None, reasons)))
    return HostResult(
        host=host,
        worse=_list_worse(changes),
        missing=tuple(
            change
            for change in changes
            if change.value is None and change.reference is not None
        ),
        undecided=sum(
            change.status == "undecided" and change.value is not None
            for change in changes
        ),
        slower=_list_worse(slower),
        versions=_list_version_changes(before, host),
        is_alone=is_alone,
        acknowledged=accepted.for_missing_result(host.name),
    )


def _list_worse(
    changes: list[hosts.HostChange],
) -> tuple[hosts.HostChange, ...]:
    """Return the changes that are worse, the largest loss first."""
    worse = [
        (change.decision.loss, change)
        for change in changes
        if change.decision and change.status == "worse"
    ]
    worse.sort(key=lambda pair: -pair[0])
    return tuple(change for _, change in worse)


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
