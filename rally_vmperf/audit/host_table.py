# SPDX-License-Identifier: Apache-2.0
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
    "differ": "inconclusive",
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
    for capacity in audit.capacities:
        yield f"{capacity.sentence()}."
    for note in audit.notes:
        yield f"{note}."


def list_cells(host_result: result.HostResult) -> tuple[str, ...]:
    """Return the cells of a host, by column of the table."""
    host = host_result.host
    return (
        host.name,
        host_result.status,
        describe_guests(host),
        ", ".join(
            dict.fromkeys(
                status for status in host.verdicts.values() if status != "none"
            )
        ),
        host.measured_at[:10],
        describe(host_result),
    )


def describe(host_result: result.HostResult) -> str:
    """Return what is worse or missing on a host as text."""
    if host_result.host.reason:
        parts = [host_result.host.reason, *host_result.lost]
        return "; ".join([*parts, *_list_known(host_result)])
    parts = [*host_result.lost]
    parts += list_first(host_result.worse, describe_change)
    if host_result.slower:
        slower = list_first(host_result.slower, describe_change)
        parts.append(f"slower than before: {', '.join(slower)}")
    if host_result.missing:
        names = list_first(
            host_result.missing, lambda change: change.figure.title
        )
        parts.append(
            f"missing: {', '.join(names)}: {host_result.missing[0].reason}"
        )
    if host_result.differing:
        differing = list_first(host_result.differing, describe_change)
        peer = host_result.differing[0].peer
        parts.append(f"differs from {peer}: {', '.join(differing)}")
    if host_result.undecided:
        parts.append(_describe_undecided(host_result))
    if host_result.is_alone:
        parts.append(host_result.explain_alone())
    if host_result.versions:
        parts.append(", ".join(host_result.versions))
    return "; ".join([*parts, *_list_known(host_result)])


def _describe_undecided(host_result: result.HostResult) -> str:
    """Return the undecided metrics, those that decide by name, as text."""
    deciding = host_result.deciding
    texts = list_first(deciding, describe_change)
    others = len(host_result.undecided) - len(deciding)
    if others:
        noun = "other metric" if deciding else "metric"
        texts.append(units.number_of(noun, others))
    return f"undecided: {', '.join(texts)}"


def _list_known(host_result: result.HostResult) -> list[str]:
    """Return the reasons of known differences that apply, each once."""
    known = [
        host_result.known
        for _, percent in host_result.list_losses()
        if host_result.accepts(percent)
    ]
    known += [
        change.known
        for change in (
            *host_result.all_worse,
            *host_result.missing,
            *host_result.differing,
            *host_result.undecided,
        )
        if change.is_acknowledged
    ]
    return [*dict.fromkeys(entry.describe() for entry in known if entry)]


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
    text = f"{change.figure.title} {describe_loss(change)}".rstrip()
    if change.known and not change.is_acknowledged:
        text += f", beyond the acknowledged {change.known.loss_percent:g} %"
    return text


def describe_loss(change: hosts.HostChange) -> str:
    """Return the loss of a change in percent as text, or ""."""
    if change.decision is None:
        return ""
    return f"{units.show_percent(change.decision.loss)} %"


def describe_guests(host: hosts.Host) -> str:
    """Return the number of guests within limits by flavor as text."""
    texts = []
    for flavor, measured in host.capacities.items():
        run_limit = measured.found
        bound = ">= " if run_limit.is_lower_bound else ""
        name = f" {flavor}" if len(host.capacities) > 1 else ""
        texts.append(f"{bound}{run_limit.proven}{name}")
    return ", ".join(texts)


def list_rows(audit: result.Audit) -> table.Rows:
    """Yield the flat rows of an audit: capacities, hosts and figures."""
    start = table.Row(run="audit", question="audit", title="Audit of hosts")
    newest = max(
        (host_result.host.measured_at for host_result in audit.results),
        default="",
    )
    start = start._replace(time=table.format_time(newest))
    yield from _list_capacities(start, audit)
    changes: dict[str, list[hosts.HostChange]] = {}
    for change in audit.changes:
        changes.setdefault(change.host, []).append(change)
    for host_result in audit.results:
        host_start = start._replace(
            host=host_result.host.name,
            time=table.format_time(host_result.host.measured_at),
            criterion="host",
        )
        yield host_start._replace(
            row="verdict",
            status=_STATUSES.get(host_result.status, "passed"),
            passed=audit.is_accepted(host_result),
            reason=". ".join(
                filter(None, (host_result.status, describe(host_result)))
            ),
        )
        for measured, figure in (
            (changes.get(host_result.host.name, ()), "loss_to_other_hosts"),
            (host_result.slower, "loss_to_earlier_audit"),
        ):
            for change in measured:
                yield _build_row(host_start, change, figure)


def _list_capacities(start: table.Row, audit: result.Audit) -> table.Rows:
    """Yield a row for each capacity."""
    for capacity in audit.capacities:
        status = None
        if capacity.required is not None:
            status = "failed" if capacity.is_too_small else "passed"
        yield start._replace(
            row="figure",
            criterion="capacity",
            condition=f"flavor={capacity.flavor}" if capacity.flavor else None,
            figure="guests_within_limits"
            if capacity.flavor
            else "vcpus_in_all",
            unit="1",
            value=float(capacity.guests),
            limit=None
            if capacity.required is None
            else float(capacity.required),
            status=status,
            reason=capacity.sentence(),
        )


def _build_row(
    start: table.Row, change: hosts.HostChange, figure: str
) -> table.Row:
    """Return the row of a change."""
    decision = change.decision
    conditions = (f"flavor={change.figure.flavor}", change.figure.condition)
    status = _STATUSES.get(change.status, "passed")
    if change.is_lost:
        status = "failed"
    if change.is_acknowledged:
        status = "passed"
    value = verdict.FigureValue(
        name=figure,
        unit="%",
        value=decision.loss if decision else None,
        low=decision.low if decision else None,
        high=decision.high if decision else None,
        limit=change.margin,
        status=status,
        reason=change.known.describe()
        if change.known and change.is_acknowledged
        else change.reason,
    )
    row = table.build_figure_row(start, change.figure.metric, value, ())
    return row._replace(
        condition=", ".join(filter(None, conditions)), subject="host"
    )
