# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run as text, for all kinds of rows."""

import collections
import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.judging import counting
from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

#: Follows every verdict, because another version may judge differently, and
#: Rally keeps the sentences of the version that ran. Increase the number
#: when a rule changes.
RULES = "Judged by the rules of version 15."

#: The number of sentences of a verdict between its headline and the last one.
MAX_DETAILS = 3
#: The largest number of metrics with a limit that a sentence names.
_FEW = 2

OnInconclusive = t.Literal["fail", "pass"]


class NotJudged(t.NamedTuple):
    """A limit of a metric or glob that is not judged.

    :param option: The option that has it.
    """

    option: str
    pattern: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement:
    """The verdict that SLAs return and reports show.

    :param status: The status of the run as a whole.
    :param rows: The rows, with and without a limit.
    :param missing: The repetitions that were planned and are missing.
    :param findings: All findings, including those of the rows, the most
        severe ones first.
    :param unmatched: The limits that match no metric of the run.
    :param unmatched_reasons: The reasons why, for those with another reason
        than their metric, as clauses by limit.
    :param not_judged: The limits that the task skips, because nothing
        measures them.
    :param omitted: The numbers of void repetitions that are not judged.
    :param refused: The findings that void the run, if a judge of findings
        instead of figures selected them; None for a judge of figures.
    :param conclusions: The sentences on figures with or without limits.
    """

    status: verdict.Status
    rows: tuple[result.Result, ...]
    missing: counting.Shortfall
    findings: tuple[finding.RunFinding, ...]
    unmatched: tuple[str, ...]
    omitted: tuple[int, ...] = ()
    confidence: float
    on_inconclusive: OnInconclusive
    refused: tuple[finding.RunFinding, ...] | None = None
    conclusions: tuple[str, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    unmatched_reasons: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )

    @property
    def compared(self) -> tuple[result.Result, ...]:
        """The losses that do not depend on the number of guests, a tuple."""
        return tuple(
            row
            for row in self.rows
            if isinstance(row.figure, figures.Loss) and row.point is None
        )

    @property
    def absolute(self) -> tuple[result.Result, ...]:
        """The rows of absolute values, a tuple."""
        return tuple(
            row
            for row in self.rows
            if isinstance(row.figure, absolute_value.AbsoluteValue)
        )

    @functools.cached_property
    def groups(self) -> list[result.Curve]:
        """The rows of each figure and metric, as a list."""
        return result.group(self.rows)

    @property
    def curves(self) -> list[result.Curve]:
        """The figures over numbers of guests, as a list."""
        return [group for group in self.groups if group.points]

    @property
    def limited_groups(self) -> list[result.Curve]:
        """The rows that have a limit, by figure and metric, as a list."""
        return [group for group in self.groups if group.limited]

    @property
    def by_metric(self) -> dict[str, list[result.Result]]:
        """The rows of each metric, a dict by its name."""
        rows: dict[str, list[result.Result]] = {}
        for row in self.rows:
            rows.setdefault(row.metric.name, []).append(row)
        return rows

    @property
    def limited(self) -> tuple[result.Result, ...]:
        """The rows that have a limit, a tuple."""
        return tuple(row for row in self.rows if row.status is not None)

    @property
    def passed(self) -> bool:
        """Whether the SLA passes with this judgement.

        ``on_inconclusive: pass`` only accepts a limit that lies inside its
        interval. It accepts neither a limit without an interval nor missing
        repetitions.
        """
        if self.status == "inconclusive" and self.on_inconclusive == "pass":
            is_complete = not (self.unmatched or self.missing)
            is_forgiven = [
                row.status == "passed" or row.is_only_undecided
                for row in self.limited
            ]
            return bool(is_forgiven) and all(is_forgiven) and is_complete
        return self.status == "passed"

    def sentence(self) -> str:
        """Return the verdict as one paragraph of text."""
        return " ".join(self.sentences())

    def lines(self) -> list[str]:
        """Return the verdict as at most five sentences, the gravest first.

        Metrics that passed are only counted.
        """
        headline, *grave = self._grave_sentences()
        grave += [f"{text}." for text in self.conclusions]
        shown = grave[:MAX_DETAILS]
        rest = len(grave) - len(shown)
        more = f"{rest} more reasons and all" if rest else "All"
        where = f"{more} figures: rally-vmperf judge. {RULES}"
        return [headline, *shown, where]

    def sentences(self) -> list[str]:
        """Return the sentences of the verdict, a list, gravest first."""
        texts = []
        passed: dict[str, list[str]] = collections.defaultdict(list)
        not_passed = {
            row.metric_title for row in self.limited if row.status != "passed"
        }
        for group in self.limited_groups:
            if group.metric_title not in not_passed:
                passed[group.metric_title].append(group.brief())
        if passed:
            passed_texts = [
                f"{name} {', '.join(filter(None, clauses))}".rstrip()
                for name, clauses in passed.items()
            ]
            texts.append(f"passed: {'; '.join(passed_texts)}")
        for group in self.limited_groups:
            if group.status == "passed":
                texts += group.remarks()
        texts += self.conclusions
        return self._grave_sentences() + [f"{text}." for text in texts]

    def _grave_sentences(self) -> list[str]:
        """Return the headline and all that is not passed, as sentences."""
        texts = [self.headline(), *self._void_sentences()]
        for status in verdict.NOT_PASSED:
            for group in self.limited_groups:
                if group.status == status:
                    texts += group.sentences()
        return [f"{text}." for text in texts + self._absences()]

    def reasons(self) -> list[str]:
        """Return the sentences that are not about figures, as a list.

        The most severe ones are first.
        """
        void = [row for row in self.limited if row.status == "void"]
        findings = [
            *self._voiding(),
            *(
                run_finding
                for row in void
                for run_finding in row.voiding_findings()
            ),
        ]
        described = {
            counting.describe_at_level(run_finding.finding)
            for run_finding in findings
        }
        row_sentences = dict.fromkeys(
            text
            for row in void
            if not row.voiding_findings()
            for text in row.void_reasons()
            if text not in described
        )
        sentences = finding.sentences(findings)
        return [
            *self._omissions(),
            *sentences,
            *row_sentences,
            *self._absences(),
        ]

    def _void_sentences(self) -> list[str]:
        """Return sentences on omissions and on shared void findings."""
        return self._omissions() + finding.sentences(self._voiding())

    def _voiding(self) -> list[finding.RunFinding]:
        """Return the findings that void more than one metric, as a list.

        A judge of findings selects them by itself.
        """
        if self.refused is not None:
            return [*self.refused]
        names = {row.metric.name for row in self.limited}
        return [
            run_finding
            for run_finding in self.findings
            if run_finding.voids and run_finding.finding.subject not in names
        ]

    def _name_void_metrics(self) -> str:
        """Return which metrics without a limit are void, as a clause."""
        voided = {
            name
            for run_finding in self._voiding()
            for name in (
                run_finding.finding.subject,
                *run_finding.finding.metrics,
            )
        }
        names = sorted(voided & {row.metric.name for row in self.rows})
        if not names:
            return "a finding voids metrics without a limit"
        verb = "has no limit, is" if len(names) == 1 else "have no limit, are"
        return f"{finding.join_first(names, ', ')}, which {verb} void"

    def _absences(self) -> list[str]:
        """Return sentences on unmatched limits and missing repetitions."""
        texts = self.list_not_judged()
        if self.rows or self.refused is not None:
            option = "limit" if self.refused is None else "physical_limit"
            texts += [
                f"{option} {pattern!r} {self.explain_unmatched(pattern)}"
                for pattern in self.unmatched
            ]
        if self.missing:
            texts.append(self.missing.sentence())
        return texts

    def explain_unmatched(self, pattern: str) -> str:
        """Return why a limit has no metric, as the rest of a sentence."""
        if pattern in self.unmatched_reasons:
            return self.unmatched_reasons[pattern]
        counts = [
            row.metric.name for row in self.rows if row.metric.scale == "count"
        ]
        if verdict.matches_any(pattern, counts):
            return f"matches counts only: {verdict.COUNTS}; use max"
        return "matches no metric of this run"

    def list_not_judged(self) -> list[str]:
        """Return a sentence for each reason why limits are not judged."""
        patterns: dict[str, dict[str, None]] = {}
        for each in self.not_judged:
            patterns.setdefault(each.reason, {})[each.pattern] = None
        return [
            f"not judged: {reason} ({', '.join(names)})"
            for reason, names in patterns.items()
        ]

    def _omissions(self) -> list[str]:
        """Return sentences on void repetitions and samples, with reasons."""
        return [*self._void_repetitions(), *self._void_samples()]

    def _void_samples(self) -> list[str]:
        """Return sentences on void samples of judged repetitions."""
        findings = [
            run_finding
            for run_finding in self.findings
            if run_finding.omitted
            and run_finding.finding.kind in finding.ABOUT_SAMPLES
            if not run_finding.tolerated
            and {*run_finding.repetitions} - {*self.omitted}
        ]
        if not findings:
            return []
        reasons = "; ".join(finding.sentences(findings))
        return [f"void samples are omitted: {reasons}"]

    def _void_repetitions(self) -> list[str]:
        """Return sentences on void repetitions, with the reasons."""
        sentence = describe_void_repetitions(
            self.omitted, self.findings, self.missing.planned
        )
        return [sentence] if sentence else []

    def headline(self) -> str:
        """Return status, warnings and tolerated findings as a line of text."""
        warnings = finding.describe_warnings(self.findings)
        tolerated = finding.describe_tolerated(self.findings)
        texts = filter(None, [self.status_sentence(), warnings])
        return "; ".join(filter(None, [", ".join(texts), tolerated]))

    @property
    def names_its_metrics(self) -> bool:
        """Whether the sentence on the status names the metrics with a limit.

        It does for a pass of few metrics next to many without a limit: a
        number alone reads as if all of them were judged.
        """
        names = {row.metric.name for row in self.limited}
        others = {row.metric.name for row in self.rows} - names
        return self.status == "passed" and len(self.limited_groups) == len(
            names
        ) <= _FEW < len(others)

    def status_sentence(self) -> str:
        """Return the status and the number of its figures as a sentence."""
        groups = self.limited_groups
        total = len(groups)
        if self.refused is not None:
            return self._validity_sentence(self.refused)
        if not has_measured(self.rows):
            is_alone = any(row.lacks_reference_only for row in self.rows)
            verb = "compared" if is_alone else "measured"
            return f"{self.status}: nothing was {verb}"
        if not total:
            limited = "limit is judged" if self.not_judged else None
            return f"{self.status}: no {limited or 'metric has a limit'}"
        number = collections.Counter(group.status for group in groups)
        names = {row.metric.name for row in self.limited}
        noun = "metric" if len(names) == total else "figure"
        of = f"of {total} {noun if total == 1 else f'{noun}s'}"
        limit = "the limit"
        if not names.issuperset(row.metric.name for row in self.rows):
            of, limit = f"{of} with a limit", "it"
        verb = "is" if number[self.status] == 1 else "are"
        if self.status == "passed":
            if self.names_its_metrics:
                owner = "its limit" if total == 1 else "their limits"
                others = len({row.metric.name for row in self.rows} - names)
                have = "has" if others == 1 else "have"
                return (
                    f"passed: {', '.join(sorted(names))} {verb} within {owner}"
                    f"; {units.number_of('metric', others)} {have} no limit"
                )
            return f"passed: {total} {of} {verb} within {limit}"
        if self.status == "failed":
            return f"failed: {number['failed']} {of} {verb} beyond {limit}"
        if self.status == "void":
            if not number["void"]:
                return f"void: {self._name_void_metrics()}"
            count = units.number_of(noun, number["void"])
            return f"void: {count} cannot be judged"
        if number["inconclusive"]:
            return (
                f"inconclusive: {number['inconclusive']} {of} {verb} undecided"
            )
        return "inconclusive: measurements are missing"

    def _validity_sentence(
        self, refused: tuple[finding.RunFinding, ...]
    ) -> str:
        """Return the status and the number of refused findings, a text."""
        if refused:
            number = units.number_of("finding", len(refused))
            verb = "is" if len(refused) == 1 else "are"
            return f"void: {number} {verb} not tolerated"
        return {
            "passed": "passed: no finding voids the run",
            "inconclusive": "inconclusive: measurements are missing",
        }.get(self.status, "void: nothing was measured")


