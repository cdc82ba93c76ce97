# SPDX-License-Identifier: Apache-2.0
"""The rules of promises: rates and sizes of flavor, volume type and port."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import capped_metrics
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement import promises
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample

MIN, MAX = "min_percent", "max_percent"
_NO_WORKLOAD = "no workload measures it"
_OTHER_SIDE = (
    "a section of job_file both reads and writes, so that one side does not "
    "reach it; add a workload that only reads or only writes"
)
_OTHER_GUEST = "the guest at the other end, which has other promises,"
_NO_RATE = "flavor, volume types and ports promise no rate"
_ONLY_SIZES = f"{_NO_RATE}, only vCPUs, memory and disk are judged"
_NO_DIRECTION = (
    "the record is of an earlier version, without directions; run the task "
    "again"
)
_NO_CPU_LIMIT = (
    "max_percent of the CPU quota is all the time of the vCPUs; lower "
    "max_percent to judge the upper bound"
)
_NO_CPU_USE = (
    "the record does not have the CPU use of guests, which shows the upper "
    "bound of the CPU quota; run the task again"
)
_IDLE_CPUS = (
    "the upper bound of the CPU quota only shows if each guest requests more "
    "in each repetition; add a workload that keeps all vCPUs busy, such as "
    "sysbench"
)
_TAKEN_CPUS = (
    "the upper bound of the CPU quota only shows if each guest comes close to "
    "it: with less, other guests can have taken the CPU time; measure without "
    "other load on the host, and keep all vCPUs busy"
)
_TOO_LITTLE_LOAD = (
    "a rate below its promise can be caused by a workload with too few "
    "concurrent requests or streams: raise depth or jobs of fio, or streams "
    "of iperf3"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A metric that a rate applies to.

    :param samples: The samples of the guests, per counted repetition.
    :param command: The words of the name of the metric that its command has.
    :param factor: The factor from the unit of the metric to that of the rate.
    :param is_part: Whether the rate also limits what another metric measures,
        so that this one shows nothing unless it alone exceeds the rate.
    """

    metric: sample.Metric
    samples: gathering.Samples
    command: tuple[str, ...]
    factor: float
    is_part: bool = False

    @property
    def rate(self) -> float:
        """The mean in the unit of the cap."""
        means = gathering.geometric_means(self.samples)
        return statistics.geometric_mean(means) * self.factor

    @property
    def largest_rate(self) -> float:
        """The largest rate of a guest in the unit of the cap."""
        return self.factor * max(
            observation.sample.value
            for samples in self.samples
            for observation in samples.observations
        )

    @property
    def largest_mean(self) -> float:
        """The largest mean of a guest in the unit of the cap."""
        by_guest = gathering.list_means_by_source(self.samples)
        means = map(statistics.geometric_mean, by_guest.values())
        return self.factor * max(means)


