# SPDX-License-Identifier: Apache-2.0
"""Hosts with their samples, and how they differ from each other."""

import bisect
import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.audit import acknowledged
from rally_vmperf.judging import run_capacity
from rally_vmperf.measurement.comparison import medians
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The share of its CPUs or memory that a host may have less than others, such
#: as memory that its firmware keeps.
_TOLERANCE = 0.02
#: The number of hosts with as few CPUs that are a class of their own.
_FEWEST_OF_A_CLASS = 3
#: The amounts that a host can lose: how to read them, their unit and name.
_AMOUNTS: tuple[tuple[t.Callable[["Host"], int], int, str], ...] = (
    (lambda host: host.cpus, 1, "CPUs"),
    (lambda host: host.memory_mib, 1024, "GiB of memory"),
)


class HostFigure(t.NamedTuple):
    """A metric of guests of one flavor in one condition.

    :param setting: The test in full: question, arguments and shape. Only
        figures of the same test are compared.
    :param flavor: The name of the flavor.
    :param condition: The condition as text; empty if there is only one.
    """

    setting: str
    flavor: str
    condition: str
    metric: sample.Metric

    @property
    def title(self) -> str:
        """The metric with its condition and flavor as text."""
        inside = ", ".join(filter(None, (self.flavor, self.condition)))
        return f"{self.metric.name} ({inside})" if inside else self.metric.name


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuestCapacity:
    """The number of guests of a flavor that keep the limits on a host.

    :param vcpus: The vCPUs of a guest, dedicated or not.
    :param needs: The needs of a guest, by resource class of Placement.
    :param load: The offered load of the guests as text; "" at full speed.
    """

    vcpus: int
    needs: collections.abc.Mapping[str, int]
    found: run_capacity.RunCapacity
    load: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """The results of an audit on one host.

    :param cpu_model: The CPU model that guests see; "" if unknown.
    :param cpus: The number of CPUs; 0 if unknown.
    :param memory_mib: The memory in MiB; 0 if unknown.
    :param run: The identifier of its newest run.
    :param measured_at: The end of its newest repetition in UTC, ISO 8601.
    :param means: The mean of each rate and time.
    :param absences: The reasons why other figures have no samples.
    :param expected: The figures of a complete run; the others, such as a
        percentile of few values, may be missing.
    :param limited: The names of the metrics with a limit in its runs.
    :param capacities: The number of guests within limits by flavor, with the
        offered load if any.
    :param verdicts: The verdicts on the limits of its runs by title.
    :param versions: The versions of software on the host by name.
    :param reason: The reason why it has no result, or "".
    """

    name: str
    cpu_model: str = ""
    cpus: int = 0
    memory_mib: int = 0
    run: str = ""
    measured_at: str = ""
    means: collections.abc.Mapping[HostFigure, medians.HostMean] = (
        dataclasses.field(default_factory=dict)
    )
    absences: collections.abc.Mapping[HostFigure, str] = dataclasses.field(
        default_factory=dict
    )
    expected: collections.abc.Set[HostFigure] = frozenset()
    limited: collections.abc.Set[str] = frozenset()
    capacities: collections.abc.Mapping[str, GuestCapacity] = (
        dataclasses.field(default_factory=dict)
    )
    verdicts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    versions: documents.Facts = dataclasses.field(default_factory=dict)
    reason: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostChange:
    """The change of a figure on a host, compared with a reference.

    :param decides: Whether the metric has a limit or a margin, so that the
        audit requires a decision.
    :param peer: The other host of a pair, or "".
    :param decision: The loss and its status; None without a comparison.
    :param value: The geometric mean on the host; None without samples.
    :param reference: The geometric mean of the reference, or None.
    :param reason: The reason why there is no comparison, or "".
    :param known: The known difference that speaks of it, or None.
    """

    host: str
    figure: HostFigure
    margin: float
    decides: bool = False
    peer: str = ""
    decision: medians.Decision | None = None
    value: float | None = None
    reference: float | None = None
    reason: str = ""
    known: acknowledged.Acknowledgement | None = None

    @property
    def status(self) -> medians.Status:
        """The status; undecided without a comparison."""
        return self.decision.status if self.decision else "undecided"

    @property
    def is_lost(self) -> bool:
        """Whether the host has no samples, and others have."""
        return self.value is None and self.reference is not None

    @property
    def is_gain(self) -> bool:
        """Whether the host is better than the reference."""
        return self.decision is not None and self.decision.loss < 0

    @property
    def has_interval(self) -> bool:
        """Whether the loss has an interval."""
        return self.decision is not None and self.decision.low is not None

    @property
    def is_acknowledged(self) -> bool:
        """Whether the loss may be that of the known difference."""
        low = self.decision.low if self.decision else acknowledged.ALL_LOST
        return self.known is not None and self.known.covers(low)


