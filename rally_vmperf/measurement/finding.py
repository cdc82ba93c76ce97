"""What was seen beside the figures, why it matters and what to do."""

import dataclasses

from rally_vmperf.measurement import kinds
from rally_vmperf.measurement.kinds import base

Severity = base.Severity
Kind = base.Kind
KINDS = kinds.KINDS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """A kind of finding, and what exactly was seen on whom or what.

    :param kind: a key of ``KINDS``
    :param subject: the guest, machine or metric it concerns
    :param seen: what was seen, with the values
    :raises ValueError: for a kind that is not on the closed list
    """

    kind: str
    subject: str
    seen: str

    def __post_init__(self) -> None:
        check(self.kind)

    @property
    def severity(self) -> Severity:
        """How much it weighs: note, warning or void."""
        return KINDS[self.kind].severity


def check(kind: str) -> None:
    """Refuse a kind that is not on the closed list.

    :raises ValueError: naming the kinds there are
    """
    if kind not in KINDS:
        raise ValueError(
            f"Unknown kind of finding {kind!r}, "
            f"use one of: {', '.join(sorted(KINDS))}"
        )
