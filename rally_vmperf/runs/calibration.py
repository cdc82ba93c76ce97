# SPDX-License-Identifier: Apache-2.0
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
from rally_vmperf.execution import estimate
from rally_vmperf.measurement import finding
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
# Calibrations have a field with the name of this module.
_Conditions = collections.abc.Iterable[conditions.PlannedCondition]


class CalibrationError(base.WorkloadError):
    """Loads that are unknown, because no warm-up measured the full speed."""


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
        self._reasons: dict[_Key, str] = {}
        self._findings: list[finding.Finding] = []
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
        reasons: dict[str, str] = {}
        for condition in results:
            for observation in condition.observations:
                measured = observation.sample
                values[measured.metric.name].append(measured.value)
            for missing in condition.missing:
                reasons[missing.name] = missing.reason
        for assigned in self.full_speed:
            for offer in assigned.workload.offers(assigned.arguments):
                key = (assigned.directory, offer.command)
                name = assigned.rename(offer.metric)
                self._values[key] += values[name]
                self._reasons[key] = reasons.get(
                    name, self._reasons.get(key, "")
                )

    def assign(
        self, ready: attempt.ReadySession, *, is_warmup: bool
    ) -> attempt.ReadySession:
        """Return a session with the workloads of a repetition.

        :param is_warmup: Whether the repetition is part of the warm-up.
        :raises CalibrationError: If no warm-up measured a rate.
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
                    dict.fromkeys(
                        (*ready.setting.findings, *findings, *self._findings)
                    )
                ),
            ),
        )

    def estimate_seconds(
        self,
        counted: _Conditions,
        *,
        is_warmup: bool,
    ) -> float:
        """Return the approximate duration of a repetition in seconds.

        :param counted: The conditions of counted repetitions.
        :param is_warmup: Whether the repetition is part of the warm-up.
        """
        planned = self.conditions if is_warmup else counted
        assignments = self.full_speed if is_warmup else self.driven
        batches = sum(condition.count_batches() for condition in planned)
        return batches * estimate.estimate_seconds(assignments)

    def _calibrate(self) -> tuple[assignment.Assignment, ...]:
        """Return the workloads with the rates of their loads."""
        calibrated: list[assignment.Assignment] = []
        self._findings = self._find_failed_warmups()
        for found in self._findings:
            self.progress(f"warning: {found.detail}")
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

    def _find_failed_warmups(self) -> list[finding.Finding]:
        """Return a finding for each rate that some warm-ups did not give."""
        findings: list[finding.Finding] = []
        for (directory, command), values in self._values.items():
            if not 0 < len(values) < self._warmups:
                continue
            metrics = [
                metric.name
                for assigned in self.driven
                if assigned.directory == directory
                for metric in assigned.metrics()
            ]
            findings.append(
                finding.Finding(
                    kind="full_speed_uncertain",
                    subject=directory,
                    detail=f"the full speed of {command} is the mean of "
                    f"{len(values)} of {self._warmups} warm-ups"
                    f"{self._format_reason(directory, command)}",
                    metrics=tuple(metrics),
                )
            )
        return findings

    def _format_reason(self, directory: str, command: str) -> str:
        """Return why a warm-up measured no rate, after a colon, or ""."""
        reason = self._reasons.get((directory, command))
        return f": {reason}" if reason else ""

    def _find_rate(
        self, assigned: assignment.Assignment, command: str
    ) -> float:
        """Return the mean rate of a command at full speed."""
        values = self._values[assigned.directory, command]
        if not values or min(values) <= 0:
            raise CalibrationError(
                f"load: no warm-up measured a rate of {command} of "
                f"{assigned.directory} at full speed"
                f"{self._format_reason(assigned.directory, command)}; resolve "
                "this, or give rates in load in place of shares"
            )
        return statistics.geometric_mean(values)


def _round(rate: float) -> float:
    """Return a rate with few digits, as it is printed and pasted."""
    return float(f"{rate:.{_DIGITS}g}")
