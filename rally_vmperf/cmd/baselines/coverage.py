# SPDX-License-Identifier: Apache-2.0
"""The coverage of a baseline, from a task file or from options."""

import argparse
import collections.abc
import dataclasses
import math

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.cmd import quick
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocols

#: The name or identifier of a flavor in a task.
Reference = dict[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Coverage:
    """Workloads that run in copies of one shape.

    :param assignments: The workloads.
    :param shape: The CPUs, the memory and the number of copies.
    :param repetitions: The number of counted repetitions.
    :param warmup: The number of warm-up repetitions.
    :param required: Whether the machine must be large enough. Otherwise, the
        coverage is one of several in a task and may be skipped.
    :param protocol: The measurement protocol.
    """

    assignments: tuple[assignment.Assignment, ...]
    shape: document.Shape
    repetitions: int
    warmup: int
    required: bool = True
    protocol: protocols.Protocol = protocols.DEFAULT


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageRequest:
    """The requested coverages of a baseline, and what else the task states.

    :param peer: The peer in the task; None without one.
    :param tolerated: The kinds of findings that all subtasks tolerate.
    """

    coverages: tuple[Coverage, ...]
    peer: documents.Arguments | None = None
    tolerated: frozenset[str] = frozenset()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the measurements."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--task",
        metavar="FILE",
        help="task whose workloads, flavors and guests the baseline covers; "
        "default: the task in the settings",
    )
    source.add_argument(
        "--workload",
        action="append",
        metavar="NAME",
        help="workload with its default arguments; may be repeated",
    )
    task_file.add_arguments(parser)
    quick.add_argument(parser)
    parser.add_argument(
        "--flavor",
        action="append",
        metavar="NAME",
        help="flavor that defines the shape; may be repeated; default: the "
        "flavor in the task",
    )
    parser.add_argument(
        "--cpus",
        type=_create_integer_parser(1),
        metavar="N",
        help="CPUs of one copy",
    )
    parser.add_argument(
        "--memory",
        type=_create_integer_parser(1),
        metavar="MIB",
        help="memory of one copy in MiB",
    )
    parser.add_argument(
        "--copies",
        type=_parse_copies,
        metavar="N[,N]",
        help="number of concurrent copies, or several numbers, each of which "
        "is measured; default: the number of guests in the task, or the "
        "levels of a density task for which the machine has CPUs; without a "
        "task: 1",
    )
    parser.add_argument(
        "--repetitions",
        type=_create_integer_parser(1),
        metavar="N",
        help="number of counted repetitions; default: the number in the "
        "task, or 5",
    )
    parser.add_argument(
        "--warmup",
        type=_create_integer_parser(0),
        metavar="N",
        help="number of repetitions before the counted repetitions; default: "
        "the number in the task, or 1",
    )
    parser.add_argument(
        "--cooldown",
        type=_parse_seconds,
        metavar="SECONDS",
        help="idle time before each command; default: the time in the task, "
        "or 0",
    )
    parser.add_argument(
        "--drop-caches",
        action="store_true",
        default=None,
        help="drop the page cache, dentries and inodes of the machine before "
        "each command, which requires root; default: the value in the task",
    )
    parser.add_argument(
        "--shape",
        choices=("guest", "whole"),
        help="guest: limit the CPUs and memory of bare metal to those of the "
        "guest; whole: do not limit them; default: the value in the task",
    )
    parser.add_argument(
        "--reboot",
        choices=("never", "between_repetitions"),
        help="whether --host is rebooted between repetitions; required if the "
        "task reboots guests, to avoid an unintended reboot",
    )


def _create_integer_parser(
    lowest: int,
) -> collections.abc.Callable[[str], int]:
    """Return a function that parses an integer and checks its minimum."""

    def parse_integer(text: str) -> int:
        """Return the integer in a text; reject smaller ones."""
        try:
            number = int(text)
        except ValueError:
            number = lowest - 1
        if number < lowest:
            raise argparse.ArgumentTypeError(
                f"{text!r}: must be an integer >= {lowest}"
            )
        return number

    return parse_integer


def _parse_seconds(text: str) -> float:
    """Return the cooldown in a text, in seconds; reject invalid ones."""
    rule = protocols.OF_WORKLOADS["cooldown"]
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not rule["minimum"] <= seconds <= rule["maximum"]:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be a number of seconds from {rule['minimum']} to "
            f"{rule['maximum']}"
        )
    return seconds


def _parse_copies(text: str) -> tuple[int, ...]:
    """Return numbers of copies, separated by commas in a text, each once."""
    parse_integer = _create_integer_parser(1)
    return tuple(dict.fromkeys(map(parse_integer, text.split(","))))


