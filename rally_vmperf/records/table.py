# SPDX-License-Identifier: Apache-2.0
"""The flat table of results: rows of samples, figures and verdicts.

All formats for other programs contain these rows. ``table.json`` is the JSON
Schema of a row; its properties are the columns.
"""

import collections.abc
import datetime
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The version of the columns.
VERSION = 2


class Row(t.NamedTuple):
    """A row of the table; ``table.json`` describes its columns.

    A column that does not apply to the row is None or empty.
    """

    version: int = VERSION
    row: t.Literal["sample", "figure", "verdict"] = "sample"
    run: str = ""
    question: str = ""
    title: str = ""
    time: str | None = None
    criterion: str | None = None
    condition: str | None = None
    guests: int | None = None
    side: t.Literal["guest", "bare_metal"] | None = None
    guest: str | None = None
    host: str | None = None
    workload: str | None = None
    metric: str | None = None
    unit: str | None = None
    direction: sample.Better | None = None
    repetition: int | None = None
    position: int | None = None
    counted: bool | None = None
    figure: str | None = None
    subject: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    status: str | None = None
    passed: bool | None = None
    reason: str | None = None
    findings: tuple[str, ...] = ()

    def as_document(self) -> dict[str, t.Any]:
        """Return the columns that apply to the row as a JSON document."""
        return {
            column: content
            for column, content in zip(self._fields, self, strict=True)
            if content is not None and content != ()
        }

    def show_figure(self) -> units.Shown:
        """Return value and interval of a figure, or why it is missing."""
        if self.value is None:
            return units.Shown(self.reason or "", "")
        return units.show_estimate(
            units.Estimate(self.value, self.low, self.high),
            str(self.unit),
            self.limit,
        )

    def show_limit(self) -> str:
        """Return the limit of a figure as text; "" without one."""
        if self.limit is None:
            return ""
        return units.show_limit(self.limit, str(self.unit))


Rows = collections.abc.Iterator[Row]


def format_time(stamp: str) -> str | None:
    """Return an ISO 8601 time in UTC, such as ``2026-01-02T03:04:05Z``.

    :param stamp: The time with its offset, or "".
    """
    if not stamp:
        return None
    time = datetime.datetime.fromisoformat(stamp).astimezone(datetime.UTC)
    return time.isoformat().replace("+00:00", "Z")


def list_guest_rows(
    start: Row,
    measured: repetition.Repetition,
    tolerate: collections.abc.Container[str],
) -> Rows:
    """Yield a row per sample, missing measurement and skipped condition.

    :param start: The row with the columns of the run.
    :param tolerate: The kinds of findings that do not void samples.
    """
    start = start._replace(
        side="guest", repetition=measured.number, counted=measured.counted
    )
    expected = {metric.name: metric for metric in measured.expected_metrics}
    for condition in measured.conditions:
        in_condition = start._replace(
            condition=_format_axes(condition.axes),
            guests=condition.guests,
        )
        if condition.skip_reason:
            yield in_condition._replace(
                status="skipped", reason=condition.skip_reason
            )
        findings = (*measured.findings, *condition.findings)
        yield from _list_samples(
            in_condition,
            condition.by_metric,
            findings,
            tolerate,
            measured.hosts,
        )
        for gap in dict.fromkeys(condition.missing):
            yield _build_gap(in_condition, gap, expected, measured.hosts)
    for gap in dict.fromkeys(measured.missing):
        yield _build_gap(start, gap, expected, measured.hosts)


def list_bare_metal_rows(
    start: Row, copies: int | None, reference: repetition.Reference
) -> Rows:
    """Yield a row per sample of bare metal.

    :param start: The row with the columns of the run.
    :param copies: The number of concurrent copies; None if it is the same in
        the whole run.
    """
    for number, by_metric in enumerate(reference.by_metric, start=1):
        yield from _list_samples(
            start._replace(
                side="bare_metal",
                time=format_time(reference.recorded_at),
                guests=copies,
                host=reference.machine or None,
                repetition=number,
                counted=True,
            ),
            by_metric,
        )


