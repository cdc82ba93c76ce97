# SPDX-License-Identifier: Apache-2.0
"""The HTML page of compared runs, a single file without a script."""

import collections.abc

from rally_vmperf.judging.results import changes
from rally_vmperf.judging.results import result
from rally_vmperf.report import page
from rally_vmperf.report import table_labels
from rally_vmperf.report.charts import dots
from rally_vmperf.report.charts import style

#: The maximum length of a name in a chart in characters.
MAX_NAME_CHARACTERS = 48
#: The style of a status, as that of a verdict.
STYLES = {
    "worse": "failed",
    "better": "passed",
    "undecided": "inconclusive",
    "not worse": "none",
    "equal": "none",
}


def standalone(
    names: collections.abc.Sequence[str],
    compared: collections.abc.Sequence[result.Result],
    differences: collections.abc.Sequence[str],
    summary: collections.abc.Sequence[str],
) -> str:
    """Return the page of compared runs as text.

    :param names: The names of all runs in their order.
    :param compared: The changes of all metrics.
    :param differences: The differences between the runs, one per line.
    :param summary: The sentences on each run.
    """
    ranked = changes.rank(compared)
    template = page.create_environment(None).get_template("changes.html.j2")
    *first, last = names
    status, headline = changes.conclude(compared)
    html = template.render(
        title=f"Comparison of {', '.join(first)} and {last}",
        embedded=False,
        names=names,
        ranked=ranked,
        differences=differences,
        summary=summary,
        boots=changes.BOOTS,
        headline=headline,
        status=STYLES[status],
        styles=STYLES,
        classify=changes.classify,
        remark=changes.describe_remark,
        list_figures=changes.list_figures,
        chart=dots.draw(
            _list_lines(names, ranked),
            "changes",
            "loss in percent of "
            f"{style.shorten(names[0], MAX_NAME_CHARACTERS)} (right: worse)",
            "Loss of each metric with its interval",
        ),
    )
    return table_labels.add(html)


def _list_lines(
    names: collections.abc.Sequence[str],
    ranked: collections.abc.Iterable[collections.abc.Iterable[result.Result]],
) -> list[dots.Dot]:
    """Return a line of the chart for each change with a comparison."""
    return [
        dots.from_comparison(
            _label(change, with_run=len(names) > 2),
            change.decisive,
            STYLES[changes.classify(change)],
            (-change.limit, change.limit) if change.limit else (),
        )
        for group in ranked
        for change in group
        if change.decisive is not None
    ]


def _label(change: result.Result, *, with_run: bool) -> str:
    """Return the metric, the condition and the run of a change as text."""
    subject = change.metric.name
    if change.condition:
        subject += f" ({change.condition})"
    shown = [subject, change.variant] if with_run else [subject]
    return ": ".join(
        style.shorten(part, MAX_NAME_CHARACTERS) for part in shown
    )
