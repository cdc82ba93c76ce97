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
#: The maximum ratio of the rates of two hosts without a finding.
_MAX_RATIO = 1.2
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
        #: The rates by the place of the host in the conditions.
        self._rates: dict[_Key, dict[int, list[float]]] = (
            collections.defaultdict(lambda: collections.defaultdict(list))
        )
        #: The number of hosts that each warm-up measured and lacks.
        self._hosts: dict[_Key, list[tuple[int, int]]] = (
            collections.defaultdict(list)
        )
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
        rates: dict[str, dict[int, float]] = collections.defaultdict(dict)
        reasons: dict[str, str] = {}
        planned = 0
        for condition in results:
            # The solo guest of each host, in the order of the hosts.
            places = {name: at for at, name in enumerate(condition.machines)}
            for observation in condition.observations:
                measured = observation.sample
                place = places.setdefault(observation.source, len(places))
                rates[measured.metric.name][place] = measured.value
            planned = len(places)
            for missing in condition.missing:
                reasons[missing.name] = missing.reason
        for assigned in self.full_speed:
            for offer in assigned.workload.offers(assigned.arguments):
                key = (assigned.directory, offer.command)
                name = assigned.rename(offer.metric)
                for place, rate in rates[name].items():
                    self._rates[key][place].append(rate)
                number = len(rates[name])
                self._hosts[key].append((number, planned - number))
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
        self._findings = self._find_uncertain()
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

    def _find_uncertain(self) -> list[finding.Finding]:
        """Return a finding for each rate that is not that of every host.

        Some warm-ups did not measure it, or the hosts differ.
        """
        findings: list[finding.Finding] = []
        for (directory, command), rates in self._rates.items():
            details = [
                self._describe_failed((directory, command)),
                _describe_different(command, rates),
            ]
            metrics = [
                metric.name
                for assigned in self.driven
                if assigned.directory == directory
                for metric in assigned.metrics()
            ]
            findings += [
                finding.Finding(
                    kind="full_speed_uncertain",
                    subject=directory,
                    detail=detail,
                    metrics=tuple(metrics),
                )
                for detail in details
                if detail
            ]
        return findings

    def _describe_failed(self, key: _Key) -> str:
        """Return how many warm-ups measured a rate; "" if all did."""
        measured = [missing for number, missing in self._hosts[key] if number]
        partial = sum(missing > 0 for missing in measured)
        if not measured or (len(measured), partial) == (self._warmups, 0):
            return ""
        directory, command = key
        gap = f", of which {partial} lack that of a host" if partial else ""
        return (
            f"the full speed of {command} is the mean of {len(measured)} of "
            f"{self._warmups} warm-ups{gap}"
            f"{self._format_reason(directory, command)}"
        )

    def _format_reason(self, directory: str, command: str) -> str:
        """Return why a warm-up measured no rate, after a colon, or ""."""
        reason = self._reasons.get((directory, command))
        return f": {reason}" if reason else ""

    def _find_rate(
        self, assigned: assignment.Assignment, command: str
    ) -> float:
        """Return the mean rate of a command at full speed."""
        rates = self._rates[assigned.directory, command]
        values = [rate for measured in rates.values() for rate in measured]
        if not values or min(values) <= 0:
            raise CalibrationError(
                f"load: no warm-up measured a rate of {command} of "
                f"{assigned.directory} at full speed"
                f"{self._format_reason(assigned.directory, command)}; resolve "
                "this, or give rates in load in place of shares"
            )
        return statistics.geometric_mean(values)


def _describe_different(
    command: str, rates: collections.abc.Mapping[int, list[float]]
) -> str:
    """Return how much hosts differ in a rate; "" if they do not.

    :param rates: The rates of each host.
    """
    means = sorted(
        statistics.geometric_mean(measured)
        for measured in rates.values()
        if min(measured) > 0
    )
    if not means or means[-1] <= _MAX_RATIO * means[0]:
        return ""
    return (
        f"the full speed of {command} is {means[0]:.{_DIGITS}g} on one host "
        f"and {means[-1]:.{_DIGITS}g} on another: a share of their mean is "
        "another load on each"
    )


def _round(rate: float) -> float:
    """Return a rate with few digits, as it is printed and pasted."""
    return float(f"{rate:.{_DIGITS}g}")
