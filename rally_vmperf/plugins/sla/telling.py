"""What SLAs of all questions have in common: they ask a judge, and tell."""

import textwrap
import typing as t

from rally import consts
from rally.common import logging
from rally.task import sla

from rally_vmperf.measurement import finding
from rally_vmperf.plugins import harmless

LOG = logging.getLogger(__name__)

#: Characters of a line of the verdict; Rally puts a table around it.
WIDTH = 100

PER_METRIC: dict[str, t.Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "number"},
}
#: Numbers of guests at which limits are held.
AT: dict[str, t.Any] = {
    "oneOf": [
        {"enum": ["every"]},
        {"type": "integer", "minimum": 1},
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "integer", "minimum": 1},
        },
    ],
    "description": "Number of guests at which the limits are held, a list "
    "of numbers, or every; default every.",
}
_COMMON: dict[str, t.Any] = {
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
}


def schema(properties: dict[str, t.Any], **more: t.Any) -> dict[str, t.Any]:
    """Return the schema of an SLA's limits, with what all have."""
    return {
        "type": "object",
        "$schema": consts.JSON_SCHEMA7,
        "properties": {**properties, **_COMMON},
        "additionalProperties": False,
        **more,
    }


class Telling(sla.SLA):
    """An SLA that asks its judge; subclasses make one and feed it."""

    judge: t.Any
    success: bool

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
