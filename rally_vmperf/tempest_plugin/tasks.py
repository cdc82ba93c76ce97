# SPDX-License-Identifier: Apache-2.0
"""Tasks from the options in tempest.conf."""

import collections.abc
import dataclasses
import functools
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.guests import schema
from rally_vmperf.questions import checks
from rally_vmperf.questions import limits_file
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.tempest_plugin import config


@dataclasses.dataclass(frozen=True)
class ConfiguredQuestion:
    """A question with the options in tempest.conf.

    :param conf: The configuration of Tempest.
    :param question: The question.
    """

    conf: t.Any
    question: question.AnyQuestion

    @property
    def group(self) -> t.Any:
        """The options of rally_vmperf."""
        return self.conf.vmperf

    def skip_reason(self) -> str:
        """Return the reason for skipping all tests, or an empty text.

        Only a question without limits is skipped. Limits that cannot be
        tested are an error, so that no run passes without a measurement.

        :raises VMPerfError: If a file cannot be read, or if an option that
            the limits require is missing.
        """
        path = self.group.limits_file
        if not path:
            return "no limits: set [vmperf] limits_file"
        if not self.limits:
            names = ", ".join(self._applicable)
            return f"no limits: {path} has none for {names}"
        if missing := self._describe_missing_option():
            raise task.InvalidTask(
                f"[vmperf] {missing}, because {path} has limits in "
                f"{', '.join(self.limits)}; set the option, or remove these "
                "limits"
            )
        return ""

    def _describe_missing_option(self) -> str:
        """Return the option that is missing to test the limits, or ""."""
        if not self.baseline_reference:
            for criterion in self.question.criteria:
                parsed = criterion.parse(self.limits.get(criterion.name, {}))
                if option := criterion.find_baseline_option(parsed):
                    return (
                        f"baseline must be set for {criterion.name} {option} "
                        "(record one with: rally-vmperf baseline record NAME)"
                    )
            if not self.group.workloads_file:
                return "workloads_file or baseline must be set"
        network = self.workloads_of("network")
        if network and not self.peer:
            draft = self._create_draft(network)
            selected = self._select_limits(draft)
            if not self.available_workloads() or any(
                selected.get(criterion.name, {}).get(key)
                for criterion in self.question.criteria
                for key in criterion.limits
            ):
                return "peer must be set for network workloads"
        return ""

    @functools.cached_property
    def limits(self) -> limits_file.Limits:
        """The limits for this question, by SLA."""
        criteria = limits_file.read_limits(self.group.limits_file)
        return {
            name: limits
            for name, limits in criteria.items()
            if name in self._applicable
        }

    @property
    def _applicable(self) -> list[str]:
        """The names of the SLAs that apply without optional arguments."""
        return limits_file.list_applicable_slas(self.question, {})

    @property
    def baseline_reference(self) -> dict[str, str]:
        """The options of vmperf_baseline; empty without a baseline.

        :raises InvalidTask: If both a name and a class are configured.
        """
        name, class_name = self.group.baseline, self.group.baseline_class
        if name and class_name:
            raise task.InvalidTask(
                f"[vmperf] has baseline {name!r} and baseline_class "
                f"{class_name!r}: remove one of them"
            )
        if class_name:
            return {"class": class_name}
        return {"name": name} if name else {}

    @functools.cached_property
    def baseline(self) -> document.Baseline | None:
        """The baseline, or None if none is configured."""
        if not self.baseline_reference:
            return None
        return store.Store(self.group.baseline_dir).find(
            self.baseline_reference
        )

    @functools.cached_property
    def workloads(self) -> list[documents.Arguments]:
        """The configured workloads, by default those of the baseline."""
        path = self.group.workloads_file
        if path:
            configured = limits_file.read_yaml(path)
            task.check_schema(
                configured, assignment.SCHEMA, f"{path}: workloads"
            )
            return t.cast(list[documents.Arguments], configured)
        measurements = self.baseline.entries if self.baseline else ()
        workloads: list[documents.Arguments] = []
        for measurement in measurements:
            recorded = [
                (entry.arguments, entry.shape.vcpus if entry.shape else None)
                for entry in measurements
                if entry.workload == measurement.workload
            ]
            workload = {
                "name": measurement.workload,
                **measurement.protocol,
                "arguments": {
                    **measurement.arguments,
                    **assignment.find_per_vcpu(measurement.workload, recorded),
                },
            }
            if workload not in workloads:
                workloads.append(workload)
        return workloads

    @property
    def peer(self) -> dict[str, t.Any] | None:
        """The other end of network workloads.

        :raises InvalidTask: If a field such as the address or port is invalid.
        """
        peer = dict(self.group.peer)
        if str(peer.get("port", "")).isdigit():
            peer["port"] = int(peer["port"])
        task.check_schema(peer or None, task.PEER, "[vmperf] peer")
        return peer or None

    def available_workloads(self) -> list[documents.Arguments]:
        """Return the workloads; network workloads only with a peer."""
        return [
            workload
            for workload, component in self._components()
            if component != "network" or self.peer
        ]

    def workloads_of(self, component: str) -> list[documents.Arguments]:
        """Return the workloads for a component of a machine, such as cpu."""
        return [
            workload
            for workload, measured in self._components()
            if measured == component
        ]

    def _components(self) -> list[tuple[documents.Arguments, str]]:
        """Return each workload, with the component it measures."""
        return [
            (workload, assigned.workload.part)
            for workload, assigned in zip(
                self.workloads,
                assignment.assign(self.workloads),
                strict=True,
            )
        ]

    def build_task(
        self,
        workloads: collections.abc.Sequence[documents.Arguments],
        count: int,
        arguments: documents.Arguments,
        guests: documents.Arguments,
    ) -> task.AnyTask:
        """Return a task that measures some of the workloads.

        The task contains the limits that match a metric of these workloads.

        :param workloads: The workloads to measure.
        :param count: The number of guests.
        :param arguments: The arguments that only this question has.
        :param guests: Additional options of the guests.
        :raises VMPerfError: If the task is invalid.
        """
        draft = self._create_draft(workloads, count, guests)
        content = self.question.arguments(**vars(draft.arguments), **arguments)
        complete = dataclasses.replace(
            draft,
            arguments=content.complete(draft.times),
            criteria=self._select_limits(draft),
        )
        checks.check_task(
            complete, self.question, store.Store(self.group.baseline_dir)
        )
        return complete

    def check_limits(self) -> None:
        """Reject limits that match no metric of any workload."""
        limits_file.check_limits(
            self.group.limits_file,
            self.question.criteria,
            self.limits,
            self._create_draft(self.workloads).metrics,
        )

    def _create_draft(
        self,
        workloads: collections.abc.Sequence[documents.Arguments],
        count: int = 1,
        guests: documents.Arguments = types.MappingProxyType({}),
    ) -> task.AnyTask:
        """Return a task without limits and arguments of the question."""
        group = self.group
        options = read_guest_options(
            self.conf, count, **_read_volumes(group), **guests
        )
        contexts: dict[str, documents.Arguments] = {"vmperf_guests": options}
        if self.baseline_reference:
            contexts["vmperf_baseline"] = self.baseline_reference
        times = group.repetitions + group.warmup
        return task.Task(
            title="",
            scenario=self.question.scenario,
            arguments=task.Arguments(
                workloads=list(workloads),
                warmup=group.warmup,
                peer=self.peer,
            ),
            contexts=contexts,
            criteria={},
            runner="serial",
            times=times,
        )

    def _select_limits(self, draft: task.Task[t.Any]) -> task.Sections:
        """Return the limits that match a task's metrics, by SLA."""
        criteria: dict[str, documents.Arguments] = {}
        for criterion in self.question.criteria:
            configured = self.limits.get(criterion.name, {})
            parsed = criterion.parse(configured)
            options = {
                key: option
                for key, option in configured.items()
                if key not in criterion.limits
            }
            for option, limits in parsed.limits.items():
                names = limits.list_names(draft.metrics)
                matching = limits.patterns.keys() - limits.unmatched(names)
                if matching:
                    options[option] = {
                        pattern: limit
                        for pattern, limit in limits.patterns.items()
                        if pattern in matching
                    }
            # Most criteria require at least one limit.
            if criterion.name in self.limits and not documents.first_error(
                criterion.schema, options
            ):
                criteria[criterion.name] = options
        return criteria


