"""The criterion of migration."""

import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.judging import axes
from rally_vmperf.measurement.migration import figures
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

#: The keys of limits, the metrics that they apply to, and descriptions.
_KEYS = {
    "max_downtime": (
        figures.DOWNTIME,
        "Largest tolerated time in which the guest does not run, s.",
    ),
    "max_packet_gap": (
        figures.PACKET_GAP,
        "Largest tolerated time without a reply to a ping from the peer, s.",
    ),
    "max_dip_percent": (
        figures.DIP,
        "Largest tolerated loss of the rate in the deepest dip, percent of "
        "the rate before.",
    ),
    "max_dip_duration": (
        figures.DIP_DURATION,
        "Largest tolerated duration of the deepest dip, s.",
    ),
    "max_recovery_time": (
        figures.RECOVERY_TIME,
        "Largest tolerated time from the request until the rate is within 5 % "
        "of the rate before, s.",
    ),
    "max_neighbour_loss_percent": (
        figures.OTHERS_LOSS,
        "Largest tolerated loss of another guest while the migration runs, "
        "percent.",
    ),
}
_AFTER = "max_loss_after_percent"


def _convert(options: documents.Arguments) -> documents.Arguments:
    """Return the options with limits by metric in place of the keys."""
    other = {
        key: option
        for key, option in options.items()
        if key not in _KEYS and key != _AFTER
    }
    limits = {
        metric.name: options[key]
        for key, (metric, _) in _KEYS.items()
        if key in options
    }
    if limits:
        other["max"] = limits
    if _AFTER in options:
        other["max_percent"] = {"*": options[_AFTER]}
    return other


def _check_measured(
    subtask: task.AnyTask,
    parsed: question.ParsedCriterion,
    baseline: t.Any,
) -> None:
    """Reject limits on figures that the task does not measure."""
    limits = parsed.limits["max"]
    if limits.for_metric(figures.PACKET_GAP.name) and not subtask.peer:
        raise task.InvalidTask(
            "sla vmperf_disruption max_packet_gap: the peer pings the guest, "
            "but the task has no peer; add peer: {address: ..., user: ...}"
        )
    if limits.for_metric(figures.OTHERS_LOSS.name) and subtask.count < 2:
        raise task.InvalidTask(
            "sla vmperf_disruption max_neighbour_loss_percent: the task has "
            "one guest; set count of vmperf_guests to 2 or more"
        )


DISRUPTION = question.Criterion(
    name="vmperf_disruption",
    title="Limits on what a live migration costs the guests.",
    heading="Disruption",
    schema=question.build_schema(
        {
            **{
                key: json_schema.number(description, minimum=0)
                for key, (_, description) in _KEYS.items()
            },
            _AFTER: json_schema.number(
                "Largest tolerated loss after the migration, in percent of "
                "the result before."
            ),
            **question.STATISTIC,
        },
        anyOf=[{"required": [key]} for key in (*_KEYS, _AFTER)],
    ),
    rules=axes.PHASES.rules,
    limits={"max_percent": ("ratio",), "max": ("count",)},
    metrics=figures.METRICS,
    convert=_convert,
    check=_check_measured,
)

CRITERIA = (DISRUPTION,)
