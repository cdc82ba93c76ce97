# SPDX-License-Identifier: Apache-2.0
"""A workload of a Rally task, independent of Rally."""

import collections.abc
import dataclasses
import functools
import json
import typing as t

from rally_vmperf import declaration
from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import json_schema
from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocols
from rally_vmperf.guests import schema
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs import loads

if t.TYPE_CHECKING:
    import jsonschema

Metrics = collections.abc.Collection[sample.Metric]
#: The options of contexts or criteria by name.
Sections = collections.abc.Mapping[str, documents.Arguments]

#: The remote endpoint of network workloads.
PEER = json_schema.closed_mapping(
    {
        "address": json_schema.name(
            "Address or name, the same for this machine, guests and bare "
            "metal."
        ),
        "port": json_schema.integer(
            "Port of its SSH server; default 22. Workloads use other ports.",
            minimum=1,
            maximum=65535,
        ),
        "user": json_schema.name("Login name; default root."),
        "key_file": json_schema.name(
            "Private key; default: the keys of the user."
        ),
        "known_hosts": json_schema.name(
            "File with its host key; default: the file of the user."
        ),
        "name": json_schema.text(
            "Its name in records and reports; default peer.",
            pattern=r"^[A-Za-z0-9._-]{1,64}$(?!\n)",
        ),
        "jump": schema.JUMP,
    },
    "address",
    type=["object", "null"],
)
_ARGUMENTS = json_schema.values(
    json_schema.mapping({}), "Arguments by name or label of a workload."
)


