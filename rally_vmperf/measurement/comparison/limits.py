# SPDX-License-Identifier: Apache-2.0
"""The limits of metrics, by name or glob."""

import collections.abc
import fnmatch
import math
import re
import typing as t

from rally_vmperf.measurement.samples import sample

#: A figure with absolute limits: the largest or the least value.
AbsoluteFigure = t.Literal["max", "min"]

_WILDCARD = re.compile(r"\[[^\]]{1,100}\]|\*|\?")


class Limits:
    """The limits of metrics that match patterns.

    The metric's own name wins, then the most exact pattern: of two patterns,
    one is more exact if the other matches all of its metrics, and more. If
    neither does, the patterns conflict (``describe_conflict``), and a task
    with such limits is rejected.

    :param patterns: The limits by metric or glob. A number is the limit of
        all metrics but percentiles above p50, which vary more; these need a
        limit by name.
    :param scales: The scales of the metrics that the limits apply to.
    :raises ValueError: If a limit is not a finite number.
    """

    def __init__(
        self,
        patterns: collections.abc.Mapping[str, float] | float,
        scales: collections.abc.Container[sample.Scale] = t.get_args(
            sample.Scale
        ),
    ) -> None:
        self._omits_tails = not isinstance(patterns, collections.abc.Mapping)
        if not isinstance(patterns, collections.abc.Mapping):
            patterns = {"*": patterns}
        for pattern, limit in patterns.items():
            if isinstance(limit, bool) or not math.isfinite(limit):
                raise ValueError(
                    f"Limit {pattern!r}={limit!r}: must be a finite number"
                )
        self.patterns = dict(patterns)
        self._scales = scales

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def list_names(
        self, metrics: collections.abc.Iterable[sample.Metric]
    ) -> list[str]:
        """Return the names of the metrics that the limits apply to."""
        return [
            metric.name for metric in metrics if metric.scale in self._scales
        ]

    def for_metric(
        self, name: str, among: collections.abc.Collection[str] = ()
    ) -> tuple[float, str] | None:
        """Return the limit of a metric with its pattern; None without one.

        :param among: The names of all metrics.
        """
        matching = [
            pattern for pattern in self.patterns if _matches(pattern, name)
        ]
        if self._omits_tails and sample.is_tail(name):
            return None
        if not matching:
            return None
        pattern = min(
            matching,
            key=lambda pattern: (
                pattern != name,
                sum(_matches(pattern, metric) for metric in among),
                -len(_WILDCARD.sub("", pattern)),
                pattern,
            ),
        )
        return float(self.patterns[pattern]), pattern

    def describe_conflict(
        self, metrics: collections.abc.Iterable[sample.Metric]
    ) -> str:
        """Return which patterns conflict over a metric as a clause, or "".

        Both match the metric, their limits differ, and neither is more exact
        than the other.

        :param metrics: All metrics.
        """
        names = {*self.list_names(metrics)}
        matches = {
            pattern: {name for name in names if _matches(pattern, name)}
            for pattern in self.patterns
        }
        for name in sorted(names - self.patterns.keys()):
            matching = [
                pattern for pattern in matches if name in matches[pattern]
            ]
            exact = [
                pattern
                for pattern in matching
                if not any(
                    matches[other] < matches[pattern] for other in matching
                )
            ]
            for pattern in exact[1:]:
                if self.patterns[pattern] != self.patterns[exact[0]]:
                    return (
                        f"{exact[0]!r} is {self.patterns[exact[0]]:g} and "
                        f"{pattern!r} is {self.patterns[pattern]:g}, and both "
                        f"match {name}; set a limit for {name!r}, or narrow "
                        "one of the patterns"
                    )
        return ""

    def unmatched(
        self, names: collections.abc.Iterable[str]
    ) -> tuple[str, ...]:
        """Return the patterns that match no name, as a sorted tuple."""
        names = list(names)
        return tuple(
            sorted(
                pattern
                for pattern in self.patterns
                if not matches_any(pattern, names)
            )
        )

    def is_of_counts(
        self, pattern: str, metrics: collections.abc.Iterable[sample.Metric]
    ) -> bool:
        """Return whether a pattern matches counts, to which none applies."""
        return "count" not in self._scales and matches_any(
            pattern,
            (metric.name for metric in metrics if metric.scale == "count"),
        )

    def describe_unmatched(
        self,
        metrics: collections.abc.Collection[sample.Metric],
        remedy: str = "use max",
    ) -> str:
        """Return which patterns match no metric as a clause, or "".

        :param remedy: The solution for a limit on counts; "" without one.
        """
        names = sorted({*self.list_names(metrics)})
        unmatched = self.unmatched(names)
        counts = [
            pattern
            for pattern in unmatched
            if self.is_of_counts(pattern, metrics)
        ]
        others = [pattern for pattern in unmatched if pattern not in counts]
        clauses = []
        if counts:
            verb = "matches" if len(counts) == 1 else "match"
            reason = "; ".join(filter(None, (COUNTS, remedy)))
            clauses.append(f"{_join(counts)} {verb} counts only: {reason}")
        if others:
            verb = "matches" if len(others) == 1 else "match"
            there = ", ".join(names) or "none"
            clauses.append(
                f"{_join(others)} {verb} no metric (there are: {there})"
            )
        return "; ".join(clauses)


#: Why a limit in percent does not apply to a count.
COUNTS = "a count can be 0 and has no percentage"
#: The largest number of patterns in a message.
_MAX_PATTERNS = 5


def _join(patterns: collections.abc.Sequence[str]) -> str:
    """Return patterns as text, with the number of those that are omitted."""
    shown = ", ".join(map(repr, patterns[:_MAX_PATTERNS]))
    omitted = len(patterns) - _MAX_PATTERNS
    return f"{shown} and {omitted} more" if omitted > 0 else shown


class LimitsByOption(dict[str, Limits]):
    """The limits of a criterion by option; an absent option has none."""

    def __missing__(self, option: str) -> Limits:
        return Limits({})


def _matches(pattern: str, name: str) -> bool:
    """Return whether a glob pattern matches the name of a metric."""
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def matches_any(pattern: str, names: collections.abc.Iterable[str]) -> bool:
    """Return whether a glob pattern matches any of the names."""
    return any(_matches(pattern, name) for name in names)


def absolute_figures(
    metric: sample.Metric,
    by_option: LimitsByOption,
    *,
    has_reference: bool = True,
) -> list[AbsoluteFigure]:
    """Return which absolute figures of a metric to show, as a list.

    A metric without a limit has one as well if it has no loss: a count, or
    any metric without a reference.

    :param by_option: The limits of a criterion.
    :param has_reference: Whether guests are compared with a reference.
    """
    limited = [
        figure
        for figure in t.get_args(AbsoluteFigure)
        if by_option[figure].for_metric(metric.name)
    ]
    if limited or (has_reference and metric.scale == "ratio"):
        return limited
    is_least = metric.scale == "ratio" and metric.better == "higher"
    return ["min" if is_least else "max"]
