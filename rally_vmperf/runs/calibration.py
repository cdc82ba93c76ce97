"""Calibration: the rates at full speed, of which loads are shares.

The warm-up runs the solo guest at full speed.  Its rates are in the records
of the warm-up; later repetitions offer shares of them.
"""

import collections
import collections.abc
import dataclasses
import json
import statistics
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.measurement import repetition
from rally_vmperf.runs import attempt
from rally_vmperf.runs import comparability
from rally_vmperf.runs import conditions
from rally_vmperf.runs import setting
from rally_vmperf.workloads import base

#: The number of significant digits of a rate that is offered.
_DIGITS = 4
#: The directory of a workload and the name of a command.
_Key = tuple[str, str]


@dataclasses.dataclass(kw_only=True)
class Calibration:
    """The workloads at full speed, and at shares of the measured rates.

    :param driven: The workloads, each with its load.
    :param conditions: The conditions of warm-ups, at full speed.
    :param progress: The output of the rates.
    """

    driven: collections.abc.Sequence[assignment.Assignment]
    conditions: tuple[conditions.PlannedCondition, ...]
    progress: t.Callable[[str], None]

    def __post_init__(self) -> None:
        self.full_speed = assignment.merge_loads(self.driven)
        self._values: dict[_Key, list[float]] = collections.defaultdict(list)
        self._calibrated: tuple[assignment.Assignment, ...] = ()
        self._warmups = 0

    def add(
        self, results: collections.abc.Iterable[repetition.Condition]
    ) -> None:
        """Add the rates of a warm-up.

        :param results: The results of its conditions.
        """
        self._warmups += 1
        values: dict[str, list[float]] = collections.defaultdict(list)
        for condition in results:
            for observation in condition.observations:
                measured = observation.sample
                values[measured.metric.name].append(measured.value)
        for assigned in self.full_speed:
            for offer in assigned.workload.offers(assigned.arguments):
                key = (assigned.directory, offer.command)
                self._values[key] += values[assigned.rename(offer.metric)]

    def assign(
        self, ready: attempt.ReadySession, *, is_warmup: bool
    ) -> attempt.ReadySession:
        """Return a session with the workloads of a repetition.

        :param is_warmup: Whether the repetition is part of the warm-up.
        :raises WorkloadError: If the warm-up did not measure a rate.
        """
        if is_warmup:
            assignments = self.full_speed
        else:
            if not self._calibrated:
                self._calibrated = self._calibrate()
            assignments = self._calibrated
        if ready.session.assignments == assignments:
            return ready
        ready.session.assignments = assignments
        findings = comparability.find_in_arguments(assignments)
        return dataclasses.replace(
            ready,
            setting=dataclasses.replace(
                ready.setting,
                workloads=setting.list_workloads(assignments),
                expected_metrics=setting.list_expected_metrics(assignments),
                metrics=setting.list_metrics(assignments),
                findings=tuple(
                    dict.fromkeys((*ready.setting.findings, *findings))
                ),
            ),
        )

    def _calibrate(self) -> tuple[assignment.Assignment, ...]:
        """Return the workloads with the rates of their loads."""
        calibrated: list[assignment.Assignment] = []
        for (directory, command), values in self._values.items():
            if 0 < len(values) < self._warmups:
                self.progress(
                    f"warning: the full speed of {command} of {directory} is "
                    f"the mean of {len(values)} of {self._warmups} warm-ups"
                )
        shown: dict[str, dict[str, dict[str, float]]] = {}
        for assigned in self.driven:
            load = assigned.load
            if load is None or load.share is None:
                calibrated.append(assigned)
                continue
            rates = {
                offer.command: _round(
                    load.share * self._find_rate(assigned, offer.command)
                )
                for offer in assigned.workload.offers(assigned.arguments)
            }
            calibrated.append(assigned.at_rates(rates))
            name = assigned.without_load().label or assigned.workload.name
            shown.setdefault(load.title, {})[name] = rates
        self.progress(
            f"{', '.join(shown)}: the same rates are load: "
            f"{json.dumps([*shown.values()])}"
        )
        return tuple(calibrated)

    def _find_rate(
        self, assigned: assignment.Assignment, command: str
    ) -> float:
        """Return the mean rate of a command at full speed."""
        values = self._values[assigned.directory, command]
        if not values or min(values) <= 0:
            raise base.WorkloadError(
                f"load: the warm-up measured no rate of {command} of "
                f"{assigned.directory} at full speed; see its record in the "
                "journal, or give rates in place of shares"
            )
        return statistics.geometric_mean(values)


def _round(rate: float) -> float:
    """Return a rate with few digits, as it is printed and pasted."""
    return float(f"{rate:.{_DIGITS}g}")
