"""One repetition of a task, as everything that judges or reports sees it."""

import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import sample

State = t.Literal["complete", "incomplete", "interrupted"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Missing:
    """A measurement that was to be taken and was not, with the reason."""

    what: str
    source: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reference:
    """The bare-metal samples that guests are compared with.

    ``repetitions`` holds, per repetition of the baseline, the observations of
    all copies.
    """

    name: str
    machine: str
    recorded_at: str
    repetitions: tuple[tuple[sample.Observation, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Repetition:
    """What one repetition measured, what it is compared with, what was seen.

    :param number: 1 for the first repetition, warm-up ones included
    :param planned: how many counted repetitions the task asks for
    :param counted: False for a warm-up, whose samples are kept, not judged
    :param state: complete only if nothing is missing
    :param expected: every metric that a complete repetition holds
    """

    number: int
    planned: int
    counted: bool
    state: State
    expected: tuple[sample.Metric, ...]
    observations: tuple[sample.Observation, ...]
    missing: tuple[Missing, ...]
    findings: tuple[finding.Finding, ...]
    reference: Reference
