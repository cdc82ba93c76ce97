"""What tempest.conf asks for, as tasks of the questions."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.guests import schema
from rally_vmperf.measurement.comparison import limits as limits_
from rally_vmperf.questions import checks
from rally_vmperf.questions import limits_file
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

Json = dict[str, t.Any]

#: What a configuration is refused with, each in one line.
REFUSALS = (*checks.REFUSALS, limits_file.LimitsError)
#: Options of the group that are options of the guests too.
_GUEST_OPTIONS = (
    *("host", "allowed_sources", "install", "boot_timeout", "ssh_timeout"),
)


@dataclasses.dataclass(frozen=True)
class Configured:
    """A question as the configuration has it.

    :param conf: Tempest's configuration
    """

    conf: t.Any
    question: question.Question

    @property
    def group(self) -> t.Any:
        """The options of rally_vmperf."""
        return self.conf.vmperf

    def lacking(self) -> str:
        """Return why the question cannot be asked at all, or nothing.

        :raises Exception: one of ``REFUSALS`` for what cannot be read
        """
        needs_baseline = "vmperf_baseline" in self.question.contexts
        if needs_baseline and not self.named:
            return (
                "no baseline: record one with rally-vmperf baseline record, "
                "and name it in [vmperf] baseline"
            )
        if not self.named and not self.group.workloads_file:
            return "no workloads: set [vmperf] workloads_file, or baseline"
        if not self.group.limits_file:
            return "no limits: set [vmperf] limits_file"
        if not self.limits:
            names = ", ".join(self._applicable)
            return f"no limits: {self.group.limits_file} has none of {names}"
        if not self.measurable():
            return "no workloads but those to a peer: set [vmperf] peer"
        return ""

    @functools.cached_property
    def limits(self) -> limits_file.Limits:
        """The limits of this question, by criterion."""
        found = limits_file.by_criterion(self.group.limits_file)
        return {
            name: limits
            for name, limits in found.items()
            if name in self._applicable
        }

    @property
    def _applicable(self) -> list[str]:
        """The names of the SLAs; guests of Tempest have no neighbours."""
        return limits_file.applicable(self.question, has_neighbours=False)

    @property
    def named(self) -> Json:
        """The baseline as the context has it; empty where there is none.

        :raises Refused: for a name and a class at once
        """
        group = self.group
        given = {"name": group.baseline, "class": group.baseline_class}
        found = {key: value for key, value in given.items() if value}
        if len(found) > 1:
            raise task.Refused(
                f"[vmperf] has baseline {group.baseline!r} and baseline_class "
                f"{group.baseline_class!r}: keep one of them"
            )
        return found

    @functools.cached_property
    def baseline(self) -> document.Json | None:
        """The baseline, None where none is named."""
        if not self.named:
            return None
        return store.Store(self.group.baseline_dir).find(self.named)

    @functools.cached_property
    def workloads(self) -> list[Json]:
        """All workloads that are configured, or that the baseline has."""
        path = self.group.workloads_file
        if path:
            found = limits_file.read(path)
            task.check_form(found, assignment.SCHEMA, f"{path}: workloads")
            return t.cast(list[Json], found)
        entries = self.baseline["entries"] if self.baseline else []
        found = []
        for entry in entries:
            one = {
                key: entry[key]
                for key in ("arguments", "cooldown", "drop_caches")
                if key in entry
            }
            one["name"] = entry["workload"]
            if one not in found:
                found.append(one)
        return found

    @property
    def peer(self) -> Json | None:
        """The other end of network workloads.

        :raises Refused: for what is no address, port and so on
        """
        peer: Json = dict(self.group.peer)
        if str(peer.get("port", "")).isdigit():
            peer["port"] = int(peer["port"])
        task.check_form(peer or None, task.PEER, "[vmperf] peer")
        return peer or None

    def measurable(self) -> list[Json]:
        """Return all workloads but those whose peer is not configured."""
        return [
            entry
            for entry, part in self._parts()
            if part != "network" or self.peer
        ]

    def of_part(self, part: str) -> list[Json]:
        """Return the workloads of a part of the machine, such as cpu."""
        return [entry for entry, found in self._parts() if found == part]

    def _parts(self) -> list[tuple[Json, str]]:
        assigned = assignment.assign(self.workloads)
        parts = [one.workload.part for one in assigned]
        return list(zip(self.workloads, parts, strict=True))

    def ask(
        self,
        workloads: collections.abc.Sequence[Json],
        count: int,
        arguments: Json,
        guests: Json,
    ) -> task.Task:
        """Return the task that measures some of the workloads.

        Of the limits only those count that go with a metric of theirs.

        :param count: of guests
        :param arguments: that only this question has
        :param guests: further options of the guests
        :raises Exception: one of ``REFUSALS`` for what cannot be run
        """
        asked = self._asked(workloads, count, arguments, guests, {})
        found = self._asked(
            workloads, count, arguments, guests, self._limits_of(asked)
        )
        checks.check(
            found, self.question, store.Store(self.group.baseline_dir)
        )
        return found

    def check_limits(self) -> None:
        """Refuse limits that match no metric of any workload."""
        asked = self._asked(self.workloads, 1, {}, {}, {})
        for one in self.question.criteria:
            for key, scales in one.limits.items():
                asked.check_matches(
                    f"limits {self.group.limits_file}: {one.name} {key}",
                    self.limits.get(one.name, {}).get(key, {}),
                    scales,
                )

    def _asked(
        self,
        workloads: collections.abc.Sequence[Json],
        count: int,
        arguments: Json,
        guests: Json,
        criteria: Json,
    ) -> task.Task:
        group = self.group
        options = guest_options(self.conf, count, **guests)
        contexts: Json = {"vmperf_guests": options}
        if self.named:
            contexts["vmperf_baseline"] = self.named
        return task.Task(
            title="",
            scenario=self.question.scenario,
            arguments={
                "workloads": list(workloads),
                "warmup": group.warmup,
                "peer": self.peer,
                **arguments,
            },
            contexts=contexts,
            criteria=criteria,
            runner="serial",
            times=group.repetitions + group.warmup,
        )

    def _limits_of(self, asked: task.Task) -> Json:
        """Return the limits that match a metric of a task."""
        found = {}
        for one in self.question.criteria:
            limits = dict(self.limits.get(one.name, {}))
            for key, scales in one.limits.items():
                names = [
                    metric.name
                    for each in asked.assignments
                    for metric in each.metrics()
                    if metric.scale in scales
                ]
                given = limits.pop(key, {})
                others = limits_.Limits(given).unmatched(names)
                kept = {k: v for k, v in given.items() if k not in others}
                if kept:
                    limits[key] = kept
            # Most criteria require at least one limit.
            if one.name in self.limits and not documents.first_error(
                one.schema, limits
            ):
                found[one.name] = limits
        return found


def guest_options(conf: t.Any, count: int, **more: t.Any) -> Json:
    """Return the options of vmperf_guests that are configured.

    :param conf: Tempest's configuration
    :param more: further options
    """
    group = conf.vmperf
    given = {
        name: value
        for name in _GUEST_OPTIONS
        if (value := getattr(group, name)) is not None
    }
    return {
        **schema.DEFAULTS,
        **given,
        "image": {"id": group.image_ref or conf.compute.image_ref},
        "flavor": {"id": group.flavor_ref or conf.compute.flavor_ref},
        "user": group.image_user or conf.validation.image_ssh_user,
        "address": conf.validation.connect_method,
        "ip_version": conf.validation.ip_version_for_ssh,
        "count": count,
        **more,
    }
