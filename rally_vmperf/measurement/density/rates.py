"""Everything as a rate, so that guests can be added up and compared.

Half of the work in the same time is a loss of 50 %, and so is the same work
in twice the time: a time of ``x`` seconds counts as ``1/x`` per second.
"""

import collections
import collections.abc
import dataclasses

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

Several = collections.abc.Iterable[gathering.Gathered]


def of_metric(metric: sample.Metric) -> sample.Metric:
    """Return the metric as a rate, of which more is better.

    :raises ValueError: for a count, which can be zero and has no rate
    """
    if metric.scale != "ratio":
        raise ValueError(
            f"{metric.name} is a count and does not degrade, "
            "hold it to an absolute limit"
        )
    if metric.better == "higher":
        return metric
    return sample.Metric(
        metric.name, f"1/{metric.unit}", "higher", additive=metric.additive
    )


def convert(metric: sample.Metric, value: float) -> float:
    """Return a value as a rate, or a rate as a value: its own inverse."""
    return value if metric.better == "higher" else 1 / value


def by_guest(
    metric: sample.Metric, entry: gathering.Gathered
) -> dict[str, float]:
    """Return guest -> its rate in one repetition.

    Of a guest that reported several values it is their geometric mean.
    """
    values: dict[str, list[float]] = collections.defaultdict(list)
    for one in entry.observations:
        values[one.source].append(convert(metric, one.sample.value))
    return {
        source: statistics.geometric_mean(found)
        for source, found in values.items()
    }


def means(metric: sample.Metric, entries: Several) -> tuple[float, ...]:
    """Return the rate of the mean guest, for each repetition.

    Of a percentile it is that of all guests' values together.
    """
    return tuple(
        convert(metric, entry.merged)
        if entry.merged is not None
        else statistics.geometric_mean(list(by_guest(metric, entry).values()))
        for entry in entries
    )


def totals(
    metric: sample.Metric, entries: Several, turns: int = 1
) -> tuple[float, ...]:
    """Return the sum over the guests at once, for each repetition.

    Nothing for what does not add up, as its workload says: latencies,
    percentiles and jitter describe single operations.

    :param turns: in how many groups, one after another, they ran
    """
    if not metric.additive:
        return ()
    return tuple(
        sum(by_guest(metric, entry).values()) / turns for entry in entries
    )


def of_guests(
    metric: sample.Metric, entries: Several
) -> dict[str, tuple[float, ...]]:
    """Return guest -> its rate in each repetition that has it."""
    found: dict[str, list[float]] = collections.defaultdict(list)
    for entry in entries:
        for guest, rate in by_guest(metric, entry).items():
            found[guest].append(rate)
    return {guest: tuple(values) for guest, values in found.items()}


def pairs(
    metric: sample.Metric,
    alone: Several,
    concurrent: Several,
    hosts: collections.abc.Mapping[str, str],
    guest: str,
) -> tuple[list[float], list[float]]:
    """Return lone rate and own rate of each repetition that has both.

    A guest is put to itself alone, or else to the lone guest of its host.

    :param hosts: guest -> host, as far as it is known
    :param guest: its name; empty for the mean of all
    """
    if not guest:
        return _mean_pairs(metric, alone, concurrent)
    lone_rates = {entry.number: by_guest(metric, entry) for entry in alone}
    others, own = [], []
    for entry in concurrent:
        lone = _alone(lone_rates.get(entry.number, {}), guest, hosts)
        here = by_guest(metric, entry)
        if lone is not None and guest in here:
            others.append(lone)
            own.append(here[guest])
    return others, own


def _alone(
    lone: dict[str, float],
    guest: str,
    hosts: collections.abc.Mapping[str, str],
) -> float | None:
    """Return the lone rate that a guest is put to; None without any."""
    host = hosts.get(guest)
    near = {x: y for x, y in lone.items() if hosts.get(x) == host}
    found = {guest: lone[guest]} if guest in lone else near or lone
    return statistics.geometric_mean([*found.values()]) if found else None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lowest:
    """The guest that lost most in one repetition.

    :param number: of the repetition
    :param percent: what it lost of the rate
    """

    number: int
    guest: str
    percent: float


def lowest(
    metric: sample.Metric,
    alone: Several,
    concurrent: Several,
    hosts: collections.abc.Mapping[str, str],
) -> list[Lowest]:
    """Return the worst guest of each repetition that has a lone one.

    :param hosts: guest -> host, as far as it is known
    """
    lone_rates = {entry.number: by_guest(metric, entry) for entry in alone}
    found = []
    for entry in concurrent:
        lone = lone_rates.get(entry.number, {})
        losses = {
            guest: 100 * (1 - rate / other)
            for guest, rate in sorted(by_guest(metric, entry).items())
            if (other := _alone(lone, guest, hosts))
        }
        if losses:
            worst = max(losses, key=losses.__getitem__)
            found.append(
                Lowest(number=entry.number, guest=worst, percent=losses[worst])
            )
    return found


def _mean_pairs(
    metric: sample.Metric, alone: Several, concurrent: Several
) -> tuple[list[float], list[float]]:
    """Return the mean rates of each repetition that has both."""
    lone, all_at_once = (
        dict(
            zip(
                (entry.number for entry in side),
                means(metric, side),
                strict=True,
            )
        )
        for side in (alone, concurrent)
    )
    both = [number for number in all_at_once if number in lone]
    return [lone[n] for n in both], [all_at_once[n] for n in both]


def compare(
    metric: sample.Metric,
    bare: statistics.Values,
    guest: statistics.Values,
    confidence: float,
    paired: bool = False,
    cautious: bool = True,
) -> loss.Comparison | None:
    """Compare two sides, each one rate a repetition; None without a side.

    The loss of the rate, by the same arithmetic as overhead.

    :param paired: whether both are of the same repetitions, in their order
    :param cautious: whether few that vary more need more to pass; each of
        several, of which all have to pass, does not
    """
    if not bare or not guest:
        return None
    errors = [
        metric.error(convert(metric, statistics.geometric_mean(one)))
        for one in (bare, guest)
    ]
    known = [one for one in errors if one is not None]
    return loss.compare(
        dataclasses.replace(
            of_metric(metric), resolution=max(known, default=None), step=None
        ),
        [[value] for value in bare],
        [[value] for value in guest],
        confidence,
        paired=paired,
        cautious=cautious,
    )
