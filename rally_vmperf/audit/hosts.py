"""Hosts with their samples, and how they differ from each other."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.audit import contrasts
from rally_vmperf.judging import run_capacity
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample


class Figure(t.NamedTuple):
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

    :param needs: The needs of a guest, by resource class of Placement.
    """

    needs: collections.abc.Mapping[str, int]
    found: run_capacity.RunCapacity

    @property
    def vcpus(self) -> int:
        """The vCPUs of a guest, dedicated or not."""
        return self.needs.get("VCPU", 0) + self.needs.get("PCPU", 0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """The results of an audit on one host.

    :param machine_class: The CPU model and the number of CPUs; hosts are
        compared within a class.
    :param cpus: The number of CPUs; None if unknown.
    :param run: The identifier of its newest run.
    :param measured_at: The end of its newest repetition in UTC, ISO 8601.
    :param sums: The sums of each rate and time.
    :param absences: The reasons why other figures have no samples.
    :param expected: The figures of a complete run; the others, such as a
        percentile of few values, may be missing.
    :param capacities: The number of guests within limits by flavor.
    :param verdicts: The verdicts on the limits of its runs by title.
    :param versions: The versions of software on the host by name.
    :param reason: The reason why it has no result, or "".
    """

    name: str
    machine_class: str = ""
    cpus: int | None = None
    run: str = ""
    measured_at: str = ""
    sums: collections.abc.Mapping[Figure, contrasts.Sums] = dataclasses.field(
        default_factory=dict
    )
    absences: collections.abc.Mapping[Figure, str] = dataclasses.field(
        default_factory=dict
    )
    expected: collections.abc.Set[Figure] = frozenset()
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

    :param decision: The loss and its status; None without a comparison.
    :param value: The geometric mean on the host; None without samples.
    :param reference: The geometric mean of the reference, or None.
    :param reason: The reason why there is no comparison, or "".
    :param acknowledged: The reason why a worse figure is accepted, or "".
    """

    host: str
    figure: Figure
    margin: float
    decision: contrasts.Decision | None = None
    value: float | None = None
    reference: float | None = None
    reason: str = ""
    acknowledged: str = ""

    @property
    def status(self) -> changes.Status:
        """The status; undecided without a comparison."""
        return self.decision.status if self.decision else "undecided"

    @property
    def has_interval(self) -> bool:
        """Whether the loss has an interval."""
        return self.decision is not None and self.decision.low is not None


def compare_hosts(
    hosts: collections.abc.Sequence[Host],
    margins: limits.Limits,
    confidence: float = 0.95,
) -> list[HostChange]:
    """Return the change of each figure on each host, as a list.

    The reference is the mean of all other hosts of the class. A figure that a
    complete run has, and that others have, is a change without a decision.

    :param margins: The margins in percent by metric or glob.
    """
    classes: dict[str, list[Host]] = {}
    for host in hosts:
        classes.setdefault(host.machine_class, []).append(host)
    pairs: list[_Pair] = []
    for members in classes.values():
        pools = _add_by_figure(members)
        for host in members:
            for figure, pool in pools.items():
                host_sums = host.sums.get(figure)
                if host_sums is not None:
                    pairs.append(
                        _Pair(host, figure, host_sums, pool - host_sums, pool)
                    )
                elif figure in host.expected:
                    pairs.append(_Pair(host, figure, None, pool, pool))
    return _decide(pairs, "other hosts of its class", margins, confidence)


def compare_with_earlier(
    hosts: collections.abc.Sequence[Host],
    earlier: collections.abc.Sequence[Host],
    margins: limits.Limits,
    confidence: float = 0.95,
) -> list[HostChange]:
    """Return the change of each figure on each host since an earlier audit.

    :param margins: The margins in percent by metric or glob.
    """
    pools = _add_by_figure([*hosts, *earlier])
    before = {host.name: host for host in earlier}
    pairs = [
        _Pair(
            host,
            figure,
            host_sums,
            before[host.name].sums[figure],
            pools[figure],
        )
        for host in hosts
        if host.name in before
        for figure, host_sums in host.sums.items()
        if figure in before[host.name].sums
    ]
    return _decide(pairs, "the earlier audit", margins, confidence)


class _Pair(t.NamedTuple):
    """The sides of a contrast.

    :param own: The sums of the host; None if it lost the figure.
    """

    host: Host
    figure: Figure
    own: contrasts.Sums | None
    reference: contrasts.Sums
    pool: contrasts.Sums

    def explain(self, others: str) -> str:
        """Return why there is no comparison as text, or "".

        :param others: The reference as text.
        """
        if self.own is None:
            return self.host.absences.get(self.figure, "not measured")
        if not self.reference.count:
            return f"no samples of {others}"
        if min(self.own.count, self.reference.count) < statistics.FEWEST:
            return f"requires {statistics.FEWEST} repetitions of each side"
        return ""


def _add_by_figure(
    hosts: collections.abc.Iterable[Host],
) -> dict[Figure, contrasts.Sums]:
    """Return the sums of each figure over hosts, a dict."""
    pools: dict[Figure, contrasts.Sums] = collections.defaultdict(
        contrasts.Sums
    )
    for host in hosts:
        for figure, sums in host.sums.items():
            pools[figure] += sums
    return pools


def _decide(
    pairs: list[_Pair], others: str, margins: limits.Limits, confidence: float
) -> list[HostChange]:
    """Return the changes of pairs, decided together.

    :param others: The reference as text.
    """
    names = {pair.figure.metric.name for pair in pairs}
    by_metric = {
        name: (margins.for_metric(name, names) or (changes.MARGIN, ""))[0]
        for name in names
    }
    compared = {
        index: contrasts.Contrast(
            pair.figure.metric,
            pair.own,
            pair.reference,
            pair.pool,
            by_metric[pair.figure.metric.name],
        )
        for index, pair in enumerate(pairs)
        if pair.own is not None and pair.reference.count
    }
    decided = contrasts.decide_all([*compared.values()], confidence)
    decisions = dict(zip(compared, decided, strict=True))
    return [
        HostChange(
            host=pair.host.name,
            figure=pair.figure,
            margin=by_metric[pair.figure.metric.name],
            decision=decisions.get(index),
            value=pair.own.mean if pair.own else None,
            reference=pair.reference.mean if pair.reference.count else None,
            reason=pair.explain(others),
        )
        for index, pair in enumerate(pairs)
    ]
