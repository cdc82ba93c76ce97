# SPDX-License-Identifier: Apache-2.0
"""The report of a density run."""

import dataclasses
import functools

from rally_vmperf.judging import density_levels
from rally_vmperf.judging import run_capacity
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import reports

#: The maximum number of metrics in charts, and of their levels together;
#: tables have all.
MOST, MOST_LEVELS = 60, 200
#: The heading of the verdict on fairness.
FAIRNESS = "Fairness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DensityReport(reports.RunReport):
    """The results of a density run by level."""

    @property
    def answer(self) -> str:
        """The sentences on how many guests fit within all limits."""
        texts = []
        for load, found in run_capacity.find_capacities(self).items():
            clause = run_capacity.describe(self, load, found)
            text = sentences.sentence(clause)
            if found.first_beyond:
                names = finding.join_first(found.first_beyond, ", ")
                text += f" The first beyond its limit: {names}."
            texts.append(text)
        return " ".join(texts)

    @functools.cached_property
    def series(self) -> list[shares.ShareSeries]:
        """The measured metrics as shares of the solo guest, a list."""
        return [*filter(None, map(self.shares_of, self.judgement.curves))]

    @property
    def loads(self) -> dict[str, dict[str, shares.ShareSeries]]:
        """The metrics at several loads, by their name at full speed and load.

        It is empty if the guests have one load.
        """
        by_name: dict[str, dict[str, shares.ShareSeries]] = {}
        for series in self.series:
            name, load = self.last.split_load(series.row.metric.name)
            if load:
                by_name.setdefault(name, {})[load] = series
        return {
            name: by_load
            for name, by_load in by_name.items()
            if len(by_load) > 1
        }

    def shares_of(self, row: result.Curve) -> shares.ShareSeries | None:
        """Return a metric as shares, or None if it was not measured."""
        return shares.series(row, self.hosts)

    @property
    def _levels(self) -> list[repetition.Condition]:
        """The levels of all repetitions, as a list."""
        return repetition.list_conditions(self.judged_repetitions)

    @functools.cached_property
    def hosts(self) -> int:
        """The number of hosts, each with the guests of a level."""
        numbers = [
            len(level.machines)
            // (density_levels.guests_of(level) * level.batches)
            for level in self._levels
        ]
        return max([1, *numbers])

    def fairness_at(
        self, metric: sample.Metric, guests: int
    ) -> list[tuple[str, str]]:
        """Return each fairness figure at a level with its verdict, texts."""
        fairness = self.judgements.get(FAIRNESS)
        return [
            (
                "Jain's index" if row.figure.name == "index" else "spread",
                str(row.status),
            )
            for row in (fairness.limited if fairness else ())
            if row.metric == metric and row.guests == guests
        ]

    @property
    def drawn_metrics(self) -> int:
        """The number of metrics with charts of their own."""
        levels = max(
            (len(row.points) for row in self.judgement.curves), default=0
        )
        return min(MOST, MOST_LEVELS // max(1, levels))
