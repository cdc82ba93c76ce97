"""One measured number."""

import dataclasses
import math
import typing as t

Better = t.Literal["higher", "lower"]
Scale = t.Literal["ratio", "count"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Metric:
    """What a number means: its name, unit, direction and scale.

    A ``ratio`` is above zero and can be judged as overhead; a ``count``
    (retransmits, errors) can be zero and is held to absolute limits only.

    :param adds_up: whether the sum over several machines means something;
        unless said, it does for ratios of which more is better.  Of times it
        does where each is that of a fixed amount of work: the sum is that of
        their inverses, work per second.
    :param bounds: smallest and largest value that any machine reaches, where
        those of the unit are not the metric's
    """

    name: str
    unit: str
    better: Better
    scale: Scale = "ratio"
    adds_up: bool | None = dataclasses.field(default=None, compare=False)
    # Records and baselines do not keep these.
    bounds: tuple[float, float] | None = dataclasses.field(
        default=None, compare=False
    )

    def __post_init__(self) -> None:
        if self.adds_up is None:
            rate = self.scale == "ratio" and self.better == "higher"
            object.__setattr__(self, "adds_up", rate)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sample:
    """A value of one metric, in base units, as one machine reported it.

    :raises ValueError: for a value that no measurement can give: not finite,
        negative, or zero where the metric is a ratio
    """

    metric: Metric
    value: float

    def __post_init__(self) -> None:
        smallest = "above zero" if self.metric.scale == "ratio" else "from 0"
        in_range = self.value > 0 or (
            self.value == 0 and self.metric.scale == "count"
        )
        if not (math.isfinite(self.value) and in_range):
            raise ValueError(
                f"{self.metric.name} is {self.value} {self.metric.unit}, "
                f"but must be a finite number {smallest}"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Observation:
    """A sample together with who took it: a guest or a bare-metal copy."""

    source: str
    sample: Sample