def describe_void_repetitions(
    omitted: collections.abc.Collection[int],
    findings: collections.abc.Iterable[finding.RunFinding],
    planned: int,
) -> str:
    """Return which repetitions are void and omitted, with the reasons, or "".

    :param omitted: The numbers of these repetitions.
    :param findings: The findings of the run.
    :param planned: The number of counted repetitions of the task.
    """
    if not omitted:
        return ""
    numbers = ", ".join(map(str, sorted(omitted)))
    reasons = finding.sentences(
        run_finding
        for run_finding in findings
        if run_finding.omitted and run_finding.finding.severity == "void"
        if not run_finding.tolerated
        and {*run_finding.repetitions} & {*omitted}
    )
    void = units.number_of("repetition", len(omitted))
    of = f"of {planned}" if planned else ""
    verb = "is" if len(omitted) == 1 else "are"
    return (
        f"{void} {of} {verb} void and omitted ({numbers}): "
        f"{'; '.join(reasons)}"
    )


def has_measured(rows: collections.abc.Iterable[result.Result]) -> bool:
    """Return whether any figure with a limit was measured.

    A figure is measured if it is measured at any number of guests. Without
    limits, any figure counts.
    """
    rows = list(rows)
    measured = {_get_key(row) for row in rows if row.measured}
    limited = {_get_key(row) for row in rows if row.status is not None}
    return bool(measured & limited if limited else measured)


def _get_key(row: result.Result) -> tuple[str, str, str]:
    """Return the metric, the figure and the variant of a row."""
    return row.metric.name, row.figure.name, row.variant


def overall_status(
    rows: collections.abc.Sequence[result.Result],
    void: bool,
    missing: bool,
) -> verdict.Status:
    """Return the status of a run: the most severe one of its rows.

    Failed has precedence over void, because a limit that is exceeded stays
    exceeded if other metrics are void. A run without measurements is void, so
    that it never passes.
    """
    statuses = {row.status for row in rows}
    if "failed" in statuses:
        return "failed"
    if void or not has_measured(rows) or "void" in statuses:
        return "void"
    if missing or "inconclusive" in statuses or statuses == {None}:
        return "inconclusive"
    return "passed"


def merge_statuses(
    judgements: collections.abc.Iterable[Judgement],
) -> verdict.Status:
    """Return the most severe status of judgements on parts of a run.

    A part without limits does not count if another one has some.
    """
    judgements = list(judgements)
    limited = [
        judgement
        for judgement in judgements
        if judgement.limited or judgement.unmatched
    ]
    statuses = (judgement.status for judgement in limited or judgements)
    return verdict.find_most_severe(statuses) or "void"