class InvalidTask(errors.VMPerfError):
    """A task that is not valid; the message is one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(protocols.Protocol):
    """The arguments of a scenario.

    :param workloads: The workloads, a list of {name, arguments, label}. The
        workloads run sequentially, each on all guests that are measured at
        once. Without a peer, those that need one are skipped.
    :param arguments: The arguments of workloads by their name or label, such
        as {fio: {size_mib: 4096}}. They are merged over those in workloads.
    :param warmup: The number of initial repetitions that are recorded but not
        counted. Default: 0.
    :param peer: The other end of network workloads: {address, port, user,
        key_file, known_hosts, name, jump}. The port is that of SSH; the peer
        requires the same tools.
    :param control: The control machine, which runs a small load during each
        condition and shows whether the infrastructure changed: the keys of
        peer. It must not be the peer or a hypervisor.
    """

    workloads: t.Annotated[list[t.Any], assignment.SCHEMA]
    arguments: t.Annotated[dict[str, t.Any] | None, _ARGUMENTS] = None
    warmup: t.Annotated[int | None, {"minimum": 0}] = None
    peer: t.Annotated[dict[str, t.Any] | None, PEER] = None
    control: t.Annotated[dict[str, t.Any] | None, PEER] = None

    def complete(self, times: int) -> t.Self:
        """Return the arguments with the defaults that depend on others.

        :param times: The number of repetitions, warm-up included.
        """
        return self

    def list_unmeasured(self) -> tuple[assignment.Assignment, ...]:
        """Return the workloads that run, but are not measured."""
        return ()

    @property
    def needs_host_cpus(self) -> bool:
        """Whether the number of guests depends on unknown CPUs of hosts."""
        return False

    def with_host_cpus(self, number: int) -> t.Self:
        """Return the arguments for hosts with a number of CPUs."""
        return self

    @property
    def protocol(self) -> protocols.Protocol:
        """The preparation before each command, workload and repetition."""
        names = [field.name for field in dataclasses.fields(protocols.DEFAULT)]
        return protocols.Protocol(
            **{name: getattr(self, name) for name in names}
        )


ArgumentsT = t.TypeVar("ArgumentsT", bound=Arguments)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task(t.Generic[ArgumentsT]):
    """A scenario with its arguments, contexts, SLAs and runner.

    :param title: The title of the subtask.
    :param arguments: The arguments of the scenario.
    :param contexts: The options of contexts by name without the platform.
    :param criteria: The configuration of SLAs by name.
    :param runner: The name of the runner.
    :param times: The number of repetitions, warm-up included.
    :param vcpus: The number of vCPUs of a guest; None before it is known.
    :param sequential: A flag that guests boot for each condition.
    """

    title: str
    scenario: str
    arguments: ArgumentsT
    contexts: Sections
    criteria: Sections
    runner: str
    times: int
    vcpus: int | None = None
    sequential: bool = False

    @functools.cached_property
    def assignments(self) -> tuple[assignment.Assignment, ...]:
        """The workloads with complete arguments, as a tuple.

        :raises WorkloadError: If an argument is not valid.
        """
        assignments = assignment.assign(self.workloads, self.protocol)
        if self.vcpus is None:
            return assignments
        return tuple(
            assigned.for_vcpus(self.vcpus) for assigned in assignments
        )

    @property
    def workloads(self) -> list[documents.Arguments]:
        """The workloads that run, as the task lists them."""
        return self._partition[0]

    @property
    def skipped(self) -> tuple[assignment.Assignment, ...]:
        """The workloads that do not run, because they need a peer."""
        return assignment.assign(self._partition[1], self.protocol)

    @functools.cached_property
    def _partition(
        self,
    ) -> tuple[list[documents.Arguments], list[documents.Arguments]]:
        """The workloads that run, and those that are skipped.

        None is skipped if all of them need the peer that is missing.

        :raises WorkloadError: If an argument is not valid.
        """
        listed = self.arguments.workloads
        if self.peer:
            return listed, []
        running: list[documents.Arguments] = []
        skipped: list[documents.Arguments] = []
        for workload in listed:
            assigned = assignment.create_assignment(workload, self.protocol)
            needed = assignment.required_endpoints([assigned])
            (skipped if "peer" in needed else running).append(workload)
        return (running, skipped) if running else (listed, [])

    @property
    def protocol(self) -> protocols.Protocol:
        """The preparation before each command, workload and repetition."""
        return self.arguments.protocol

    def count_reboots(self, conditions: int = 1) -> int:
        """Return the number of reboots of all guests in the run.

        :param conditions: The number of conditions in a repetition.
        """
        return self.protocol.reboots(
            len(self.assignments), conditions, self.times
        )

    @property
    def warmup(self) -> int:
        """The number of leading repetitions that are not counted."""
        return self.arguments.warmup or 0

    @property
    def peer(self) -> documents.Arguments | None:
        """The options of the network peer; None without one."""
        return self.arguments.peer

    @property
    def control(self) -> documents.Arguments | None:
        """The options of the control machine; None without one."""
        return self.arguments.control

    @property
    def guests(self) -> documents.Arguments:
        """The options of the context of guests."""
        return self.contexts.get("vmperf_guests", {})

    @property
    def count(self) -> int:
        """The number of guests to boot."""
        return t.cast(int, self.guests.get("count", 1))

    @property
    def baseline(self) -> dict[str, str] | None:
        """The name or class of the baseline as a dict; None without one.

        :raises InvalidTask: If the context has neither a name nor a class.
        """
        if "vmperf_baseline" not in self.contexts:
            return None
        options = self.contexts["vmperf_baseline"]
        for key in ("name", "class"):
            if isinstance(options, dict) and isinstance(options.get(key), str):
                return {key: options[key]}
        raise InvalidTask("vmperf_baseline: name or class must be set")

    @functools.cached_property
    def metrics(self) -> tuple[sample.Metric, ...]:
        """The metrics of the workloads and of every guest, as a tuple."""
        return (
            *(
                metric
                for assigned in self.assignments
                for metric in assigned.metrics()
            ),
            *guest_metrics.METRICS,
            *(
                loads.list_metrics(loads.create_work(self.assignments))
                if self.control
                else ()
            ),
        )

    def list_measured(
        self, baseline: document.Baseline
    ) -> collections.abc.Iterator[
        tuple[assignment.Assignment, list[document.BaselineEntry]]
    ]:
        """Yield each workload with its measurements in a baseline.

        :raises BaselineError: If the baseline does not cover a workload.
        """
        for assigned in self.assignments:
            name = assigned.workload.name
            measurements = matching.covers(
                baseline, name, assigned.conditions()
            )
            yield assigned, measurements


#: A task of any question.
AnyTask = Task[t.Any]


def create_arguments(
    values: documents.Arguments, content: type[ArgumentsT], times: int
) -> ArgumentsT:
    """Return the arguments of a scenario with all defaults.

    :param values: The arguments in the task; empty ones, such as ``""``, are
        those by default.
    :param content: The declaration of the arguments.
    :param times: The number of repetitions, warm-up included.
    :raises InvalidTask: If an argument is unknown or not valid.
    """
    present = {
        key: value
        for key, value in values.items()
        if value not in (None, "", {})
    }
    check_schema(present, declaration.build_schema(content))
    if arguments := present.pop("arguments", None):
        present["workloads"] = _merge_arguments(
            present["workloads"], arguments
        )
    return content(**present).complete(times)


def _merge_arguments(
    workloads: list[documents.Arguments], arguments: Sections
) -> list[documents.Arguments]:
    """Return workloads with other arguments merged over theirs.

    :param arguments: The arguments by the name or the label of a workload;
        those of a label precede.
    :raises InvalidTask: If there is no such workload.
    """
    names = dict.fromkeys(workload["name"] for workload in workloads)
    labels = dict.fromkeys(workload.get("label", "") for workload in workloads)
    known = [*filter(None, {**names, **labels})]
    for name in arguments:
        if name not in known:
            raise InvalidTask(
                f"arguments: {name!r:.80}: must be the name or label of a "
                f"workload of the task: {', '.join(known)}"
            )
    return [
        {
            **workload,
            "arguments": {
                **workload.get("arguments", {}),
                **arguments.get(workload["name"], {}),
                **arguments.get(workload.get("label", ""), {}),
            },
        }
        for workload in workloads
    ]


def create_from_rally(
    workload: documents.Arguments,
    scenario: str,
    content: type[ArgumentsT],
    title: str = "",
) -> Task[ArgumentsT]:
    """Return the task of a Rally workload.

    :param workload: The workload as parsed by Rally.
    :param content: The declaration of the arguments of the scenario.
    :raises InvalidTask: If the arguments are not valid, or a number is not
        finite.
    """
    for section in ("args", "contexts", "sla"):
        _check_numbers(section, workload[section])
    times = workload["runner"].get("times", 1)
    return Task(
        title=title,
        scenario=scenario,
        arguments=create_arguments(workload["args"], content, times),
        contexts=_normalize_contexts(workload["contexts"]),
        criteria=workload["sla"],
        runner=workload["runner_type"],
        times=times,
    )


def _normalize_contexts(contexts: Sections) -> Sections:
    """Return options of contexts without empty ones, by their short name."""
    normalized = {
        name.partition("@")[0]: options for name, options in contexts.items()
    }
    baseline = store.parse_reference(normalized.pop("vmperf_baseline", None))
    if baseline is not None:
        normalized["vmperf_baseline"] = baseline
    if isinstance(guests := normalized.get("vmperf_guests"), dict):
        normalized["vmperf_guests"] = schema.normalize(guests)
    return normalized


def _check_numbers(section: str, content: t.Any) -> None:
    """Reject numbers that are not finite or too long, in all keys.

    YAML and Rally accept them, and no bound of a schema rejects ``.nan``.
    """
    if invalid := documents.find_invalid(content):
        keys, reason = invalid
        place = ": ".join(sanitize.line(key, 80) for key in keys)
        raise InvalidTask(f"{section} {place}: {reason}")


def check_limits(
    key_path: str,
    option_limits: verdict.Limits,
    metrics: Metrics,
    *,
    may_be_unmatched: bool = False,
) -> None:
    """Reject limits that match no metric or conflict.

    :param key_path: The keys of the option, for the message.
    :param may_be_unmatched: Whether a limit may match no metric.
    :raises InvalidTask: If a limit is not valid for these metrics.
    """
    problem = option_limits.describe_conflict(metrics)
    if not may_be_unmatched:
        problem = option_limits.describe_unmatched(metrics) or problem
    if problem:
        raise InvalidTask(f"{key_path}: {problem}")


def check_schema(
    document: t.Any, document_schema: documents.Schema, name: str = ""
) -> None:
    """Reject a document that does not match a JSON Schema.

    :param name: The name of the document, for the message.
    """
    error = documents.first_error(document_schema, document)
    if error is not None:
        place = (name + error.json_path.removeprefix("$")).removeprefix(".")
        message = f"{place}: {error.message}" if place else error.message
        if error.validator == "enum":
            choices = ", ".join(map(_format_choice, error.validator_value))
            message = (
                f"{place}={error.instance!r:.80}: must be one of {choices}"
            )
        if error.validator == "minItems" and error.instance:
            message = (
                f"{place}: must have at least {error.validator_value} "
                f"elements, and has {len(error.instance)}"
            )
        is_list = error.validator == "type" and (
            "array" in error.validator_value
        )
        if is_list and isinstance(error.instance, str):
            message += f"; use a list, such as [{error.instance:.40}]"
        whole = _find_whole(error)
        if whole is not error and (form := whole.schema.get("description")):
            message += f"; {form.partition('. ')[0]}"
        is_text = error.validator == "type" and (
            "string" in error.validator_value
        )
        if is_text and isinstance(error.instance, int | float):
            message += "; quote it"
        is_closed = error.schema.get("additionalProperties") is False
        if is_closed and "properties" in error.schema:
            message += (
                f"; allowed keys: {', '.join(error.schema['properties'])}"
            )
        raise InvalidTask(message)


def _format_choice(choice: t.Any) -> str:
    """Return a choice as a task has it."""
    return choice if isinstance(choice, str) else json.dumps(choice)


def _find_whole(
    error: "jsonschema.ValidationError",
) -> "jsonschema.ValidationError":
    """Return the outermost error that an error is a part of."""
    while error.parent is not None:
        error = error.parent
    return error