class RatePromises:
    """The promised rates of guests with the same promises in one condition.

    :param conditions: The condition in all judged repetitions, with these
        guests only.
    :param caps: The rates that apply to the guests.
    :param findings: The findings of the run.
    :param title: The names of the guests if others have other promises; else
        "".
    :ivar not_judged: The promises that are not judged, with the reasons.
    """

    def __init__(
        self,
        conditions: gathering.Conditions,
        caps: collections.abc.Iterable[rate_caps.Cap],
        findings: collections.abc.Collection[finding.Finding],
        options: t.Any,
        title: str = "",
    ) -> None:
        self.conditions = conditions
        self.title = title
        self._findings = findings
        self._least_share = options.min_percent / 100
        self._most_share: float = options.max_percent / 100
        self.not_judged: list[summary.NotJudged] = []
        self._fixed = plausibility.fixed_rate_metrics(findings)
        self._cached = {
            name
            for run_finding in findings
            if run_finding.kind == "page_cache_measured"
            for name in run_finding.metrics
        }
        self._samples = {
            metric: samples
            for metric in gathering.metrics(conditions)
            if (samples := gathering.guest_samples(metric, conditions))
        }
        self._one_sided = {
            name
            for run_finding in findings
            if run_finding.kind == "other_side_not_measured"
            for name in run_finding.metrics
        }
        self._metrics = capped_metrics.CappedMetrics(
            self._samples, conditions, self._one_sided
        )
        self.caps = [*caps]

    def _skip(self, option: str, cap: rate_caps.Cap, reason: str) -> None:
        """Add a promise that is not judged."""
        name = f"{cap.name} of {self.title}" if self.title else cap.name
        self.not_judged.append(summary.NotJudged(option, name, reason))

    def find_limits(
        self,
    ) -> dict[tuple[sample.Metric, str], tuple[float, str]]:
        """Return the limit, and its name, by metric and side (min, max)."""
        by_metric: dict[tuple[sample.Metric, str], tuple[float, str]] = {}
        for cap in self.caps:
            if cap.part == "cpu":
                self._add_cpu(cap, by_metric)
                continue
            if not cap.direction:
                self._skip(MIN, cap, _NO_DIRECTION)
                continue
            candidates = self._list_candidates(cap)
            if not cap.is_guarantee:
                self._add_largest(cap, candidates, by_metric)
            whole = [each for each in candidates if not each.is_part]
            self._add_least(cap, whole, by_metric)
        return by_metric

    def _add_cpu(
        self,
        cap: rate_caps.Cap,
        by_metric: dict[tuple[sample.Metric, str], tuple[float, str]],
    ) -> None:
        """Add the limits of the CPU time that the host takes and gives.

        The share of the requested time that was stolen is known whatever the
        load is. The share that was given never exceeds an enforced quota, but
        shows that it is enforced only if the guest requested more, and if not
        other guests but the quota stopped it.
        """
        if any(found.kind == "emulated_guest" for found in self._findings):
            self._skip(MIN, cap, "an emulated guest does not report steal")
            return
        if guest_metrics.STEAL_PERCENT not in self._samples:
            self._skip(MIN, cap, "no guest reports steal")
            return
        least = min(100.0, cap.rate) * self._least_share
        by_metric[guest_metrics.STEAL_PERCENT, "max"] = 100 - least, cap.name
        most = cap.rate * self._most_share
        if reason := self._find_reason_against_most(cap, most):
            self._skip(MAX, cap, reason)
        else:
            by_metric[guest_metrics.USED_PERCENT, "max"] = most, cap.name

    def _find_reason_against_most(
        self, cap: rate_caps.Cap, most: float
    ) -> str:
        """Return why a largest share of CPU time is not judged, or "".

        :param most: The largest share in percent.
        """
        if most >= 100:
            return _NO_CPU_LIMIT
        used = self._collect(guest_metrics.USED_PERCENT)
        stolen = self._collect(guest_metrics.STEAL_PERCENT)
        if any(percent > most for percent in used.values()):
            return ""
        if not used or used.keys() != stolen.keys():
            return _NO_CPU_USE
        is_enough_requested = all(
            guest_metrics.find_requested_percent(stolen[key], used[key])
            >= most
            for key in used
        )
        if not is_enough_requested:
            return _IDLE_CPUS
        is_close = min(used.values()) >= cap.rate * self._least_share
        return "" if is_close else _TAKEN_CPUS

    def _collect(self, metric: sample.Metric) -> dict[tuple[int, str], float]:
        """Return the values of a metric by number of repetition and guest."""
        return {
            (samples.number, observation.source): observation.sample.value
            for samples in self._samples.get(metric, ())
            for observation in samples.observations
        }

    def _list_candidates(self, cap: rate_caps.Cap) -> list[_Candidate]:
        """Return the metrics that a rate applies to."""
        candidates = []
        for metric, samples in self._samples.items():
            factor = cap.find_factor(metric)
            if not factor or self._metrics.is_merged(metric):
                continue
            if cap.request_bytes:
                factor *= self._metrics.count_operations(
                    metric, cap.request_bytes
                )
            if factor and cap.direction in self._metrics.find_directions(
                metric
            ):
                candidates.append(
                    _Candidate(
                        metric=metric,
                        samples=samples,
                        command=self._metrics.split_side(metric.name)[0],
                        factor=factor,
                        is_part=cap.direction == "total"
                        and self._metrics.is_mixed(metric),
                    )
                )
        return candidates

    def _add_largest(
        self,
        cap: rate_caps.Cap,
        candidates: collections.abc.Iterable[_Candidate],
        by_metric: dict[tuple[sample.Metric, str], tuple[float, str]],
    ) -> None:
        """Add the largest rate of each metric, bursts included.

        Reads of a mixed pattern that exceed the total alone show that it is
        not enforced.
        """
        for candidate in candidates:
            if candidate.metric.name in self._cached:
                continue
            rate = self._find_largest_rate(cap, candidate)
            if not rate:
                self._skip(
                    MAX, cap, "bursts are allowed, the duration is unknown"
                )
                continue
            if candidate.is_part and candidate.largest_mean <= rate:
                continue
            key = candidate.metric, "max"
            limit = rate / candidate.factor, cap.name
            by_metric[key] = min(by_metric.get(key, limit), limit)

    def _find_largest_rate(
        self, cap: rate_caps.Cap, candidate: _Candidate
    ) -> float:
        """Return the largest mean rate with bursts, or 0 if it is not known.

        QEMU and tc have a bucket: in any time, a guest gets at most the rate
        times this time and what the bucket holds. The length of a burst
        depends on the rate of the workload, so that the rate after the length
        of a burst is not limited.

        A command starts before it measures. By its whole duration, a rate
        within the limit is enforced, and a larger one can be a burst.
        """
        rate = cap.rate * self._most_share
        if not cap.burst:
            return rate
        if seconds := self._find_measured_seconds(candidate):
            return rate + cap.burst / seconds
        durations = self._metrics.list_seconds(candidate.command)
        if not durations:
            return 0.0
        rate += cap.burst / min(durations)
        return rate if candidate.largest_rate <= rate else 0.0

    def _find_measured_seconds(self, candidate: _Candidate) -> float:
        """Return the shortest duration that a command measured, or 0.

        It is the end of the time series, which one of its metrics has.
        """
        durations = [
            time_series.means.end
            for condition in self.conditions
            for time_series in condition.time_series
            if self._metrics.split_side(time_series.metric.name)[0]
            == candidate.command
        ]
        return min(durations, default=0.0)

    def _add_least(
        self,
        cap: rate_caps.Cap,
        candidates: list[_Candidate],
        by_metric: dict[tuple[sample.Metric, str], tuple[float, str]],
    ) -> None:
        """Add the least rate of the metric that comes closest to a promise.

        A workload that another promise limits cannot reach this one.
        """
        if not candidates:
            self._skip(MIN, cap, self._explain_missing(cap))
            return
        able = [
            candidate
            for candidate in candidates
            if candidate.metric.name not in self._cached | self._fixed
        ]
        if not able:
            self._skip(
                MIN, cap, "the page cache or a fixed rate determines the rate"
            )
            return
        obstacles = {
            candidate.metric: self._find_obstacle(cap, candidate)
            for candidate in able
        }
        free = [each for each in able if not obstacles[each.metric]]
        if not free:
            name = next(iter(obstacles.values()))
            self._skip(MIN, cap, f"{name} limits the workloads first")
            return
        best = max(free, key=lambda candidate: candidate.rate)
        key = best.metric, "min"
        limit = cap.payload_rate * self._least_share / best.factor, cap.name
        by_metric[key] = max(by_metric.get(key, limit), limit)

    def _explain_missing(self, cap: rate_caps.Cap) -> str:
        """Return why no metric shows whether guests reach a promise."""
        if any(
            self._metrics.list_uncounted(metric, [cap])
            and not self._metrics.is_merged(metric)
            for metric in self._samples
        ):
            return capped_metrics.UNKNOWN_SIZE
        if any(
            each.metric.name in self._one_sided
            for each in self._list_candidates(cap)
        ):
            return _OTHER_SIDE
        return _NO_WORKLOAD

    def _find_obstacle(self, cap: rate_caps.Cap, candidate: _Candidate) -> str:
        """Return the limit that a metric reaches before a promise, or "".

        It is a smaller limit of the same metric, or one that another metric
        of the same command has reached.
        """
        if candidate.rate >= cap.payload_rate * self._least_share:
            return ""
        for other in self.caps:
            if other is cap or other.is_guarantee or other.part == "cpu":
                continue
            same_command = [
                each
                for each in self._list_candidates(other)
                if each.command == candidate.command
            ]
            is_smaller = other.rate < cap.rate and any(
                each.metric == candidate.metric for each in same_command
            )
            # Writes that nothing measures take an unknown part of a total.
            is_unknown = other.direction == "total" and any(
                each.metric.name in self._one_sided for each in same_command
            )
            total = sum(each.rate for each in same_command if each.is_part)
            rates = [total, *(each.rate for each in same_command)]
            least = other.payload_rate * self._least_share
            if is_smaller or is_unknown or max(rates) >= least:
                return other.name
        is_between_guests = candidate.command[-1] == "guest_to_guest"
        return _OTHER_GUEST if self.title and is_between_guests else ""


