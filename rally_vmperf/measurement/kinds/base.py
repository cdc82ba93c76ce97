"""What each entry of the closed list of findings says."""

import dataclasses
import typing as t

Severity = t.Literal["note", "warning", "void"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """One entry of the closed list of findings.

    :param severity: a note informs, a warning casts doubt, void means that
        the samples do not mean what they claim
    :param title: what is the case, in one line
    :param why: why it matters to the figures
    :param remedy: what the reader can do about it
    :param raised_by: which part of the tool sees it
    """

    severity: Severity
    title: str
    why: str
    remedy: str
    raised_by: str
