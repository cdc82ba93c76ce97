"""The base class of the three classes of judged results."""

import abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample


class Cells(t.NamedTuple):
    """A figure as texts for a table; empty if there is none."""

    figure: str
    interval: str
    limit: str


NO_CELLS = Cells("", "", "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricResult(abc.ABC):
    """A result of one metric, with its limit and status.

    :param figure: The name of the figure that is judged.
    :param limit: The limit; None for a metric without one.
    :param pattern: The metric or glob that gave the limit.
    :param status: The status; None for a metric without a limit.
    :param findings: The findings about this metric.
    :param confidence: The confidence of the intervals.
    :param variant: The variant that is judged; "" if the run has none.
    """

    metric: sample.Metric
    figure: str
    limit: float | None = None
    pattern: str | None = None
    status: verdict.Status | None = None
    findings: tuple[finding.RunFinding, ...] = ()
    confidence: float = 0.95
    variant: str = ""

    @property
    def metric_title(self) -> str:
        """The metric's name as text, with the variant if any."""
        suffix = f" of {self.variant}" if self.variant else ""
        return f"{self.metric.name}{suffix}"

    @property
    @abc.abstractmethod
    def measured(self) -> bool:
        """Whether there is a figure to judge."""

    @property
    @abc.abstractmethod
    def is_only_undecided(self) -> bool:
        """Whether only a limit inside its interval prevents a pass."""

    @property
    def limit_origin(self) -> str:
        """The pattern of the limit as text, "" for the metric's own name."""
        if self.pattern is None or self.pattern == self.metric.name:
            return ""
        return f" ({self.pattern})"

    def has_finding(self, kind: str) -> bool:
        """Return whether the row has an untolerated finding of a kind."""
        return any(
            run_finding.finding.kind == kind and not run_finding.tolerated
            for run_finding in self.findings
        )

    def cells(self) -> Cells:
        """Return figure, interval and limit as texts for a table."""
        return NO_CELLS

    def brief(self) -> str:
        """Return figure and limit as a short text, or ""."""
        cells = self.cells()
        if not cells.figure:
            return ""
        interval = f"{self.confidence * 100:g} % interval {cells.interval}, "
        interval = interval if cells.interval else ""
        return f"{cells.figure} ({interval}{cells.limit})"

    def sentence(self) -> str:
        """Return figure, limit and verdict, or why none, as text."""
        raise NotImplementedError

    def sentences(self) -> list[str]:
        """Return all sentences about the row, as a list."""
        return [self.sentence()]

    def remarks(self) -> list[str]:
        """Return the sentences shown even for a pass, as a list."""
        return []

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy of the row with findings and status.

        :param void: True if a finding voids the whole run.
        """
        status: verdict.Status | None = None
        if self.limit is not None:
            is_void = void or self._is_void(findings)
            status = "void" if is_void else self._status(self.limit)
        return dataclasses.replace(self, status=status, findings=findings)

    def _is_void(self, findings: tuple[finding.RunFinding, ...]) -> bool:
        """Return whether one of the findings on this metric voids it."""
        return any(run_finding.voids for run_finding in findings)

    def voiding_findings(self) -> list[finding.RunFinding]:
        """Return the findings that void this metric alone, as a list."""
        return [
            run_finding
            for run_finding in self.findings
            if run_finding.voids
            and run_finding.finding.subject == self.metric.name
        ]

    def void_reasons(self) -> list[str]:
        """Return why this metric alone is void, a list of sentences.

        The summary reports findings that void several metrics once.
        """
        return finding.sentences(self.voiding_findings())

    def _status(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""
        raise NotImplementedError

    @abc.abstractmethod
    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        :param planned: The number of counted repetitions of the task.
        """