class PromiseJudge(judge.Judge):
    """A judge of what flavor, volume type and port promise, per guest."""

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return that conditions of each question can be judged."""
        return True

    def _conclude(
        self,
        repetitions: judge.Repetitions,
        rows: list[result.Result],
        findings: tuple[finding.RunFinding, ...],
        void: frozenset[int],
    ) -> summary.Judgement:
        """Return the verdict, with a sentence on what is not promised."""
        judgement = super()._conclude(repetitions, rows, findings, void)
        conclusions = []
        caps = gathering.list_rate_limits(repetitions)
        sizes = _list_sizes(repetitions)
        guests = {
            name
            for condition in repetition.list_conditions(repetitions)
            for name in condition.machines
        }
        has_hidden_policy = any(
            found.finding.kind == "promise_not_checked"
            and found.finding.subject not in guests
            for found in findings
        )
        is_without_rates = all(cap.shared for cap in caps)
        if repetitions and is_without_rates and not has_hidden_policy:
            conclusions.append(_ONLY_SIZES if sizes else _NO_RATE)
        if any(
            row.status in ("failed", "inconclusive")
            and row.figure.is_minimum
            and row.metric.scale == "ratio"
            for row in judgement.rows
        ):
            conclusions.append(_TOO_LITTLE_LOAD)
        return dataclasses.replace(judgement, conclusions=tuple(conclusions))

    def _list_not_judged(
        self,
        rows: list[result.Result],
        findings: tuple[finding.RunFinding, ...],
    ) -> tuple[summary.NotJudged, ...]:
        """Return the promises that nothing measures, with the reasons."""
        unknown = [
            summary.NotJudged(
                MIN, run_finding.finding.subject, run_finding.finding.detail
            )
            for run_finding in findings
            if run_finding.finding.kind == "promise_not_checked"
        ]
        repetitions, _ = gathering.merge_duplicates(self._repetitions)
        rates = [
            each
            for promised in _list_promised(self, repetitions)
            for each in _find_not_judged(promised)
        ]
        sizes = _list_sizes(repetitions)
        if repetitions and not sizes:
            unknown.append(
                summary.NotJudged(
                    MIN,
                    ", ".join(promises.FLAVOR),
                    "the record does not have the size of the guests",
                )
            )
        return tuple(dict.fromkeys((*unknown, *rates)))


def _find_not_judged(promised: RatePromises) -> list[summary.NotJudged]:
    """Return the rates that are not judged, with the reasons."""
    promised.find_limits()
    return promised.not_judged


def _list_promised(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[RatePromises]:
    """Return the promised rates of each condition."""
    by_title: dict[str, list[repetition.Condition]] = {}
    for condition in repetition.list_conditions(repetitions):
        is_undisturbed = condition.axes.get("phase", "before") == "before"
        if is_undisturbed and not condition.skip_reason:
            by_title.setdefault(condition.title, []).append(condition)
    caps = [
        cap
        for cap in gathering.list_rate_limits(repetitions)
        if not cap.shared
    ]
    findings = {
        found
        for measured in repetitions
        for found in (
            *measured.findings,
            *(
                each
                for condition in measured.conditions
                for each in condition.findings
            ),
        )
    }
    promised = []
    for conditions in by_title.values():
        groups = _group_guests(conditions, caps)
        for names, of_guests in groups.items():
            selected, title = conditions, ""
            if len(groups) > 1:
                selected = [
                    _select_guests(condition, names)
                    for condition in conditions
                ]
                title = finding.join_first(names, ", ")
            promised.append(
                RatePromises(
                    selected, of_guests, findings, run_judge.options, title
                )
            )
    return promised


def _group_guests(
    conditions: collections.abc.Iterable[repetition.Condition],
    caps: collections.abc.Collection[rate_caps.Cap],
) -> dict[tuple[str, ...], tuple[rate_caps.Cap, ...]]:
    """Return the rates by the names of the guests to which they apply."""
    groups: dict[tuple[rate_caps.Cap, ...], list[str]] = {}
    for name in dict.fromkeys(
        name for condition in conditions for name in condition.machines
    ):
        of_guest = tuple(
            cap for cap in caps if not cap.guests or name in cap.guests
        )
        groups.setdefault(of_guest, []).append(name)
    groups = groups or {tuple(caps): []}  # A record without their names.
    return {tuple(names): of_guests for of_guests, names in groups.items()}


def _select_guests(
    condition: repetition.Condition, names: collections.abc.Collection[str]
) -> repetition.Condition:
    """Return a copy of a condition as if it had some guests only."""
    return dataclasses.replace(
        condition,
        machines=tuple(name for name in condition.machines if name in names),
        observations=tuple(
            observation
            for observation in condition.observations
            if observation.source in names
        ),
        missing=tuple(
            gap for gap in condition.missing if gap.machine in names
        ),
    )


def _list_sizes(
    repetitions: judge.Repetitions,
) -> dict[tuple[str, float], list[tuple[int, promises.Size]]]:
    """Return the sizes of measured guests, with the repetition, by promise.

    A promise is a name with a promised size. A repetition without samples of
    workloads does not count.
    """
    sizes: dict[tuple[str, float], list[tuple[int, promises.Size]]] = {}
    for measured in repetitions:
        machines = {
            name
            for condition in measured.conditions
            for name in condition.machines
            if measured.counted and condition.observations
        }
        for size in measured.sizes:
            if size.guest in machines:
                key = size.name, size.promised
                sizes.setdefault(key, []).append((measured.number, size))
    return sizes


def _build(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the rates and the sizes that have a promise, as a list."""
    hosts = {
        guest: host
        for measured in repetitions
        for guest, host in measured.hosts.items()
    }
    rows = []
    for promised in _list_promised(run_judge, repetitions):
        conditions = promised.conditions
        for (metric, side), limit in promised.find_limits().items():
            rows.append(
                _create(
                    run_judge,
                    metric,
                    side,
                    gathering.guest_samples(metric, conditions),
                    limit,
                    hosts,
                    guests=conditions[0].guests,
                    variant=_find_variant(promised),
                )
            )
    sizes = _list_sizes(repetitions)
    counts = collections.Counter(name for name, _ in sizes)
    for (name, _), of_guests in sizes.items():
        title = ""
        if counts[name] > 1:
            guests = sorted({size.guest for _, size in of_guests})
            title = finding.join_first(guests, ", ")
        rows += _build_sizes(run_judge, of_guests, title, hosts)
    return rows


