"""When a curve is to get no more guests."""

import collections.abc
import dataclasses
import statistics

from rally_vmperf.measurement import limits
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import rates as density_rates

Observations = collections.abc.Iterable[sample.Observation]
#: Numbers of guests with what was measured, in ascending order.
Measured = collections.abc.Sequence[tuple[int, Observations]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """The rule of a task, put to the levels of one repetition.

    It looks at point estimates: whether a loss is significant is a question
    to all repetitions.

    :param max_percent: metric or glob -> loss of the mean guest against the
        lone one beyond which no guests are added
    :param total_falls: add none either once no metric's total rises any more
    """

    max_percent: collections.abc.Mapping[str, float] = dataclasses.field(
        default_factory=dict
    )
    total_falls: bool = False

    def reached(self, levels: Measured) -> str:
        """Return why there is to be no further level, or nothing."""
        if len(levels) < 2:
            return ""
        rates = [_rates(observations) for _, observations in levels]
        guests = levels[-1][0]
        return self._broken(rates[0], rates[-1], guests) or (
            _fallen(rates[-2], rates[-1], guests) if self.total_falls else ""
        )

    def _broken(self, alone: "_Rates", now: "_Rates", guests: int) -> str:
        held = limits.Limits(self.max_percent)
        for metric in sorted(alone.keys() & now.keys(), key=_name):
            limit = held.for_metric(metric.name)
            if limit is None:
                continue
            mean = statistics.geometric_mean(now[metric])
            loss = 1 - mean / statistics.geometric_mean(alone[metric])
            if loss * 100 > limit[0]:
                return (
                    f"{metric.name} lost {loss:.1%} with {guests} guests, "
                    f"more than {limit[0]:g} % ({limit[1]})"
                )
        return ""


_Rates = dict[sample.Metric, list[float]]


def _rates(observations: Observations) -> _Rates:
    """Return what each guest gave, as rates; counts have none."""
    rates: _Rates = {}
    for one in observations:
        metric = one.sample.metric
        if metric.scale == "ratio":
            rate = density_rates.convert(metric, one.sample.value)
            rates.setdefault(metric, []).append(rate)
    return rates


def _fallen(before: _Rates, now: _Rates, guests: int) -> str:
    """Return whether no total rises; of latencies there is no total."""
    totals = [
        metric
        for metric in before.keys() & now.keys()
        if density_rates.adds_up(metric)
    ]
    if not totals or any(sum(now[m]) > sum(before[m]) for m in totals):
        return ""
    return f"no total rose any more with {guests} guests"


def _name(metric: sample.Metric) -> str:
    return metric.name