def _read_volumes(group: t.Any) -> documents.Arguments:
    """Return the option with the data volume of each guest, if any.

    :raises InvalidTask: If there is a type without a volume.
    """
    if not group.volume_size_gib:
        if group.volume_type:
            raise task.InvalidTask(
                f"[vmperf] volume_type={group.volume_type!r:.80}: requires "
                "volume_size_gib >= 1; set it, or remove volume_type"
            )
        return {}
    volume_type = {"type": group.volume_type} if group.volume_type else {}
    return {"volumes": [{"size_gib": group.volume_size_gib, **volume_type}]}


def read_guest_options(
    conf: t.Any, count: int, **extra_options: t.Any
) -> documents.Arguments:
    """Return the options of the context vmperf_guests.

    :param conf: The configuration of Tempest.
    :param count: The number of guests.
    :param extra_options: Additional options, which take precedence.
    """
    group = conf.vmperf
    configured = {
        name: option
        for name in config.GUEST_OPTIONS
        if (option := getattr(group, name)) is not None
    }
    return {
        **schema.DEFAULTS,
        **configured,
        "image": {"id": group.image_ref or conf.compute.image_ref},
        "flavor": {"id": group.flavor_ref or conf.compute.flavor_ref},
        "user": group.image_user or conf.validation.image_ssh_user,
        "address": conf.validation.connect_method,
        "ip_version": conf.validation.ip_version_for_ssh,
        "count": count,
        **extra_options,
    }
