"""The coverage of a baseline, from a task file or from options."""

import argparse
import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocol as protocols

#: A flavor by its name or id, as tasks give it.
Reference = dict[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Coverage:
    """Workloads to run in copies of one shape.

    :param insisted: on the number of copies; one of several that follow from
        a task may be left out where the machine is too small
    """

    assignments: tuple[assignment.Assignment, ...]
    shape: matching.Shape
    repetitions: int
    warmup: int
    insisted: bool = True
    protocol: protocols.Protocol = protocols.DEFAULT


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """All that a baseline must cover, and the peer that the task names."""

    coverages: tuple[Coverage, ...]
    peer: dict[str, t.Any] | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is to be measured."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--task",
        metavar="FILE",
        help="task whose workloads, flavors and guests are to be covered",
    )
    what.add_argument(
        "--workload",
        action="append",
        metavar="NAME",
        help="workload with its default arguments; may be repeated",
    )
    task_file.add_arguments(parser)
    parser.add_argument(
        "--flavor",
        action="append",
        metavar="NAME",
        help="flavor whose shape is to be held; may be repeated; default: "
        "the task's",
    )
    parser.add_argument(
        "--cpus", type=_at_least(1), metavar="N", help="CPUs of one copy"
    )
    parser.add_argument(
        "--memory",
        type=_at_least(1),
        metavar="MIB",
        help="memory of one copy, MiB",
    )
    parser.add_argument(
        "--copies",
        type=_several,
        metavar="N[,N]",
        help="copies at once, or several numbers of them, each measured; "
        "default: as many as the task has guests, or the levels of a density "
        "task that the machine has CPUs for; without a task 1",
    )
    parser.add_argument(
        "--repetitions",
        type=_at_least(1),
        metavar="N",
        help="counted repetitions; default: the task's, else 5",
    )
    parser.add_argument(
        "--warmup",
        type=_at_least(0),
        metavar="N",
        help="repetitions before them that are not counted; default: the "
        "task's, else 1",
    )
    parser.add_argument(
        "--cooldown",
        type=_seconds,
        metavar="SECONDS",
        help="rest before each command; default: the task's, else none",
    )
    parser.add_argument(
        "--drop-caches",
        action="store_true",
        default=None,
        help="drop page cache, dentries and inodes of the machine before each "
        "command, which takes root; default: as the task says",
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
        help="whether --host is rebooted between repetitions; has to be "
        "given where the task reboots guests, so that nobody's server is "
        "rebooted by surprise",
    )


def _at_least(lowest: int) -> collections.abc.Callable[[str], int]:
    def whole_number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = lowest - 1
        if value < lowest:
            raise argparse.ArgumentTypeError(
                f"{text!r} is no whole number from {lowest} up"
            )
        return value

    return whole_number


def _seconds(text: str) -> float:
    rule = protocols.OF_WORKLOADS["cooldown"]
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not rule["minimum"] <= seconds <= rule["maximum"]:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of seconds from {rule['minimum']} to "
            f"{rule['maximum']}"
        )
    return seconds


def _several(text: str) -> tuple[int, ...]:
    whole_number = _at_least(1)
    return tuple(dict.fromkeys(map(whole_number, text.split(","))))


def read(parsed: argparse.Namespace) -> Asked:
    """Return what the options ask for.

    :raises BaselineError: for options or a task that do not say enough
    :raises WorkloadError: for workloads that cannot be
    :raises GuestError: for a flavor that the cloud does not have
    """
    if parsed.task:
        return _from_task(parsed)
    entries = [{"name": name} for name in parsed.workload]
    coverages = [
        Coverage(
            assignments=_insisted(parsed, assignment.assign(entries)),
            shape=shape,
            repetitions=_given(parsed.repetitions, 5),
            warmup=_given(parsed.warmup, 1),
            protocol=_protocol(parsed, protocols.DEFAULT),
        )
        for shape in _shapes(parsed, None, parsed.copies or (1,))
    ]
    return Asked(coverages=tuple(coverages), peer=None)


def _from_task(parsed: argparse.Namespace) -> Asked:
    coverages: list[Coverage] = []
    peer = None
    for one, entry in task_file.read(parsed.task, parsed):
        peer = peer or one.peer
        counted = _given(parsed.repetitions, one.times - one.warmup)
        if counted < 1:
            raise document.BaselineError(
                f"{parsed.task}: warmup {one.warmup} leaves none of "
                f"{one.times} repetitions; raise the runner's times, or add "
                "--repetitions N"
            )
        copies = parsed.copies or entry.copies(one)
        for shape in _shapes(parsed, one.guests.get("flavor"), copies):
            coverage = Coverage(
                assignments=_insisted(parsed, one.assignments),
                shape=shape,
                repetitions=counted,
                warmup=_given(parsed.warmup, one.warmup),
                insisted=bool(parsed.copies) or len(copies) == 1,
                protocol=_protocol(parsed, one.protocol),
            )
            if coverage not in coverages:
                coverages.append(coverage)
    return Asked(coverages=tuple(coverages), peer=peer)


def _shapes(
    parsed: argparse.Namespace,
    flavor: Reference | None,
    copies: collections.abc.Sequence[int],
) -> list[matching.Shape]:
    """Return the shapes of the options, else of the task's flavor."""
    if parsed.cpus and parsed.memory:
        return [
            matching.Shape(parsed.cpus, parsed.memory, number)
            for number in copies
        ]
    wanted = [{"name": name} for name in parsed.flavor or ()]
    if not wanted and flavor:
        wanted = [flavor]
    if parsed.cpus or parsed.memory or not wanted:
        raise document.BaselineError(
            "the shape of the guests is not known: add --flavor NAME, or "
            "both --cpus N and --memory MIB"
        )
    from rally_vmperf.guests import choices
    from rally_vmperf.guests import request

    cloud = rally_api.connection()
    found = [choices.flavor(cloud, request.reference(one)) for one in wanted]
    shapes = [
        matching.Shape(one.vcpus, one.memory_mib, number)
        for one in found
        for number in copies
    ]
    return list(dict.fromkeys(shapes))


def _given(value: int | None, default: int) -> int:
    return default if value is None else value


def _insisted(
    parsed: argparse.Namespace,
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> tuple[assignment.Assignment, ...]:
    """Return workloads with the protocol that the options insist on."""
    given = {
        key: value
        for key in protocols.OF_WORKLOADS
        if (value := getattr(parsed, key)) is not None
    }
    return tuple(dataclasses.replace(one, **given) for one in assignments)


def _protocol(
    parsed: argparse.Namespace, asked: protocols.Protocol
) -> protocols.Protocol:
    """Return what a task says of reboots and shape, options first.

    :raises BaselineError: for reboots that no option agrees to
    """
    if asked.reboot != "never" and parsed.reboot is None:
        raise document.BaselineError(
            f"{parsed.task} has reboot: {asked.reboot}; say whether bare "
            "metal is to be rebooted too: --reboot between_repetitions, or "
            "--reboot never"
        )
    return dataclasses.replace(
        asked,
        reboot=parsed.reboot or "never",
        shape=parsed.shape or asked.shape,
    )
