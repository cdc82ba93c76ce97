# SPDX-License-Identifier: Apache-2.0
"""Workloads that measure options one after another."""

import abc
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs


class SequenceWorkload(base.Workload):
    """A workload with the same metrics for each option of an argument.

    :cvar OPTIONS: The name of the argument, a ``schemas.sequence``.
    :cvar METRICS: The metrics of an option; ``{}`` in their names is the
        option.
    """

    OPTIONS: t.ClassVar[str]

    def selected(self, arguments: base.Arguments) -> list[str]:
        """Return the selected options as an ordered list of names."""
        rule = self.ARGUMENTS["properties"][self.OPTIONS]
        return [
            option
            for option in rule["items"]["enum"]
            if option in arguments[self.OPTIONS]
        ]

    def option_metrics(self, option: str) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of an option."""
        return name_metrics(self.METRICS, option)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of each selected option."""
        return tuple(
            metric
            for option in self.selected(arguments)
            for metric in self.option_metrics(option)
        )

    def samples(
        self, option: str, *figures: float | None
    ) -> list[sample.Sample]:
        """Return the samples of an option as a list.

        :param figures: The values in the order of the metrics; None for an
            optional metric without one.
        :raises base.WorkloadError: If a value is not plausible.
        """
        return outputs.create_samples(self.option_metrics(option), figures)


class CommandSequenceWorkload(SequenceWorkload):
    """A workload with a command for each option."""

    @abc.abstractmethod
    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the Command that measures an option.

        :raises base.WorkloadError: If a required endpoint is missing.
        """

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return one command per selected option, in their order."""
        return tuple(
            self.command(option, arguments, endpoints)
            for option in self.selected(arguments)
        )


def name_metrics(
    metrics: collections.abc.Iterable[sample.Metric], option: str
) -> tuple[sample.Metric, ...]:
    """Return metric definitions with an option instead of ``{}`` in names."""
    return tuple(
        dataclasses.replace(metric, name=metric.name.format(option))
        for metric in metrics
    )
