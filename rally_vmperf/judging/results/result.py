# SPDX-License-Identifier: Apache-2.0
"""The judged results of a figure: one, or one per number of guests."""

import collections.abc
import dataclasses
import functools
import itertools
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import max_guests
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

# Curves have properties with the names of these modules.
_Point = points.Point
_MaxGuests = max_guests.MaxGuests
_find_max_guests = max_guests.max_guests
#: The number of results with a full sentence.
MAX_SENTENCES = 3


class Cells(t.NamedTuple):
    """A figure as texts for a table; empty if there is none."""

    figure: str
    interval: str
    limit: str


NO_CELLS = Cells("", "", "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """A figure of a metric, with its limit and status.

    :param limit: The limit: the largest loss in percent, or a number in the
        unit of the figure; None without one.
    :param passes_to: The largest limit within which it passes; None for the
        limit, beyond which it fails.
    :param passes_alone: Whether it passes by its own interval, without the
        correction that a proof of a change needs.
    :param pattern: The metric or glob that gave the limit.
    :param status: The status; None without a limit.
    :param findings: The findings about this metric.
    :param variant: The variant that is judged, the guests that have other
        promises than the others, or the run that is compared with another
        one; "" if there is only one.
    :param condition: The condition as text, if results of several conditions
        are compared; else "".
    :param decides: Whether the status counts for that of several results.
    :param guests: The number of guests of each host that are measured at
        once; None if it is the same in the whole run.
    :param reason: The reason why the figure is missing, or "".
    :param void: The reason why the samples of this number of guests are void,
        or "".
    :param is_void: Whether these samples are void; None if findings about the
        metric void it.
    :param is_run_void: Whether a finding voids the whole run.
    :param skipped: The number of repetitions in which this number of guests
        was skipped because of the results of smaller numbers.
    """

    figure: figures.Figure
    limit: float | None = None
    passes_to: float | None = None
    passes_alone: bool = False
    pattern: str | None = None
    status: verdict.Status | None = None
    findings: tuple[finding.RunFinding, ...] = ()
    variant: str = ""
    condition: str = ""
    decides: bool = True
    guests: int | None = None
    reason: str = ""
    void: str = ""
    is_void: bool | None = None
    is_run_void: bool = False
    skipped: int = 0

    def __post_init__(self) -> None:
        if self.status == "passed" and self.figure.estimate("passed") is None:
            raise ValueError(
                f"{self.title}: a figure that is not measured cannot pass"
            )

    @property
    def metric(self) -> sample.Metric:
        """The metric."""
        return self.figure.metric

    @property
    def comparison(self) -> loss.Comparison | None:
        """The comparison of the mean guest; None if there is none."""
        return self.figure.comparison

    @property
    def decisive(self) -> loss.Comparison | None:
        """The comparison that decides the status; None if there is none."""
        comparison, _ = self.figure.find_decisive(self.status)
        return comparison

    @property
    def subject(self) -> figures.Subject:
        """The guests that the figure and its status speak of."""
        return self.figure.find_subject(self.status)

    @property
    def means(self) -> tuple[float, float] | None:
        """The means of both sides that decide; None if there is no pair."""
        if self.decisive is None:
            return self.figure.means
        return self.decisive.bare, self.decisive.guest

    @property
    def point(self) -> points.Point | None:
        """The rates at the number of guests; None if it does not matter."""
        return self.figure.point

    @property
    def metric_title(self) -> str:
        """The metric's name as text, with the variant if any."""
        suffix = f" of {self.variant}" if self.variant else ""
        return f"{self.metric.name}{suffix}"

    @property
    def level_suffix(self) -> str:
        """The number of guests, as text; "" if it is the same in the run."""
        if self.guests is None:
            return ""
        return f" at {units.number_of('guest', self.guests)}"

    @property
    def title(self) -> str:
        """The metric's name as text, with variant and number of guests."""
        return f"{self.metric_title}{self.level_suffix}"

    @property
    def measured(self) -> bool:
        """Whether the guests have samples of the figure."""
        has_rates = self.point is not None and self.point.mean is not None
        return has_rates or self.figure.measured

    @property
    def lacks_reference_only(self) -> bool:
        """Whether the guests have samples, and no figure without others."""
        has_figure = self.figure.estimate(self.status) is not None
        has_guests = self.measured or bool(self.figure.sides[1])
        return has_guests and not has_figure

    def describe_absence(self) -> str:
        """Return what is missing for a figure as text."""
        return "not compared" if self.lacks_reference_only else "not measured"

    @property
    def limit_origin(self) -> str:
        """The pattern of the limit as text, "" for the metric's own name."""
        if self.pattern is None or self.pattern == self.metric.name:
            return ""
        return f" ({self.pattern})"

    @property
    def limiting_policy(self) -> str:
        """The policy that limits the rate and is not tolerated, or ""."""
        kind = "bottleneck_outside_guest"
        is_limited = any(
            run_finding.finding.kind == kind and not run_finding.tolerated
            for run_finding in self.findings
        )
        return self.figure.policy if is_limited else ""

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> "Result":
        """Return a copy of the result with findings and status.

        :param void: True if a finding voids the whole run.
        """
        judged = dataclasses.replace(
            self,
            findings=findings,
            is_run_void=void,
            reason=self._find_reason(findings),
        )
        if self.limit is None:
            return judged
        status = "void" if void else judged.decide(self.limit)
        return dataclasses.replace(judged, status=status)

    def _find_reason(
        self, findings: collections.abc.Iterable[finding.RunFinding]
    ) -> str:
        """Return why the figure is missing, or "".

        Each guest can have samples, which a finding voids.
        """
        if self.reason != gathering.NO_COMPLETE_SAMPLES:
            return self.reason
        kinds = [
            run_finding.finding.kind
            for run_finding in findings
            if run_finding.omitted
            and not run_finding.tolerated
            and run_finding.finding.kind in finding.ABOUT_SAMPLES
        ]
        suffix = f" without the finding {kinds[0]}" if kinds else ""
        return f"{self.reason}{suffix}"

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit.

        A number of guests runs only if the smaller numbers passed. A rate
        that a policy limits does not pass, because a guest without the policy
        can lose more.
        """
        is_void = self.is_void
        if is_void is None:
            is_void = any(
                run_finding.voids
                for run_finding in self.findings
                if self.figure.uses_bare_metal
                or not run_finding.is_about_bare_metal
            )
        if is_void:
            return "void"
        status = self.figure.decide(limit)
        if status == "inconclusive" and self.passes_to is not None:
            is_within = self.figure.decide(self.passes_to) == "passed"
            status = "passed" if is_within else status
        if status == "passed" and (self.skipped or self.limiting_policy):
            return "inconclusive"
        return status

    @property
    def is_only_undecided(self) -> bool:
        """Whether only a limit inside its interval prevents a pass."""
        if self.limit is None or self.skipped or self.limiting_policy:
            return False
        return self.figure.may_be_within(self.limit)

    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        :param planned: The number of counted repetitions of the task.
        """
        if self.status != "failed" or self.limit is None:
            return False
        return self.figure.is_failure_final(self.limit, planned)

    def describe_differing(self) -> str:
        """Return as text which guests are beyond the limit, or "".

        The guest that is judged is within the limit, or undecided.
        """
        limit = self.limit
        if limit is None or self.decide(limit) in ("failed", "void"):
            return ""
        return self.figure.describe_differing(limit)

    def voiding_findings(self) -> list[finding.RunFinding]:
        """Return the findings that void this metric alone, as a list."""
        return [
            run_finding
            for run_finding in self.findings
            if run_finding.voids
            and run_finding.finding.subject == self.metric.name
        ]

    def void_reasons(self) -> list[str]:
        """Return why this figure alone is void, a list of sentences.

        The summary reports findings that void several metrics once.
        """
        if self.void:
            return [self.void]
        if self.is_void is False:
            return []
        return finding.sentences(self.voiding_findings())

    def to_value(self) -> verdict.FigureValue:
        """Return the figure as numbers, for other programs."""
        value, low, high = self.figure.estimate(self.status) or (None,) * 3
        limit = self.limit
        if limit is not None:
            limit = self.figure.scale_limit(limit)
        return verdict.FigureValue(
            name=self.figure.name,
            subject=self.subject.name,
            guest=self.subject.guest,
            unit=self.figure.unit,
            guests=self.guests,
            variant=self.variant,
            value=value,
            low=low,
            high=high,
            limit=limit,
            status=self.status,
            reason=self.reason or self.void,
            is_minimum=self.figure.is_minimum,
        )

    def show_interval(self) -> str:
        """Return the ends of the interval as text; "" without one."""
        estimate = self.figure.estimate(self.status)
        if estimate is None:
            return ""
        return self.figure.show(estimate, self.limit).interval

    def show(self, number: float) -> str:
        """Return a number as text, with as many digits as the interval."""
        estimate = self.figure.estimate(self.status) or units.Estimate(number)
        shown = self.figure.show(estimate._replace(value=number), self.limit)
        return shown.value

    def cells(self) -> Cells:
        """Return figure, interval and limit as texts for a table."""
        if self.limit is None:
            return NO_CELLS
        limit = self.figure.show_limit(self.limit)
        estimate = self.figure.estimate(self.status)
        if estimate is None:
            return Cells("", "", limit)
        label = self.figure.label(self.status)
        value, interval = self.figure.show(estimate, self.limit)
        text = f"{label} {value}{self.level_suffix}"
        return Cells(text.lstrip(), interval, limit)

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why none, as text."""
        if self.figure.estimate(self.status) is None:
            text = f"{self.title}: {self.reason}"
            if self.status is not None:
                text += f": {self.status}"
            if self.status == "inconclusive" and self.figure.measured:
                text += f", {self.figure.advise(self.limit or 0.0)}"
        else:
            figures = self.figure.describe(self.limit, self.status)
            text = f"{self.title}: {figures}, {self._describe_verdict()}"
        return ". ".join([text, *self.void_reasons()])

    def _describe_verdict(self) -> str:
        """Return the limit, the verdict and what would decide it as text."""
        if self.limit is None or self.status is None:
            return "no limit"
        limit = self.figure.show_limit(self.limit)
        text = f"{limit}{self.limit_origin}: {self.status}"
        if self.status != "inconclusive":
            return text
        if self.skipped:
            number = units.number_of("repetition", self.skipped)
            return f"{text}, skipped in {number} because of smaller levels"
        is_within = self.figure.decide(self.limit) == "passed"
        if is_within and self.limiting_policy:
            return f"{text}, a policy limits it: {self.limiting_policy}"
        return f"{text}, {self.figure.advise(self.limit)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve:
    """The results of one figure of a metric, by number of guests.

    A figure that does not depend on that number has a single result.

    :param results: The results in ascending number of guests.
    """

    results: tuple[Result, ...]

    @property
    def metric(self) -> sample.Metric:
        """The metric."""
        return self.results[0].metric

    @property
    def metric_title(self) -> str:
        """The metric's name as text, with the variant if any."""
        return self.results[0].metric_title

    @property
    def figure(self) -> figures.Figure:
        """The figure at the smallest number of guests."""
        return self.results[0].figure

    @property
    def subject(self) -> figures.Subject:
        """The guests that the status speaks of."""
        return self._select_last().subject

    @property
    def compare_to(self) -> t.Any:
        """The reference of a loss; "" for another figure."""
        return self.figure.compare_to

    @property
    def statistic(self) -> str:
        """The guest to which the limit of a loss applies."""
        return self.figure.statistic

    @property
    def limited(self) -> tuple[Result, ...]:
        """The results that have a limit, as a tuple."""
        return tuple(
            judged for judged in self.results if judged.status is not None
        )

    @property
    def limit(self) -> float | None:
        """The limit; None without one."""
        return self.limited[0].limit if self.limited else None

    @property
    def pattern(self) -> str | None:
        """The metric or glob that gave the limit; None without one."""
        return self.limited[0].pattern if self.limited else None

    @property
    def status(self) -> verdict.Status | None:
        """The most severe status; None without a limit."""
        return verdict.find_most_severe(
            judged.status for judged in self.results
        )

    @property
    def statuses(self) -> dict[int, verdict.Status]:
        """The statuses by number of guests, of results with a limit."""
        return {
            judged.guests: judged.status
            for judged in self.results
            if judged.guests is not None and judged.status is not None
        }

    @property
    def findings(self) -> tuple[finding.RunFinding, ...]:
        """The findings about the metric."""
        return self.results[0].findings

    @property
    def measured(self) -> bool:
        """Whether any result is measured."""
        return any(judged.measured for judged in self.results)

    @property
    def reason(self) -> str:
        """The reason why nothing was measured, or ""."""
        reasons = (point.reason for point in self.points)
        return next(filter(None, reasons), "")

    @property
    def points(self) -> tuple[_Point, ...]:
        """The rates at the numbers of guests of the task, as a tuple."""
        return tuple(
            judged.point
            for judged in self.results
            if judged.point is not None and not judged.point.is_absent
        )

    def point(self, guests: int) -> _Point | None:
        """Return the rates at a number of guests, or None."""
        return next(
            (point for point in self.points if point.guests == guests), None
        )

    @functools.cached_property
    def max_guests(self) -> _MaxGuests | None:
        """The number of guests within the limit; None without a limit.

        Results without a limit count as well. None if the run is void.
        """
        limit = self.limit
        is_loss = isinstance(self.figure, figures.Loss)
        if limit is None or not is_loss or not self.points:
            return None
        if any(judged.is_run_void for judged in self.results):
            return None
        return _find_max_guests(
            {
                judged.point.guests: "passed"
                if _is_solo(judged) and limit >= 0
                else judged.decide(limit)
                for judged in self.results
                if judged.point is not None and not judged.point.is_absent
            }
        )

    def _select_decisive(self) -> list[Result]:
        """Return the results with the status of all, as a list."""
        return [
            judged for judged in self.limited if judged.status == self.status
        ]

    def _select_last(self) -> Result:
        """Return the result of the largest number with the verdict."""
        return (self._select_decisive() or [*self.results])[-1]

    def cells(self) -> Cells:
        """Return the cells of the largest number with the verdict."""
        return self._select_last().cells()

    @property
    def level_suffix(self) -> str:
        """The number of guests that the status speaks of, as a suffix."""
        return self._select_last().level_suffix

    def describe_absence(self) -> str:
        """Return what is missing at this number of guests as text."""
        return self._select_last().describe_absence()

    def brief(self) -> str:
        """Return figure and limit as a short text, or ""."""
        cells = self.cells()
        if not cells.figure:
            return ""
        interval = ""
        if cells.interval:
            sure = f"{self.figure.confidence * 100:g} % interval"
            interval = f"{sure} {cells.interval}, "
        return f"{cells.figure} ({interval}{cells.limit})"

    def sentences(self) -> list[str]:
        """Return sentences on the decisive results, and remarks, a list."""
        decisive = self._select_decisive()
        sentences = [each.sentence() for each in decisive[:MAX_SENTENCES]]
        others = [str(each.guests) for each in decisive[MAX_SENTENCES:]]
        if others:
            sentences.append(
                f"{self.metric_title} at {', '.join(others)} guests: "
                f"{self.status} too"
            )
        return [*sentences, *self.remarks()]

    def remarks(self) -> list[str]:
        """Return remarks on how many guests fit, as a list."""
        remarks = []
        if self.max_guests is not None and self.measured:
            largest = max(point.guests for point in self.points)
            text = self.max_guests.sentence(self.limit, largest)
            remarks.append(f"{self.metric.name}: {text}")
        return remarks


def _is_solo(judged: Result) -> bool:
    """Return whether a result is that of the solo guest against itself."""
    figure = judged.figure
    return isinstance(figure, figures.Loss) and figure.is_reference


def group(
    results: collections.abc.Iterable[Result],
) -> list[Curve]:
    """Return the results of each figure and metric as curves, a list.

    Results that do not depend on the number of guests are not grouped.
    """
    numbers = itertools.count()
    curves: dict[object, list[Result]] = {}
    for judged in results:
        key: object = next(numbers)
        if judged.point is not None:
            key = (judged.metric, judged.figure.name)
        curves.setdefault(key, []).append(judged)
    return [Curve(results=tuple(each)) for each in curves.values()]
