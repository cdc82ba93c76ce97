"""The report that UnixBench prints: scores, indices and their mean."""

import dataclasses
import math
import re
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs

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
    r"^(\S.{1,60}?) +([0-9.]{1,30}) +([0-9.]{1,30}) +([0-9.]{1,30})$", re.M
)
#: The last line, of which nothing may be missing.
_TOTAL = re.compile(
    r"^System Benchmarks Index Score(?: \(Partial Only\))? +"
    r"([0-9.]{1,30})\n",
    re.M,
)


class Score(t.NamedTuple):
    """The score of a test, in UnixBench's own unit."""

    value: float
    label: str
    samples: int


@dataclasses.dataclass(frozen=True)
class Report:
    """What UnixBench says of one number of copies.

    :param scores: by the title of a test
    :param indices: by the same
    """

    scores: dict[str, Score]
    indices: dict[str, float]
    index: float


def read(text: str, copies: int) -> Report:
    """Return the report of one number of copies; the output may have others.

    :raises base.WorkloadError: when it is not there once, is not complete, or
        its indices do not follow from its scores
    """
    section = _section(text, copies)
    scores = _of_section(section)
    rows = _INDEX.findall(section)
    indices = {title: _number(index) for title, *_, index in rows}
    totals = _TOTAL.findall(section)
    if len(rows) != len(indices):
        raise error("has the index of a test twice")
    end = _TOTAL.search(section)
    if end and section[end.end() :].strip("-\n \t"):
        raise error("goes on after its index score")
    if set(scores) != set(indices) or not scores or len(totals) != 1:
        raise error(
            f"has {len(scores)} scores, {len(indices)} indices and "
            f"{len(totals)} index scores"
        )
    for title, baseline, result, index in rows:
        reference, score = _number(baseline), _number(result)
        if score != scores[title].value or not _follows(
            _number(index), score, reference
        ):
            raise error(
                f"{title} has the score {scores[title].value:g}, which is not "
                f"{result} or an index of {index}"
            )
    total = _number(totals[0])
    if not all(index > 0 for index in indices.values()):
        raise error("has an index that is not above 0")
    mean = math.exp(math.fsum(map(math.log, indices.values())) / len(indices))
    # Each index has one decimal, and so has the mean of the exact ones.
    apart = math.fsum(0.051 / index for index in indices.values())
    if abs(total - mean) > 0.051 + mean * apart / len(indices):
        raise error(f"has the index score {total:g} instead of {mean:.1f}")
    return Report(scores, indices, total)


def scores(text: str, copies: int) -> dict[str, Score]:
    """Return the scores of one number of copies, without any index.

    :raises base.WorkloadError: when they are not there once
    """
    return _of_section(_section(text, copies))


def _section(text: str, copies: int) -> str:
    begun = list(_SECTION.finditer(text))
    own = [one for one in begun if int(one[1]) == copies]
    if len(own) != 1:
        raise error(f"reports {len(own)} runs with copies: {copies}, not one")
    after = [one.start() for one in begun if one.start() > own[0].start()]
    return text[own[0].end() : min(after, default=len(text))]


def _of_section(section: str) -> dict[str, Score]:
    told = _SCORE.findall(section)
    scores = {
        title: Score(_number(score), label, int(samples))
        for title, score, label, samples in told
        if int(samples) > 0
    }
    if len(told) != len(scores):
        raise error("has a test twice, or one without any sample")
    return scores


def _follows(index: float, score: float, reference: float) -> bool:
    """Return whether an index is ten times its score by its reference.

    All three are printed with one decimal.
    """
    return (
        reference > 0
        and abs(index - score / reference * 10) <= 0.051 + 0.51 / reference
    )


def _number(word: str) -> float:
    return outputs.number(word, "unixbench: a figure")


def error(what: str) -> base.WorkloadError:
    """Return the error of a report that cannot be meant."""
    return base.WorkloadError(f"unixbench {what}; look at the raw output")
