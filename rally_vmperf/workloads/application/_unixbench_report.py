"""The report of UnixBench: scores, indices and their mean."""

import dataclasses
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.workloads import outputs

OUTPUT = outputs.Reader("unixbench")
_FIGURES = outputs.Reader("unixbench: a figure")

_SECTION = re.compile(
    r"^Benchmark Run: .*\n[0-9]+ CPUs? in system; running ([0-9]{1,9}) "
    r"parallel cop(?:y|ies) of tests\n",
    re.M,
)
_SCORE = re.compile(
    r"^(\S.{1,60}?) +([0-9.]{1,30}) (lps|lpm|MWIPS|KBps) +"
    r"\([0-9.]{1,20} s, ([0-9]{1,6}) samples\)$",
    re.M,
)
_INDEX = re.compile(
    r"^(\S.{1,60}?) +[0-9.]{1,30} +[0-9.]{1,30} +([0-9.]{1,30})$", re.M
)
#: The complete last line.
_TOTAL = re.compile(
    r"^System Benchmarks Index Score(?: \(Partial Only\))? +"
    r"([0-9.]{1,30})\n",
    re.M,
)
#: A row of one of the tables, whatever its format.
_ROW = re.compile(
    r"^(?!System Benchmarks)\S.*"
    r"(?:  [0-9]| (?:lps|lpm|MWIPS|KBps)\b|\bsamples\b)"
)


class Score(t.NamedTuple):
    """The score of a test in the unit of UnixBench."""

    value: float
    label: str
    samples: int


@dataclasses.dataclass(frozen=True)
class Report:
    """The results of UnixBench for one number of copies.

    :param scores: The scores by the titles of the tests.
    :param indices: The indices by the titles of the tests.
    :param index: The mean of all indices.
    """

    scores: dict[str, Score]
    indices: dict[str, float]
    index: float


def parse(text: str, copies: int) -> Report:
    """Parse the output for one number of copies into a Report.

    :raises base.WorkloadError: If the output does not contain exactly one
        such report, or the report is not complete.
    """
    section = _find_section(text, copies)
    scores = _parse_section(section)
    indices = _parse_indices(section)
    totals = _TOTAL.findall(section)
    end = _TOTAL.search(section)
    if end and section[end.end() :].strip("-\n \t"):
        raise OUTPUT.error("printed text after its index score")
    if set(scores) != set(indices) or not scores or len(totals) != 1:
        raise OUTPUT.error(
            f"printed {len(scores)} scores, {len(indices)} indices and "
            f"{len(totals)} index scores"
        )
    return Report(scores, indices, _FIGURES.number(totals[0]))


def parse_scores(text: str, copies: int) -> dict[str, Score]:
    """Return the scores by test for one number of copies, as a dict.

    The table of indices may be missing.

    :raises base.WorkloadError: If the output does not contain the scores
        exactly once.
    """
    return _parse_section(_find_section(text, copies))


def _find_section(text: str, copies: int) -> str:
    """Return the text of the only run with this number of copies."""
    headers = list(_SECTION.finditer(text))
    matching = [header for header in headers if int(header[1]) == copies]
    if len(matching) != 1:
        raise OUTPUT.error(
            f"reports {len(matching)} runs with copies: {copies}, not one"
        )
    begin = matching[0].end()
    starts = [header.start() for header in headers]
    later_starts = [start for start in starts if start >= begin]
    return text[begin : min(later_starts, default=len(text))]


def _parse_section(section: str) -> dict[str, Score]:
    """Return the scores in the text of a run as a dict by test title."""
    rows = _SCORE.findall(section)
    for line in section.splitlines():
        if _ROW.match(line) and not any(
            pattern.match(line) for pattern in (_SCORE, _INDEX)
        ):
            raise OUTPUT.error(
                f"printed {sanitize.line(line, 80)!r}, which is not a row of "
                "its tables"
            )
    scores = {
        title: Score(_FIGURES.number(score), label, int(samples))
        for title, score, label, samples in rows
        if int(samples) > 0
    }
    if len(rows) != len(scores):
        raise OUTPUT.error("printed a test twice, or a test without samples")
    return scores


def _parse_indices(section: str) -> dict[str, float]:
    """Return the indices in the text of a run as a dict by test title.

    :raises base.WorkloadError: If an index is printed twice.
    """
    rows = _INDEX.findall(section)
    indices = {title: _FIGURES.number(index) for title, index in rows}
    if len(rows) != len(indices):
        raise OUTPUT.error("printed the index of a test twice")
    return indices
