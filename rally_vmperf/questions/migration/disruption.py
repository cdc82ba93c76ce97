"""The criterion of migration."""

import dataclasses
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.judging import axes
from rally_vmperf.judging import judge
from rally_vmperf.measurement.migration import figures
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

_Limit = t.Annotated[float | None, {"minimum": 0}]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judge.GuestOptions):
    """The options of vmperf_disruption.

    :param max_downtime: Largest tolerated time in which the guest does not
        run, s.
    :param max_packet_gap: Largest tolerated time without a reply to a ping
        from the peer, s.
    :param max_dip_percent: Largest tolerated loss of the rate in the deepest
        dip, percent of the rate before.
    :param max_dip_duration: Largest tolerated duration of the deepest dip, s.
    :param max_recovery_time: Largest tolerated time from the request until the
        rate is within 5 % of the rate before, s.
    :param max_neighbour_loss_percent: Largest tolerated loss of another guest
        while the migration runs, percent.
    :param max_loss_after_percent: Largest tolerated loss after the migration,
        in percent of the result before.
    """

    max_downtime: _Limit = None
    max_packet_gap: _Limit = None
    max_dip_percent: _Limit = None
    max_dip_duration: _Limit = None
    max_recovery_time: _Limit = None
    max_neighbour_loss_percent: _Limit = None
    max_loss_after_percent: float | None = None


#: The options with a limit of one metric.
_METRICS = {
    "max_downtime": figures.DOWNTIME,
    "max_packet_gap": figures.PACKET_GAP,
    "max_dip_percent": figures.DIP,
    "max_dip_duration": figures.DIP_DURATION,
    "max_recovery_time": figures.RECOVERY_TIME,
    "max_neighbour_loss_percent": figures.OTHERS_LOSS,
}
_AFTER = "max_loss_after_percent"


class Criterion(question.Criterion):
    """Limits on what a live migration costs the guests."""

    name = "vmperf_disruption"
    heading = "Disruption"
    rules = axes.PHASES.rules
    options = Options
    limits = types.MappingProxyType(
        {"max_percent": ("ratio",), "max": ("count",)}
    )
    metrics = figures.METRICS

    def list_limit_options(self) -> list[str]:
        """Return the options of which the configuration needs one."""
        return [*_METRICS, _AFTER]

    def convert(self, options: documents.Arguments) -> documents.Arguments:
        """Return the options, with limits by metric in place of others."""
        limits = {
            metric.name: options[key]
            for key, metric in _METRICS.items()
            if key in options
        }
        after = {"*": options[_AFTER]} if _AFTER in options else {}
        return {**options, "max": limits, "max_percent": after}

    def check(
        self,
        subtask: task.AnyTask,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits on figures that the task does not measure."""
        options = parsed.options
        if options.max_packet_gap is not None and not subtask.peer:
            raise task.InvalidTask(
                "sla vmperf_disruption max_packet_gap: the peer pings the "
                "guest, but the task has no peer; add peer: {address: ..., "
                "user: ...}"
            )
        if (
            options.max_neighbour_loss_percent is not None
            and subtask.count < 2
        ):
            raise task.InvalidTask(
                "sla vmperf_disruption max_neighbour_loss_percent: the task "
                "has one guest; set count of vmperf_guests to 2 or more"
            )


DISRUPTION = Criterion()
CRITERIA = (DISRUPTION,)
