# SPDX-License-Identifier: Apache-2.0
"""The page of findings, generated from their closed list."""

from doc.ext import markup
from rally_vmperf.measurement import finding

_INTRODUCTION = """\
.. Generated from rally_vmperf/measurement/findings.toml: make reference

A finding is an observation that affects the meaning of figures. The record of
each repetition and the report contain the findings, each with its details, its
effect and its remedy. The list is closed: an unknown name is rejected.

* A **void** finding invalidates samples: those of a metric, of a repetition or
  of the task (see :doc:`verdict`). A task can tolerate a kind by its name; the
  report still shows the finding, marked as tolerated.
* A **warning** casts doubt on the figures and does not change the verdict; the
  first line of the verdict names it.
* A **note** states a condition under which the figures are valid.
"""


def create_page() -> str:
    """Return the whole page."""
    lines = [*markup.title("Findings", "="), *_INTRODUCTION.split("\n")]
    for severity in ("void", "warning", "note"):
        lines += markup.title(severity.capitalize(), "-")
        for name, kind in sorted(finding.KINDS.items()):
            if kind.severity == severity:
                lines += _describe(name, kind)
    return "\n".join(lines)


def _describe(name: str, kind: finding.Kind) -> markup.Lines:
    """Return the definition of a kind of finding."""
    return [
        markup.literal(name),
        *markup.fill(f"**{kind.title}.** {markup.escape(kind.why)}"),
        "",
        *markup.fill(f"*What to do:* {markup.escape(kind.remedy)}"),
        "",
        *markup.fill(f"*Raised by* {kind.raised_by}."),
        "",
    ]
