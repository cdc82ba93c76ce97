# SPDX-License-Identifier: Apache-2.0
"""The ranking of variants in the report, and its section."""

import collections.abc
import typing as t

import jinja2
import markupsafe

from rally_vmperf.guests import verification
from rally_vmperf.judging import gains
from rally_vmperf.judging import overhead
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import changes
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.tuning.section import self_check
from rally_vmperf.report import groups
from rally_vmperf.report import reports
from rally_vmperf.report.charts import dots

#: The colours and marks of changes, as keys of verdicts.
_MARKS = {"better": "passed", "worse": "failed"}


class Rank(t.NamedTuple):
    """A variant in the ranking of a metric.

    :param number: The place, from 1; None if the variant is not compared.
    :param row: The row with the limit and the verdict.
    """

    number: int | None
    change: result.Result
    row: result.Result


def rank(judgement: summary.Judgement) -> list[tuple[str, list[Rank]]]:
    """Return the variants of each metric, the best first, as a list.

    Metrics in which a variant differs from the reference precede the others.
    """
    rows = {
        (row.metric, row.figure.names[1]): row
        for row in judgement.rows
        if isinstance(row.figure, figures.Loss)
    }
    metric_ranks = changes.rank(
        gains.list_changes(judgement.rows, judgement.confidence)
    )
    return [
        (
            group[0].metric.name,
            [
                Rank(
                    place if change.decisive else None,
                    change,
                    rows[change.metric, change.variant],
                )
                for place, change in enumerate(group, start=1)
            ],
        )
        for group in sorted(
            metric_ranks,
            key=lambda group: (
                _MARKS.keys().isdisjoint(map(changes.classify, group)),
                groups.position(group[0].metric.name),
            ),
        )
    ]


def draw_gains(
    ranking: collections.abc.Iterable[tuple[str, list[Rank]]], name: str
) -> markupsafe.Markup:
    """Return the chart of gains as SVG markup."""
    return dots.draw(
        [
            dots.from_comparison(
                f"{metric} {metric_rank.change.variant}",
                comparison,
                _MARKS.get(changes.classify(metric_rank.change), "none"),
                ()
                if metric_rank.row.limit is None
                else (metric_rank.row.limit,),
                sign=-1,
            )
            for metric, ranks in ranking
            for metric_rank in ranks
            if (comparison := metric_rank.change.decisive)
        ],
        name,
        "gain over the reference in percent (right: the variant is better)",
        "Gain of each metric and variant with its interval",
    )


def judge_overhead(run: reports.RunReport) -> summary.Judgement | None:
    """Return the judgement on overhead; None without bare metal."""
    if run.last.bare_metal is None:
        return None
    return run.judge_by(overhead.HEADING, overhead.RULES)


def list_overheads(
    judgement: summary.Judgement,
) -> dict[str, dict[str, result.Result]]:
    """Return the rows compared with bare metal, by metric and variant."""
    overheads: dict[str, dict[str, result.Result]] = {}
    for row in judgement.compared:
        if row.comparison is not None:
            overheads.setdefault(row.metric.name, {})[row.variant] = row
    return dict(
        sorted(overheads.items(), key=lambda item: groups.position(item[0]))
    )


def list_void_variants(run: reports.RunReport) -> set[str]:
    """Return the names of variants with a finding that voids them."""
    tolerated = {
        run_finding.finding.kind
        for run_finding in run.findings
        if run_finding.tolerated
    }
    return {
        str(condition.axes[repetition.VARIANT])
        for condition in repetition.list_conditions(run.repetitions)
        for reported_finding in condition.findings
        if condition.counted
        and reported_finding.severity == "void"
        and reported_finding.is_run_wide
        and reported_finding.kind not in tolerated
    }


def list_settings(
    run: reports.RunReport,
) -> list[tuple[str, str, verification.GuestSetting]]:
    """Return guest, variant and setting for each request, as a list.

    The detected values are those of the fingerprints and of Nova.
    """
    settings = []
    for machine in run.of_role("guest"):
        nova = machine.nova
        flavor = nova.get("flavor") or {}
        evidence = verification.Evidence(
            vcpus=flavor.get("vcpus") or run.last.shape.vcpus,
            fingerprint=machine.fingerprint,
            topology=nova.get("topology"),
            volume_types=tuple(
                volume.get("type") for volume in nova.get("volumes") or ()
            ),
        )
        variant = str(nova.get("group", ""))
        settings += [
            (machine.name, variant, setting)
            for setting in verification.verify(
                nova.get("settings") or {}, evidence
            )
        ]
    return settings


def list_spreads(run: reports.RunReport) -> list[self_check.BootSpread]:
    """Return the spreads of boots in the order of figures, as a list."""
    return sorted(
        self_check.list_spreads(run),
        key=lambda spread: groups.position(spread.metric.name),
    )


def _list_facts(run: reports.RunReport) -> reports.Facts:
    """Return titled lines on the variants and their reference, a list."""
    variants = run.last.options.get("variants") or ()
    equal = self_check.find_equal(variants)
    lines = []
    for variant in variants:
        changed = ", ".join(
            _format_option(key, value)
            for key, value in variant.items()
            if key != "name"
        )
        line = f"{variant['name']}: {changed or 'as the task requests'}"
        if other := equal.get(variant["name"]):
            line += f", equal to {other}"
        lines.append(line)
    reference = str(run.last.options.get("reference", ""))
    return [("Variants", lines), ("Reference", [reference])]


def _format_option(key: str, value: t.Any) -> str:
    """Return what a variant changes as text: ``hw_vif_model=e1000``."""
    if not isinstance(value, collections.abc.Mapping):
        return f"{key}={value}"
    if key in ("extra_specs", "image_properties"):
        return ", ".join(f"{name}={text}" for name, text in value.items())
    return f"{key}={', '.join(map(str, value.values()))}"


SECTION = reports.Section(
    title="Gain of settings of guests",
    subject="tuning",
    report_class=reports.RunReport,
    comparison_facts=_list_facts,
    functions={
        "rank": rank,
        "classify": changes.classify,
        "draw_gains": draw_gains,
        "judge_overhead": judge_overhead,
        "list_overheads": list_overheads,
        "list_void_variants": list_void_variants,
        "list_settings": list_settings,
        "list_spreads": list_spreads,
        "REPETITIONS": self_check.REPETITIONS,
    },
    template="run.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