def compare_hosts(
    hosts: collections.abc.Sequence[Host],
    margins: verdict.Limits,
    confidence: float = 0.95,
) -> list[HostChange]:
    """Return the change of each figure on each host, as a list.

    Hosts are compared within a class, which is the CPU model and the number
    of CPUs. The reference is the median of the other hosts. A figure that a
    complete run has, and that others have, is a change without a decision.

    :param margins: The margins in percent by metric or glob.
    """
    classes: dict[tuple[str, int], list[Host]] = {}
    for host in hosts:
        classes.setdefault((host.cpu_model, host.cpus), []).append(host)
    pairs: list[_Pair] = []
    for members in classes.values():
        for figure, measured in _list_by_figure(members).items():
            group = medians.MedianGroup(
                host.means[figure] for host in measured
            )
            pair = {
                host.name
                for host in measured
                if host.means[figure].repetitions >= statistics.FEWEST
            }
            for host in members:
                own = host.means.get(figure)
                if own is None and figure not in host.expected:
                    continue
                is_pair = len(pair) == 2 and host.name in pair
                pairs.append(
                    _Pair(
                        host,
                        figure,
                        group.estimate(own) if own else None,
                        group.build_reference(own),
                        min(pair - {host.name}) if is_pair else "",
                    )
                )
    return _decide(pairs, "other hosts of its class", margins, confidence)


def compare_with_earlier(
    hosts: collections.abc.Sequence[Host],
    earlier: collections.abc.Sequence[Host],
    margins: verdict.Limits,
    confidence: float = 0.95,
) -> list[HostChange]:
    """Return the change of each figure on each host since an earlier audit.

    :param margins: The margins in percent by metric or glob.
    """
    before = {host.name: host.means for host in earlier}
    pairs = []
    for figure, measured in _list_by_figure([*hosts, *earlier]).items():
        group = medians.MedianGroup(host.means[figure] for host in measured)
        for host in hosts:
            own = host.means.get(figure)
            other = before.get(host.name, {}).get(figure)
            if own is not None and other is not None:
                sides = group.estimate(own), group.estimate(other)
                pairs.append(_Pair(host, figure, *sides))
    return _decide(pairs, "the earlier audit", margins, confidence)


class _Pair(t.NamedTuple):
    """The sides of a contrast.

    :param own: The mean of the host; None if it lost the figure.
    :param reference: What it is compared with; None without other hosts.
    :param peer: The other host of a class of two, or "".
    """

    host: Host
    figure: HostFigure
    own: medians.MedianEstimate | None
    reference: medians.MedianEstimate | None
    peer: str = ""


def _list_by_figure(
    hosts: collections.abc.Iterable[Host],
) -> dict[HostFigure, list[Host]]:
    """Return the hosts that have each figure, a dict."""
    by_figure: dict[HostFigure, list[Host]] = {}
    for host in hosts:
        for figure in host.means:
            by_figure.setdefault(figure, []).append(host)
    return by_figure


def _decide(
    pairs: list[_Pair], others: str, margins: verdict.Limits, confidence: float
) -> list[HostChange]:
    """Return the changes of pairs, decided together.

    :param others: The reference as text.
    """
    names = {pair.figure.metric.name for pair in pairs}
    matches = {name: margins.for_metric(name, names) for name in names}
    compared = {
        index: medians.HostContrast(
            pair.figure.metric,
            pair.own,
            pair.reference,
            (matches[pair.figure.metric.name] or (verdict.MARGIN,))[0],
            bool(pair.peer),
        )
        for index, pair in enumerate(pairs)
        if pair.own is not None and pair.reference is not None
    }
    decided = medians.decide_all([*compared.values()], confidence)
    decisions = dict(zip(compared, decided, strict=True))
    host_changes = []
    for index, (host, figure, own, reference, peer) in enumerate(pairs):
        match = matches[figure.metric.name]
        reason = ""
        if own is None:
            reason = host.absences.get(figure, "not measured")
        elif reference is None:
            reason = f"no samples of {others}"
        elif not compared[index].has_interval:
            reason = f"requires {statistics.FEWEST} repetitions of each side"
        host_changes.append(
            HostChange(
                host=host.name,
                figure=figure,
                margin=match[0] if match else verdict.MARGIN,
                decides=match is not None
                or figure.metric.name in host.limited,
                peer=peer,
                decision=decisions.get(index),
                value=own.mean if own else None,
                reference=reference.mean if reference else None,
                reason=reason,
            )
        )
    return host_changes


def list_hardware_losses(
    hosts: collections.abc.Sequence[Host],
    earlier: collections.abc.Sequence[Host] = (),
) -> dict[str, dict[str, float]]:
    """Return by host which CPUs and memory it lost, and their share.

    A host lost them if it had more in an earlier audit, or if most hosts of
    its CPU model have more, and fewer than three have as few: more than two
    such hosts are a class that was bought like this.

    :returns: A dict of texts and percentages for each host with a loss.
    """
    losses: dict[str, dict[str, float]] = {}
    before = {host.name: host for host in earlier}
    for find_amount, unit, noun in _AMOUNTS:
        known = [host for host in hosts if find_amount(host)]
        by_model: dict[str, list[int]] = {}
        for host in sorted(known, key=find_amount):
            by_model.setdefault(host.cpu_model, []).append(find_amount(host))
        for host in known:
            own, numbers = find_amount(host), by_model[host.cpu_model]
            past = find_amount(before.get(host.name, host))
            same = bisect.bisect_right(numbers, own / (1 - _TOLERANCE))
            more = len(numbers) - same
            if own < past * (1 - _TOLERANCE):
                clause = f"{past / unit:.0f} before"
            elif host.cpu_model and same < min(more, _FEWEST_OF_A_CLASS):
                past = numbers[same]
                clause = (
                    f"{units.number_of('host', more)} of this CPU model have "
                    f"{past / unit:.0f}{' or more' * (past < numbers[-1])}"
                )
            else:
                continue
            text = f"{own / unit:.0f} {noun}; {clause}"
            losses.setdefault(host.name, {})[text] = 100 * (1 - own / past)
    return losses
