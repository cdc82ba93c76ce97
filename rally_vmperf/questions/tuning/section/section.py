"""The section of the report with runs that compare variants."""

import collections.abc

import jinja2
import markupsafe

from rally_vmperf.judging import tuning_judge
from rally_vmperf.report import dot_plot
from rally_vmperf.report import reports


def list_variants(run: reports.RunReport) -> list[str]:
    """Return the names of the variants of a run, the reference first."""
    if not run.repetitions:
        return []
    return [
        str(condition.axes[tuning_judge.VARIANT])
        for condition in run.repetitions[-1].conditions
    ]


def draw_losses(
    rows: collections.abc.Iterable[tuning_judge.TuningResult], name: str
) -> markupsafe.Markup:
    """Return the chart of losses as SVG markup."""
    return dot_plot.draw(
        [
            dot_plot.Line(
                label=f"{row.metric.name} {row.variant}",
                comparison=row.comparison,
                status=row.status or "none",
                limits=() if row.limit is None else (row.limit,),
            )
            for row in rows
            if row.comparison is not None
        ],
        name,
        "loss in percent of the reference (right: the variant is worse)",
        "Loss of each variant with its interval",
    )


SECTION = reports.Section(
    title="Gain of settings",
    subject="tuning",
    report_class=reports.RunReport,
    comparison_facts=lambda run: [("Variants", list_variants(run))],
    functions={"draw_losses": draw_losses},
    template="tuning.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
