"""The documentation of findings, written from the closed list.

``python -m tests.unit.measurement.findings_page > doc/source/findings.rst``
"""

import sys
import textwrap

from rally_vmperf.measurement import finding

INTRODUCTION = """\
A finding is something that was seen beside the figures and that changes what
they mean. Findings stand in the record of each repetition and in the report,
each with what was seen, why it matters and what to do about it. The list is
closed: a name that is not on it is refused.

* A **void** finding says that the samples do not mean what they claim. What
  it voids, the metric, the repetition or the task, :doc:`verdict` says. A task
  can tolerate a kind by its name; the finding is then still shown, as
  tolerated.
* A **warning** casts doubt on the figures and leaves the verdict alone; the
  verdict's first line names it.
* A **note** says under which conditions the figures hold.
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
