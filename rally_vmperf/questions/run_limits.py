# SPDX-License-Identifier: Apache-2.0
"""The SLAs of a run, by the conditions and metrics that they limit.

Comparisons of runs and audits use the limits and the tolerance of the SLA
that judges a figure.
"""

import collections.abc

from rally_vmperf.judging.results import changes
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question

#: The name of the SLA on findings.
_VALID = "vmperf_valid"

#: The limits of a figure by option.
ByOption = collections.abc.Mapping[str, float]
Matches = collections.abc.Iterator[tuple[question.ParsedCriterion, ByOption]]


class RunLimits:
    """The SLAs of a run.

    :param criteria: The limits by the name of their SLA; those of Rally are
        ignored.
    :param names: The names of all metrics.
    """

    def __init__(
        self,
        criteria: question.Criteria,
        names: collections.abc.Collection[str],
    ) -> None:
        parsed = {
            name: criterion.parse(criteria[name])
            for name, criterion in table.criteria().items()
            if criteria.get(name) is not None
        }
        first = next(iter(parsed.values()), None)
        valid = parsed.pop(_VALID, first)
        self._names = names
        self.parsed = [*parsed.values()]
        self.tolerated = frozenset(valid.options.tolerate if valid else ())

    def list_slas(
        self, condition: repetition.Condition | None, metric: sample.Metric
    ) -> Matches:
        """Yield the SLAs that limit a metric, each with its limits.

        :param condition: The condition; None for one of a baseline, which any
            limit applies to.
        """
        for parsed in self.parsed:
            by_option = {
                option: match[0]
                for by_variant in parsed.by_variant.values()
                for option, option_limits in by_variant.items()
                if applies(parsed, condition, option)
                and (match := self._match(option_limits, metric))
            }
            if by_option:
                yield parsed, by_option

    def _match(
        self, option_limits: verdict.Limits, metric: sample.Metric
    ) -> tuple[float, str] | None:
        """Return the limit of a metric with its pattern, or None."""
        return option_limits.for_metric(metric.name, self._names)

    def find_tolerated(
        self, condition: repetition.Condition | None, metric: sample.Metric
    ) -> frozenset[str]:
        """Return the kinds of findings that do not void a metric.

        They are those of the SLA that limits it; without a limit those of
        ``vmperf_valid``, or else of the first SLA.
        """
        for parsed, _ in self.list_slas(condition, metric):
            return frozenset(parsed.options.tolerate)
        return self.tolerated

    def find_limit(
        self, condition: repetition.Condition | None, metric: sample.Metric
    ) -> changes.Limit | None:
        """Return the limit of the change of a metric; None without one.

        That of a rate or a time is ``max_percent``, or the default if it has
        an absolute limit only. If several SLAs limit it, the first one counts.
        """
        for parsed, by_option in self.list_slas(condition, metric):
            statistic: contrasts.Statistic = getattr(
                parsed.options, "statistic", "mean"
            )
            if metric.scale == "count":
                if "max" in by_option:
                    return changes.Limit(by_option["max"])
            elif by_option.keys() & question.LOSS_AND_ABSOLUTE.keys():
                percent = by_option.get("max_percent", verdict.MARGIN)
                return changes.Limit(max(0.0, percent), statistic)
        return None


def applies(
    parsed: question.ParsedCriterion,
    condition: repetition.Condition | None,
    option: str,
) -> bool:
    """Return whether the limits of an option apply to a condition.

    A SLA limits only the conditions that it judges, such as some numbers of
    guests. A loss of conditions that it compares with others, such as a phase,
    is the margin of these conditions only.

    :param condition: The condition; None for one of a baseline, which any
        limit applies to.
    """
    criterion = parsed.criterion
    if condition is None:
        return True
    if not repetition.select([condition], **criterion.selects):
        return False
    rules = criterion.rules
    if not rules.axis:
        return True
    return rules.axis in condition.axes and rules.has_limit(
        parsed.options, condition, option == "max_percent"
    )