def _find_variant(promised: RatePromises) -> str:
    """Return the variant and the guests that are judged, or "" for all."""
    variant = promised.conditions[0].axes.get(repetition.VARIANT, "")
    return ": ".join(filter(None, (str(variant), promised.title)))


def _build_sizes(
    run_judge: judge.Judge,
    of_guests: collections.abc.Sequence[tuple[int, promises.Size]],
    title: str,
    hosts: collections.abc.Mapping[str, str],
) -> list[result.Result]:
    """Return the least and the largest size of guests with one promise.

    :param title: The names of the guests if others have another promise;
        else "".
    """
    _, first = of_guests[0]
    by_number: dict[int, list[sample.Observation]] = collections.defaultdict(
        list
    )
    for number, size in of_guests:
        by_number[number].append(
            sample.Observation(
                size.guest, sample.Sample(size.metric, size.delivered)
            )
        )
    samples = tuple(
        sample.MetricSamples(number=number, observations=tuple(observations))
        for number, observations in by_number.items()
    )
    return [
        _create(
            run_judge,
            first.metric,
            side,
            samples,
            (limit, first.title),
            hosts,
            variant=title,
        )
        for side, limit in (("min", first.least), ("max", first.promised))
    ]


def _create(
    run_judge: judge.Judge,
    metric: sample.Metric,
    side: str,
    samples: gathering.Samples,
    limit: tuple[float, str],
    hosts: collections.abc.Mapping[str, str],
    **fields: t.Any,
) -> result.Result:
    """Return the unjudged value of each guest, with its limit.

    :param fields: The other fields of the result.
    """
    return result.Result(
        figure=absolute_value.AbsoluteValue(
            metric=metric,
            confidence=run_judge.options.confidence,
            side=t.cast(verdict.AbsoluteFigure, side),
            guest=samples,
            hosts=hosts,
            statistic="worst",
        ),
        limit=limit[0],
        pattern=limit[1],
        **fields,
    )


#: The rates and sizes of guests against those that are promised.
RULES = judge.Rules(
    build=_build,
    find=lambda run_judge, repetitions, rows: (),
)
