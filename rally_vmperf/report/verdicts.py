# SPDX-License-Identifier: Apache-2.0
"""The banners of a run: a verdict for each criterion, with its reasons."""

import dataclasses
import typing as t

from rally_vmperf.judging import closest_limit
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.report import reports

_VOID = "Void: the samples do not measure what they claim."
_NO_LIMITS = "No verdict: figures without limits."


class Failure(t.NamedTuple):
    """A metric that does not pass, or several for one reason.

    :param text: The figure or the reason; empty for void metrics.
    """

    status: str
    metrics: str
    text: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Banner:
    """The verdict on one criterion.

    :param sentences: The sentences between headline and reasons.
    :param reasons: The reasons that no earlier banner has, each with its
        remedies if the criterion is void.
    :param count: The number of void metrics as a sentence; empty if the
        criterion is not void.
    :param has_repeated: Whether an earlier banner has some of the reasons.
    :param is_accepted: Whether the task accepts an undecided run.
    """

    heading: str
    status: str
    headline: str
    sentences: list[str]
    failures: list[Failure]
    reasons: list[tuple[str, list[str]]]
    count: str
    has_repeated: bool
    is_accepted: bool


def list_banners(run: reports.RunReport) -> list[Banner]:
    """Return a banner for each criterion of a run, as a list."""
    banners: list[Banner] = []
    explained: set[str] = set()
    for heading, status, judgement in run.verdicts:
        reasons = judgement.reasons() if status != "none" else []
        sentences = [] if banners else run.opening
        failures = list_failures(judgement)
        headline = f"{_capitalise(judgement.status_sentence())}."
        closest = closest_limit.describe(judgement)
        count = ""
        if status == "none":
            conclusions = [f"{text}." for text in judgement.conclusions]
            headline, *sentences_after = [*conclusions, _NO_LIMITS]
            sentences = [*sentences, *sentences_after]
        elif status == "void" and (failures or judgement.refused):
            names = ", ".join(
                failure.metrics
                for failure in failures
                if failure.status == "void"
            )
            count = _capitalise(headline.removeprefix("Void: "))
            count = f"{count.rstrip('.')}: {names}." if names else count
            headline = _VOID
            failures = [
                failure for failure in failures if failure.status != "void"
            ]
        else:
            headline += f" {closest}." if closest else ""
            if run.answer and not banners:
                sentences = [headline, *sentences]
                headline = run.answer
        banners.append(
            Banner(
                heading=heading,
                status=status,
                headline=headline,
                sentences=sentences,
                failures=failures,
                reasons=[
                    (
                        f"{_capitalise(text)}.",
                        _list_remedies(text, judgement) if count else [],
                    )
                    for text in reasons
                    if text not in explained
                ],
                count=count,
                has_repeated=bool(explained & {*reasons}),
                is_accepted=status == "inconclusive" and judgement.passed,
            )
        )
        explained |= {*reasons}
    return banners


def list_failures(judgement: summary.Judgement) -> list[Failure]:
    """Return the figures that do not pass, the most severe first, as a list.

    All void metrics are one line, and so are metrics for which the same
    reason explains why they have no figure.
    """
    groups: dict[tuple[str, str, str], dict[str, None]] = {}
    for result in judgement.limited:
        title = result.metric_title
        value = result.to_value()
        text = closest_limit.format_figure(value)
        key = (value.status or "", text, title)
        if value.status == "void":
            key = ("void", "", "")
        elif value.value is None:
            key = (value.status or "", text, "")
        groups.setdefault(key, {})[title] = None
    return [
        Failure(status, finding.join_first(titles, ", "), text)
        for listed in verdict.NOT_PASSED
        for (status, text, _), titles in groups.items()
        if status == listed
    ]


def _list_remedies(reason: str, judgement: summary.Judgement) -> list[str]:
    """Return the remedies of the void findings in a reason, as a list."""
    kinds = dict.fromkeys(
        run_finding.finding.kind
        for run_finding in judgement.findings
        if run_finding.finding.severity == "void" and not run_finding.tolerated
    )
    return [
        finding.KINDS[kind].remedy
        for kind in kinds
        if finding.KINDS[kind].title in reason
    ]


def _capitalise(text: str) -> str:
    """Return a sentence that begins with a capital letter."""
    return f"{text[0].upper()}{text[1:]}"