def build_figure_row(
    start: Row,
    metric: sample.Metric,
    value: verdict.FigureValue,
    findings: tuple[str, ...],
) -> Row:
    """Return the row of a figure.

    :param start: The row with the columns of the run and the criterion.
    :param findings: The kinds of the findings about the figure.
    """
    return _with_metric(start, metric)._replace(
        row="figure",
        condition=_format_axes(
            {
                axis: position
                for axis, position in (
                    (repetition.GUESTS, value.guests),
                    (repetition.VARIANT, value.variant or None),
                )
                if position is not None
            }
        ),
        guests=value.guests,
        guest=value.guest or None,
        unit=value.unit,
        figure=value.name,
        subject=value.subject or None,
        value=value.value,
        low=value.low,
        high=value.high,
        limit=value.limit,
        status=value.status,
        reason=value.reason or None,
        findings=findings,
    )


def _list_samples(
    start: Row,
    by_metric: sample.ByMetric,
    findings: tuple[finding.Finding, ...] = (),
    tolerate: collections.abc.Container[str] = (),
    hosts: collections.abc.Mapping[str, str] | None = None,
) -> Rows:
    """Yield a row per sample, and per percentile of all machines together.

    :param start: The row with the columns of the repetition.
    :param hosts: The host of each guest; None if the row has the host.
    """
    for metric, samples in by_metric.items():
        about = [found for found in findings if found.concerns(metric.name)]
        is_void = any(
            found.severity == "void" and found.kind not in tolerate
            for found in about
        )
        with_metric = _with_metric(start, metric)._replace(
            status="void" if is_void else "valid",
            findings=_list_kinds(about),
        )
        for guest, values in samples.by_source.items():
            with_guest = with_metric._replace(guest=guest)
            if hosts is not None:
                with_guest = with_guest._replace(host=hosts.get(guest))
            for position, number in enumerate(values, start=1):
                yield with_guest._replace(
                    position=position, value=float(number)
                )
        if samples.merged is not None:
            yield with_metric._replace(position=1, value=float(samples.merged))


def _build_gap(
    start: Row,
    gap: repetition.Missing,
    metrics: collections.abc.Mapping[str, sample.Metric],
    hosts: collections.abc.Mapping[str, str],
) -> Row:
    """Return the row of a missing measurement.

    :param metrics: The metrics of a complete repetition by name.
    """
    row = start._replace(
        guest=gap.machine,
        host=hosts.get(gap.machine),
        status="missing",
        reason=gap.reason,
    )
    if gap.name in metrics:
        return _with_metric(row, metrics[gap.name])
    # It is a workload or the whole repetition.
    return row._replace(reason=f"{gap.name}: {gap.reason}")


def _with_metric(row: Row, metric: sample.Metric) -> Row:
    """Return a copy of a row with the columns of a metric."""
    _, _, tool = metric.name.partition(".")
    return row._replace(
        workload=tool.partition(".")[0] or None,
        metric=metric.name,
        unit=metric.unit,
        direction=metric.better,
    )


def _format_axes(axes: repetition.Axes) -> str | None:
    """Return the parameters of a condition as text; None without any."""
    return ", ".join(f"{axis}={axes[axis]}" for axis in axes) or None


def _list_kinds(
    findings: collections.abc.Iterable[finding.Finding],
) -> tuple[str, ...]:
    """Return each kind of findings once, as a tuple."""
    return tuple(dict.fromkeys(found.kind for found in findings))


#: The counters of samples in summaries. The first two have all samples with a
#: value; warm-up and void samples are among them.
COUNTS = ("guest", "bare metal", "warm-up", "void", "missing", "skipped")


def count_names(row: Row) -> list[str]:
    """Return the counters that the row of a sample increments, a list."""
    if row.value is None:
        return [str(row.status)]
    is_in = {
        "guest": row.side == "guest",
        "bare metal": row.side == "bare_metal",
        "warm-up": not row.counted,
        "void": row.status == "void",
    }
    return [name for name, counts in is_in.items() if counts]
