"""The limits of metrics, by name or glob."""

import collections.abc
import fnmatch
import math
import re
import typing as t

from rally_vmperf.measurement.samples import sample

#: A figure with absolute limits: the largest or the least value.
AbsoluteFigure = t.Literal["max", "min"]

_WILDCARD = re.compile(r"\[[^\]]+\]|\*|\?")


class Limits:
    """The limits of metrics that match patterns.

    The metric's own name wins, then the most exact pattern: of two patterns,
    one is more exact if the other matches all of its metrics, and more. If
    neither does, the patterns conflict (``conflict``), and a task with such
    limits is rejected.

    :param patterns: The limits by metric or glob.
    :raises ValueError: If a limit is not a finite number.
    """

    def __init__(self, patterns: collections.abc.Mapping[str, float]) -> None:
        for pattern, limit in patterns.items():
            if isinstance(limit, bool) or not math.isfinite(limit):
                raise ValueError(
                    f"Limit {pattern!r}={limit!r}: must be a finite number"
                )
        self._patterns = dict(patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def for_metric(
        self, name: str, among: collections.abc.Collection[str] = ()
    ) -> tuple[float, str] | None:
        """Return the limit of a metric with its pattern; None without one.

        :param among: The names of all metrics.
        """
        matching = [
            pattern for pattern in self._patterns if _matches(pattern, name)
        ]
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
        return float(self._patterns[pattern]), pattern

    def conflict(
        self, names: collections.abc.Collection[str]
    ) -> tuple[str, str, str] | None:
        """Return a metric and two patterns in conflict over it, or None.

        Both match the metric, their limits differ, and neither is more exact
        than the other. None without such a metric.

        :param names: The names of all metrics.
        """
        matches = {
            pattern: {name for name in names if _matches(pattern, name)}
            for pattern in self._patterns
        }
        for name in sorted(set(names) - self._patterns.keys()):
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
                if self._patterns[pattern] != self._patterns[exact[0]]:
                    return name, exact[0], pattern
        return None

    def unmatched(
        self, names: collections.abc.Iterable[str]
    ) -> tuple[str, ...]:
        """Return the patterns that match no name, as a sorted tuple."""
        names = list(names)
        return tuple(
            sorted(
                pattern
                for pattern in self._patterns
                if not any(_matches(pattern, name) for name in names)
            )
        )


def _matches(pattern: str, name: str) -> bool:
    """Return whether a glob pattern matches the name of a metric."""
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def absolute_figures(
    metric: sample.Metric,
    figure_limits: collections.abc.Mapping[t.Any, Limits],
) -> list[AbsoluteFigure]:
    """Return which absolute figures of a metric to show, as a list.

    A count without a limit has one as well, because it has no loss.

    :param figure_limits: The limits of each figure.
    """
    limited = [
        figure
        for figure in t.get_args(AbsoluteFigure)
        if figure_limits[figure].for_metric(metric.name)
    ]
    return limited or (["max"] if metric.scale == "count" else [])
