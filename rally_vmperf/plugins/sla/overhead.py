"""SLA on the overhead of guests over bare metal."""

import textwrap
import typing as t

from rally import consts
from rally.common import logging
from rally.task import sla

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judging
from rally_vmperf.plugins import harmless
from rally_vmperf.records import output

LOG = logging.getLogger(__name__)

#: Characters of a line of the verdict; Rally puts a table around it.
WIDTH = 100

_PER_METRIC = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "number"},
}


@sla.configure(name="vmperf_overhead")
class Overhead(sla.SLA):
    """Limits on what guests lose against bare metal, in percent."""

    CONFIG_SCHEMA: t.ClassVar[dict[str, t.Any]] = {
        "type": "object",
        "$schema": consts.JSON_SCHEMA7,
        "properties": {
            "max_percent": {
                **_PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss in "
                "percent of bare metal; the most exact match wins.",
            },
            "max": {
                **_PER_METRIC,
                "description": "Metric or glob -> largest tolerated value of "
                "a count, such as retransmits, in the metric's own unit.",
            },
            "confidence": {
                "type": "number",
                "minimum": 0.5,
                "exclusiveMaximum": 1,
                "description": "Confidence of the interval; default 0.95.",
            },
            "on_inconclusive": {
                "enum": ["fail", "pass"],
                "description": "What an undecided limit means in the end; "
                "default fail.",
            },
            "tolerate": {
                "type": "array",
                "uniqueItems": True,
                "items": {"enum": sorted(finding.KINDS)},
                "description": "Findings that shall not make samples void.",
            },
        },
        "required": ["max_percent"],
        "additionalProperties": False,
    }

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = judge(criterion_value)
        self.success = False

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one repetition; False only if a limit is broken for good."""
        self.judge.add(output.decode(iteration))
        return not self.judge.failed_beyond_return()

    def merge(self, other: t.Self) -> bool:
        """Take the repetitions of another instance."""
        self.judge.merge(other.judge)
        return not self.judge.failed_beyond_return()

    def result(self) -> sla.SLAResult:
        """Return the verdict, as Rally wants it, and tell who is waiting."""
        self.success = self.judge.judgement().passed
        LOG.info(f"Verdict: {self.details()}")
        return super().result()

    def details(self) -> str:
        """Return the verdict in words, in lines that fit a terminal."""
        lines = [
            textwrap.fill(sentence, WIDTH, break_on_hyphens=False)
            for sentence in self.judge.judgement().sentences()
        ]
        return harmless.harmless("\n".join(lines))


def judge(criterion: dict[str, t.Any]) -> judging.OverheadJudge:
    """Return the judge that an SLA's configuration asks for."""
    return judging.OverheadJudge(
        criterion["max_percent"],
        max_count=criterion.get("max", {}),
        confidence=criterion.get("confidence", 0.95),
        on_inconclusive=criterion.get("on_inconclusive", "fail"),
        tolerate=tuple(criterion.get("tolerate", ())),
    )
