"""What was seen beside the figures, why it matters and what to do."""

import dataclasses
import typing as t

Severity = t.Literal["note", "warning", "void"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """One entry of the closed list of findings."""

    severity: Severity
    title: str
    why: str
    remedy: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """A kind of finding, and what exactly was seen on whom or what.

    :param kind: a key of ``KINDS``
    :param subject: the guest, machine or metric it concerns
    :param seen: what was seen, with the values
    """

    kind: str
    subject: str
    seen: str
