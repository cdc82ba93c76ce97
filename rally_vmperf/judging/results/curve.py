# SPDX-License-Identifier: Apache-2.0
"""The results of one figure of a metric, by number of guests."""

import collections.abc
import dataclasses
import functools
import itertools
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import loss_figure
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import max_guests
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample

# Curves have properties with the names of these modules.
_Point = points.Point
_MaxGuests = max_guests.MaxGuests
_find_max_guests = max_guests.max_guests

#: The number of results with a full sentence.
MAX_SENTENCES = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve:
    """The results of one figure of a metric, by number of guests.

    A figure that does not depend on that number has a single result.

    :param results: The results in ascending number of guests.
    """

    results: tuple[result.Result, ...]

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
    def limited(self) -> tuple[result.Result, ...]:
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
        is_loss = isinstance(self.figure, loss_figure.Loss)
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

    def _select_decisive(self) -> list[result.Result]:
        """Return the results with the status of all, as a list."""
        return [
            judged for judged in self.limited if judged.status == self.status
        ]

    def _select_last(self) -> result.Result:
        """Return the result of the largest number with the verdict."""
        return (self._select_decisive() or [*self.results])[-1]

    def cells(self) -> result.Cells:
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


def _is_solo(judged: result.Result) -> bool:
    """Return whether a result is that of the solo guest against itself."""
    figure = judged.figure
    return isinstance(figure, loss_figure.Loss) and figure.is_reference


def group(
    results: collections.abc.Iterable[result.Result],
) -> list[Curve]:
    """Return the results of each figure and metric as curves, a list.

    Results that do not depend on the number of guests are not grouped.
    """
    numbers = itertools.count()
    curves: dict[object, list[result.Result]] = {}
    for judged in results:
        key: object = next(numbers)
        if judged.point is not None:
            key = (judged.metric, judged.figure.name)
        curves.setdefault(key, []).append(judged)
    return [Curve(results=tuple(each)) for each in curves.values()]
