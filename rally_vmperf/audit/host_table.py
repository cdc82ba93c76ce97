"""The table of an audit, and its rows for other programs."""

import collections.abc

from rally_vmperf.audit import hosts
from rally_vmperf.audit import result
from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import table

#: The columns of the table for a terminal.
COLUMNS = ("Host", "Result", "Guests", "Limits", "Date", "Metrics")
#: The number of changes in a cell, and of hosts that a strip names.
MOST_SHOWN = 3
#: The status of a host or change in the flat table of results.
_STATUSES: dict[str, verdict.Status] = {
    "worse": "failed",
    "no result": "void",
    "incomplete": "failed",
    "not compared": "inconclusive",
    "undecided": "inconclusive",
}


def list_lines(audit: result.Audit) -> collections.abc.Iterator[str]:
    """Yield the lines of the result for a terminal, the worst host first."""
    rows = [COLUMNS, *map(list_cells, audit.results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield verdict_table.aligned(row, widths)
    yield ""
    yield f"{audit.headline}."
    for found in audit.capacities:
        yield f"{found.sentence()}."
    for note in audit.notes:
        yield f"{note}."


def list_cells(found: result.HostResult) -> tuple[str, ...]:
    """Return the cells of a host, by column of the table."""
    host = found.host
    return (
        host.name,
        found.status,
        describe_guests(host),
        ", ".join(
            dict.fromkeys(
                status for status in host.verdicts.values() if status != "none"
            )
        ),
        host.measured_at[:10],
        describe(found),
    )


def describe(found: result.HostResult) -> str:
    """Return what is worse or missing on a host as text."""
    if found.host.reason:
        parts = [found.host.reason, found.acknowledged]
        return "; ".join(filter(None, parts))
    parts = list_first(found.worse, describe_change)
    if found.slower:
        slower = list_first(found.slower, describe_change)
        parts.append(f"slower than before: {', '.join(slower)}")
    if found.missing:
        names = list_first(found.missing, lambda change: change.figure.title)
        parts.append(f"missing: {', '.join(names)}: {found.missing[0].reason}")
    if found.undecided:
        parts.append(
            f"undecided: {units.number_of('metric', found.undecided)}"
        )
    if found.is_alone:
        parts.append("no other host of its class has the same test")
    if found.versions:
        parts.append(", ".join(found.versions))
    reasons = [change.acknowledged for change in found.all_worse]
    parts += dict.fromkeys(filter(None, reasons))
    return "; ".join(parts)


def list_first(
    changes: collections.abc.Sequence[hosts.HostChange],
    describe_one: collections.abc.Callable[[hosts.HostChange], str],
) -> list[str]:
    """Return the first changes as texts, and the number of the others."""
    texts = [*map(describe_one, changes[:MOST_SHOWN])]
    more = len(changes) - MOST_SHOWN
    return [*texts, f"{more} more"] if more > 0 else texts


def describe_change(change: hosts.HostChange) -> str:
    """Return a metric with its loss as text."""
    loss = describe_loss(change)
    return f"{change.figure.title} {loss}".rstrip()


def describe_loss(change: hosts.HostChange) -> str:
    """Return the loss of a change in percent as text, or ""."""
    if change.decision is None:
        return ""
    return f"{units.show_percent(change.decision.loss)} %"


def describe_guests(host: hosts.Host) -> str:
    """Return the number of guests within limits by flavor as text."""
    texts = []
    for flavor, measured in host.capacities.items():
        found = measured.found
        bound = ">= " if found.is_lower_bound else ""
        name = f" {flavor}" if len(host.capacities) > 1 else ""
        texts.append(f"{bound}{found.proven}{name}")
    return ", ".join(texts)


def list_rows(audit: result.Audit) -> table.Rows:
    """Yield the flat rows of an audit: capacities, hosts and figures."""
    start = table.Row(run="audit", question="audit", title="Audit of hosts")
    newest = max(
        (found.host.measured_at for found in audit.results), default=""
    )
    start = start._replace(time=table.format_time(newest))
    yield from _list_capacities(start, audit)
    changes: dict[str, list[hosts.HostChange]] = {}
    for change in audit.changes:
        changes.setdefault(change.host, []).append(change)
    for found in audit.results:
        host_start = start._replace(
            host=found.host.name,
            time=table.format_time(found.host.measured_at),
            criterion="host",
        )
        yield host_start._replace(
            row="verdict",
            status=_STATUSES.get(found.status, "passed"),
            passed=found.status not in result.FAILED,
            reason=". ".join(filter(None, (found.status, describe(found)))),
        )
        for measured, figure in (
            (changes.get(found.host.name, ()), "loss_to_other_hosts"),
            (found.slower, "loss_to_earlier_audit"),
        ):
            for change in measured:
                yield _build_row(host_start, change, figure)


def _list_capacities(start: table.Row, audit: result.Audit) -> table.Rows:
    """Yield a row for each capacity."""
    for found in audit.capacities:
        status = None
        if found.required is not None:
            status = "failed" if found.is_too_small else "passed"
        yield start._replace(
            row="figure",
            criterion="capacity",
            condition=f"flavor={found.flavor}" if found.flavor else None,
            figure="guests_within_limits" if found.flavor else "vcpus_in_all",
            unit="1",
            value=float(found.guests),
            limit=None if found.required is None else float(found.required),
            status=status,
            reason=found.sentence(),
        )


def _build_row(
    start: table.Row, change: hosts.HostChange, figure: str
) -> table.Row:
    """Return the row of a change."""
    decision = change.decision
    conditions = (f"flavor={change.figure.flavor}", change.figure.condition)
    status = _STATUSES.get(change.status, "passed")
    if change.value is None and change.reference is not None:
        status = "failed"
    if change.acknowledged and status == "failed":
        status = "passed"
    value = verdict.FigureValue(
        name=figure,
        unit="%",
        value=decision.loss if decision else None,
        low=decision.low if decision else None,
        high=decision.high if decision else None,
        limit=change.margin,
        status=status,
        reason=change.acknowledged or change.reason,
    )
    row = table.build_figure_row(start, change.figure.metric, value, ())
    return row._replace(condition=", ".join(filter(None, conditions)))