def read_coverages(parsed: argparse.Namespace) -> CoverageRequest:
    """Return the coverages that the options or the task request.

    :param parsed: The parsed arguments.
    :raises BaselineError: If the options or the task are incomplete.
    :raises WorkloadError: If a workload is invalid.
    :raises GuestError: If a flavor does not exist in the cloud.
    """
    if not parsed.workload:
        return _read_from_task(parsed)
    workloads = [
        {
            "name": name,
            "arguments": quick.shorten_arguments(name, {})
            if parsed.quick
            else {},
        }
        for name in parsed.workload
    ]
    repetitions = quick.REPETITIONS if parsed.quick else 5
    coverages = [
        Coverage(
            assignments=_complete_assignments(
                parsed, assignment.assign(workloads), shape
            ),
            shape=shape,
            repetitions=_get_or_default(parsed.repetitions, repetitions),
            warmup=_get_or_default(parsed.warmup, 1),
            protocol=_override_protocol(parsed, protocols.DEFAULT),
        )
        for shape in _list_shapes(parsed, None, parsed.copies or (1,))
    ]
    return CoverageRequest(coverages=tuple(coverages))


def _read_from_task(parsed: argparse.Namespace) -> CoverageRequest:
    """Return the coverages that a task requires, and its peer."""
    coverages: list[Coverage] = []
    peer = None
    tolerated = []
    for task, question in task_file.read_task(parsed.task, parsed):
        peer = peer or task.peer
        tolerated.append(question.list_tolerated(task.criteria))
        repetitions = _get_or_default(
            parsed.repetitions, task.times - task.warmup
        )
        if repetitions < 1:
            raise document.BaselineError(
                f"{_name_task(parsed)}: warmup={task.warmup}: must be less "
                f"than {task.times}, the times of the runner; increase times, "
                "or add --repetitions N"
            )
        copies = parsed.copies or question.list_copies(task)
        for shape in _list_shapes(parsed, task.guests.get("flavor"), copies):
            coverage = Coverage(
                assignments=_complete_assignments(
                    parsed, task.assignments, shape
                ),
                shape=shape,
                repetitions=repetitions,
                warmup=_get_or_default(parsed.warmup, task.warmup),
                required=bool(parsed.copies) or len(copies) == 1,
                protocol=_override_protocol(parsed, task.protocol),
            )
            if coverage not in coverages:
                coverages.append(coverage)
    return CoverageRequest(
        coverages=tuple(coverages),
        peer=peer,
        tolerated=frozenset.intersection(*tolerated),
    )


def _name_task(parsed: argparse.Namespace) -> str:
    """Return the file that defines the task, for messages."""
    return str(parsed.task or parsed.settings or task_file.SETTINGS)


def _list_shapes(
    parsed: argparse.Namespace,
    flavor: Reference | None,
    copies: collections.abc.Sequence[int],
) -> list[document.Shape]:
    """Return the shapes from the options, or from the flavor in the task."""
    if parsed.cpus and parsed.memory:
        return [
            document.Shape(parsed.cpus, parsed.memory, number)
            for number in copies
        ]
    references = [{"name": name} for name in parsed.flavor or ()]
    if not references and flavor:
        references = [flavor]
    if parsed.cpus or parsed.memory or not references:
        raise document.BaselineError(
            "the shape of the guests is missing: add --flavor NAME, or both "
            "--cpus N and --memory MIB"
        )
    from rally_vmperf.guests import request
    from rally_vmperf.guests import resolve

    cloud = rally_api.connect()
    flavors = [
        resolve.get_flavor(cloud, request.parse_reference(reference))
        for reference in references
    ]
    shapes = [
        document.Shape(size.vcpus, size.memory_mib, number)
        for size in flavors
        for number in copies
    ]
    return list(dict.fromkeys(shapes))


def _get_or_default(option: int | None, default: int) -> int:
    """Return an option, or the default if the option is None."""
    return default if option is None else option


def _complete_assignments(
    parsed: argparse.Namespace,
    assignments: collections.abc.Iterable[assignment.Assignment],
    shape: document.Shape,
) -> tuple[assignment.Assignment, ...]:
    """Return workloads for a shape, with cooldown and drop_caches."""
    overrides = {
        key: option
        for key in protocols.OF_WORKLOADS
        if (option := getattr(parsed, key)) is not None
    }
    return tuple(
        dataclasses.replace(assigned, **overrides).for_vcpus(shape.vcpus)
        for assigned in assignments
    )


def _override_protocol(
    parsed: argparse.Namespace, task_protocol: protocols.Protocol
) -> protocols.Protocol:
    """Return a protocol whose reboots and shape the options override.

    :param parsed: The parsed arguments.
    :param task_protocol: The protocol in the task.
    :raises BaselineError: If the task reboots guests and no option specifies
        the reboots of bare metal.
    """
    if task_protocol.reboot not in ("auto", "never") and parsed.reboot is None:
        raise document.BaselineError(
            f"{_name_task(parsed)} has reboot: {task_protocol.reboot}; "
            "specify whether bare metal is rebooted, too: --reboot "
            "between_repetitions, or --reboot never"
        )
    return dataclasses.replace(
        task_protocol,
        reboot=parsed.reboot or "never",
        shape=parsed.shape or task_protocol.shape,
    )
