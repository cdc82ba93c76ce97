# SPDX-License-Identifier: Apache-2.0
"""The self-check of a site: equal variants and one with a known loss."""

import collections.abc
import dataclasses
import json
import math
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests.planning import vcpu_limits
from rally_vmperf.judging import gains
from rally_vmperf.judging import judged_run
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The numbers of repetitions for which the smallest limits are computed.
REPETITIONS = (6, 10)
#: The metrics in which a limit of vCPUs is a loss.
_OF_CPU = "cpu."
#: The number of repetitions whose values give a spread.
_FEWEST = statistics.FEWEST
_FEW = f"fewer than {_FEWEST} repetitions"
#: How the interval of a limited guest relates to no loss and to the expected
#: one -> the begin of the sentence, and its end.
_OUTCOMES = {
    "found": ("the expected loss was found", ""),
    "other": (
        "another loss than the expected one was found",
        f". {vcpu_limits.QUOTA} has another effect than expected",
    ),
    "undecided": (
        "undecided",
        ". The intervals contain no loss and the expected one: more boots "
        "are needed to say",
    ),
    "none": (
        "no loss was found",
        ". Neither the guest nor Nova shows the limit: it is not proven that "
        f"{vcpu_limits.QUOTA} has an effect",
    ),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class BootSpread:
    """The spread of one metric between boots of equal guests.

    :param percent: The standard deviation of the values of boots in percent;
        it includes the spread of repetitions in one boot.
    :param boots: The number of boots of all equal variants.
    :param limits: The smallest limits of overhead in percent that can be
        decided, by the number of boots of each side.
    :param rounded: How the values show that the tool rounds them, so that the
        spread is not known; "" if they do not.
    """

    metric: sample.Metric
    percent: float
    boots: int
    limits: collections.abc.Mapping[int, float]
    rounded: str = ""


def find_equal(
    groups: collections.abc.Iterable[documents.Arguments],
) -> dict[str, str]:
    """Return the first variant that each other one is equal to, by name.

    :param groups: The groups of the variants, or the variants themselves.
    """
    first: dict[str, str] = {}
    equal = {}
    for group in groups:
        options = json.dumps({**group, "name": ""}, sort_keys=True)
        if other := first.get(options):
            equal[group["name"]] = other
        first.setdefault(options, group["name"])
    return equal


def list_remarks(run: judged_run.JudgedRun) -> list[str]:
    """Return sentences on equal variants and on limited ones, as a list."""
    return [*_describe_spreads(run), *_describe_limited(run)]


def list_spreads(run: judged_run.JudgedRun) -> list[BootSpread]:
    """Return the spread of each metric between boots, as a list.

    The list is empty if variants are not equal, or if their guests do not
    boot between repetitions.
    """
    equal = find_equal(run.last.options.get("variants") or ())
    if not equal or not run.last.repetition.rebooted:
        return []
    names = {*equal, *equal.values()}
    spreads = []
    for metric, by_variant in _list_values(run).items():
        values = [
            by_variant[name]
            for name in names & by_variant.keys()
            if len(by_variant[name]) >= _FEWEST
        ]
        if values:
            spreads.append(_find_spread(metric, values))
    return spreads


def _list_values(
    run: judged_run.JudgedRun,
) -> dict[sample.Metric, dict[str, statistics.Values]]:
    """Return the mean of each repetition by metric and variant."""
    by_metric: dict[sample.Metric, dict[str, statistics.Values]] = {}
    for row in run.judgement.rows:
        comparison = row.comparison
        if comparison is None or row.void_reasons():
            continue
        reference, variant, _ = t.cast(figures.Loss, row.figure).names
        by_variant = by_metric.setdefault(row.metric, {})
        by_variant[reference] = comparison.bare_values
        by_variant[variant] = comparison.guest_values
    return by_metric


def _find_spread(
    metric: sample.Metric,
    values: collections.abc.Sequence[statistics.Values],
) -> BootSpread:
    """Return the spread within variants, whose variance is pooled.

    :param values: The values of the boots of each variant.
    """
    squares, freedom = statistics.sum_squares(values)
    noise = math.sqrt(squares / freedom)
    mean = statistics.mean_of_repetitions(values)
    boots = [(boot,) for variant_boots in values for boot in variant_boots]
    rounded = "all boots gave the same value"
    if len(set(boots)) > 1:
        _, rounded = loss.find_rounding_error(
            metric, "equal variants", boots, mean
        )
    return BootSpread(
        metric=metric,
        rounded=rounded,
        percent=100 * math.expm1(noise),
        boots=len(boots),
        limits={
            repetitions: needed.smallest_limit(
                metric, repetitions, noise, mean
            )
            for repetitions in REPETITIONS
        },
    )


def _describe_spreads(run: judged_run.JudgedRun) -> list[str]:
    """Return sentences on boots of equal variants, as a list."""
    equal = find_equal(run.last.options.get("variants") or ())
    if not equal:
        return []
    names = ", ".join(dict.fromkeys([*equal.values(), *equal]))
    spreads = list_spreads(run)
    if not run.last.repetition.rebooted:
        return [
            f"Boots of equal variants ({names}): not measured, because their "
            "guests do not boot between repetitions"
        ]
    if not spreads:
        return [
            f"Boots of equal variants ({names}): not measured in "
            f"{_FEWEST} repetitions"
        ]
    remarks = []
    if rounded := [spread for spread in spreads if spread.rounded]:
        shown = ", ".join(spread.metric.name for spread in rounded)
        remarks.append(
            "The spread of boots is not known in "
            f"{units.number_of('metric', len(rounded))}, whose values are "
            f"rounded: {shown}"
        )
    spreads = [spread for spread in spreads if not spread.rounded]
    if not spreads:
        return remarks
    spreads.sort(key=lambda spread: spread.percent)
    middle, last = spreads[(len(spreads) - 1) // 2], spreads[-1]
    limits = (
        f"{units.show_percent(middle.limits[number])} to "
        f"{units.show_percent(last.limits[number])} % with {number} boots"
        for number in REPETITIONS
    )
    counts = {spread.boots for spread in spreads}
    boots = " to ".join(map(str, sorted({min(counts), max(counts)})))
    return [
        f"Boots of equal variants ({names}): {boots} boots have a "
        f"standard deviation of {units.show_percent(middle.percent)} % in the "
        f"median metric and of {units.show_percent(last.percent)} % in the "
        f"worst ({last.metric.name})",
        "Smallest limits of overhead that a guest without loss keeps in 4 of "
        f"5 runs, in these metrics: {', '.join(limits)} of each side",
        *remarks,
    ]


def _describe_limited(run: judged_run.JudgedRun) -> list[str]:
    """Return a sentence for each variant with a limit on its vCPUs."""
    options = run.last.options
    shares = {
        variant["name"]: _find_share(run, variant)
        for variant in options.get("variants") or ()
    }
    if not shares or shares.get(options.get("reference")) != 1:
        return []
    compared = gains.list_changes(run.judgement.rows, run.judgement.confidence)
    return [
        f"{name}, at most {100 * share:g} % of each vCPU: "
        + _describe_loss(
            [
                change
                for change in compared
                if change.variant == name
                and change.metric.name.startswith(_OF_CPU)
            ],
            share,
        )
        for name, share in shares.items()
        if share < 1
    ]


def _find_share(
    run: judged_run.JudgedRun, variant: documents.Arguments
) -> float:
    """Return the share of a processor that a vCPU of a variant may use.

    The flavor of its guests has the extra specs of the task, too.
    """
    flavors = [
        guest.nova.get("flavor")
        for guest in run.of_role("guest")
        if guest.nova.get("group") == variant["name"]
    ]
    # Records do not guarantee the form of facts from Nova.
    specs = {
        key: str(spec)
        for source in (*flavors, variant)
        if isinstance(source, collections.abc.Mapping)
        and isinstance(found := source.get("extra_specs"), dict)
        for key, spec in found.items()
    }
    return vcpu_limits.find_share(specs)


def _describe_loss(
    compared: collections.abc.Sequence[result.Result], share: float
) -> str:
    """Return whether the expected loss was found, as a clause.

    :param compared: The changes of the variant in metrics of CPU workloads.
    :param share: The share of a processor that a vCPU may use.
    """
    measured = [
        comparison
        for change in compared
        if (comparison := change.comparison) and comparison.low is not None
    ]
    if not measured:
        reasons = dict.fromkeys(change.reason or _FEW for change in compared)
        return f"not measured ({'; '.join(reasons) or 'no CPU workload'})"
    groups: dict[str, list[loss.Comparison]] = {}
    for comparison in measured:
        outcome = _find_outcome(comparison, share)
        groups.setdefault(outcome, []).append(comparison)
    total = units.number_of("CPU metric", len(measured))
    return "; ".join(
        f"{begin} in {len(groups[outcome])} of {total}: "
        + "; ".join(_describe(one, share) for one in groups[outcome])
        + end
        for outcome, (begin, end) in _OUTCOMES.items()
        if outcome in groups
    )


def _find_outcome(comparison: loss.Comparison, share: float) -> str:
    """Return how an interval relates to no loss and to the expected one."""
    low, high = comparison.low or 0.0, comparison.high or 0.0
    has_expected = low <= _compute_expected(comparison.metric, share) <= high
    if low > 0:
        return "found" if has_expected else "other"
    return "undecided" if has_expected else "none"


def _describe(comparison: loss.Comparison, share: float) -> str:
    """Return the loss of a metric and the expected one, as a clause."""
    expected = _compute_expected(comparison.metric, share)
    value, interval = verdict.show_loss(comparison)
    return (
        f"{comparison.metric.name} loses {value} ({interval}; expected "
        f"{units.show_percent(expected)} %)"
    )


def _compute_expected(metric: sample.Metric, share: float) -> float:
    """Return the loss of a limited guest in percent."""
    ratio = share if metric.better == "higher" else 1 / share
    return loss.percent(metric, ratio)
