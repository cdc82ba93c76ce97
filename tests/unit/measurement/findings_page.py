"""The documentation of findings, written from the closed list.

``python -m tests.unit.measurement.findings_page > doc/source/findings.rst``
"""

import sys
import textwrap

from rally_vmperf.measurement import finding

INTRODUCTION = """\
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


def page() -> str:
    """Return the whole page."""
    parts = [_title("Findings", "="), INTRODUCTION]
    for severity in ("void", "warning", "note"):
        parts.append(_title(severity.capitalize(), "-"))
        parts += [
            _entry(name, kind)
            for name, kind in sorted(finding.KINDS.items())
            if kind.severity == severity
        ]
    return "\n".join(parts)


def _entry(name: str, kind: finding.Kind) -> str:
    return "\n".join(
        [
            f"``{name}``",
            _wrapped(f"**{kind.title}.** {_plain(kind.why)}"),
            "",
            _wrapped(f"*What to do:* {_plain(kind.remedy)}"),
            "",
            _wrapped(f"*Raised by* {kind.raised_by}."),
            "",
        ]
    )


def _plain(text: str) -> str:
    return text.replace("*", r"\*")


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, 78, initial_indent="    ", subsequent_indent="    "
    )


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


if __name__ == "__main__":
    sys.stdout.write(page())
