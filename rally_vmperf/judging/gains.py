# SPDX-License-Identifier: Apache-2.0
"""The gains of variants, and the sentences on them."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.judging.results import changes
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units

Row = result.Result

_NO_DIFFERENCE = "no significant difference"
_FEW = f"fewer than {statistics.FEWEST} repetitions"


def conclude(rows: list[Row], confidence: float) -> list[str]:
    """Return one sentence for each variant, as a list.

    :param rows: The rows of all variants.
    """
    names = [
        row.figure.names
        for row in rows
        if isinstance(row.figure, figures.Loss)
    ]
    if not names:
        return []
    return describe_gains(names[0][0], list_changes(rows, confidence))


def list_changes(
    rows: collections.abc.Iterable[Row],
    confidence: float,
) -> list[Row]:
    """Return the gain of each metric and variant against zero, as a list.

    The confidence is that of all statuses together, over variants and
    metrics. A void variant has no comparison.
    """
    changed = []
    for row in rows:
        figure = row.figure
        if not isinstance(figure, figures.Loss) or not figure.is_minimum:
            continue
        reason = row.reason or "; ".join(row.void_reasons())
        contrast = dataclasses.replace(
            figure.contrast,
            conservative=False,
            other=() if reason else figure.contrast.other,
        )
        changed.append(
            dataclasses.replace(
                row,
                figure=dataclasses.replace(figure, contrast=contrast),
                limit=0.0,
                variant=figure.names[1],
                reason=reason,
            )
        )
    return changes.decide_all(changed, confidence)


def describe_gains(
    reference: str, compared: collections.abc.Iterable[Row]
) -> list[str]:
    """Return one sentence for each variant, as a list.

    Significant gains and losses have the intervals that decided.
    """
    by_variant: dict[str, list[Row]] = {}
    for change in compared:
        by_variant.setdefault(change.variant, []).append(change)
    sentences = []
    for variant, variant_changes in by_variant.items():
        reasons = [change.reason for change in variant_changes]
        if all(reasons):
            text = f"not compared: {'; '.join(dict.fromkeys(reasons))}"
        else:
            text = "; ".join(_list_gains(variant_changes))
        sentences.append(f"{variant} instead of {reference}: {text}")
    return sentences


def _list_gains(
    compared: collections.abc.Sequence[Row],
) -> list[str]:
    """Return clauses on the largest significant changes and numbers of others.

    If all would be too many, the largest ones are first.
    """
    significant: list[tuple[float, str, str]] = []
    others: collections.Counter[str] = collections.Counter()
    for change in compared:
        comparison = change.decisive
        if comparison is None or comparison.low is None:
            others[change.reason or _FEW] += 1
            continue
        status = changes.classify(change)
        if status not in ("better", "worse"):
            others[""] += 1
            continue
        gain = change.show(-comparison.overhead_percent)
        sign = "" if gain.startswith("-") else "+"
        clause = (
            f"{change.metric.name} {sign}{gain} ({change.show_interval()})"
        )
        size = abs(comparison.overhead_percent)
        significant.append((size, clause, status))
    if len(significant) > finding.DETAILS_SHOWN:
        significant.sort(reverse=True)
    shown = significant[: finding.DETAILS_SHOWN]
    clauses = [clause for _, clause, _ in shown]
    hidden = collections.Counter(
        status for _, _, status in significant[finding.DETAILS_SHOWN :]
    )
    clauses += [
        f"{status} in {units.number_of('other metric', number)}"
        for status, number in hidden.items()
    ]
    for reason, number in others.items():
        text = f"no result ({reason})" if reason else _NO_DIFFERENCE
        clauses.append(f"{text} in {units.number_of('metric', number)}")
    return clauses
