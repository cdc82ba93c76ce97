"""Raw outputs of tools that ran on machines that cannot be reached.

Arguments are read from the output, because there is no command line. Arguments
that it does not contain are omitted, not guessed.
"""

import collections.abc
import contextlib
import dataclasses
import itertools
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads.application import unixbench
from rally_vmperf.workloads.disk import dd
from rally_vmperf.workloads.memory import mbw
from rally_vmperf.workloads.network import iperf2

Samples = tuple[sample.Sample, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RawOutput:
    """Results and arguments, read from the outputs of one tool.

    :param workload: The name of the workload whose parser was used.
    :param arguments: The arguments that the outputs contain.
    :param repetitions: The samples of each repetition.
    :param notes: The descriptions of results that are omitted.
    """

    workload: str
    arguments: dict[str, t.Any]
    repetitions: tuple[Samples, ...]
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[sample.Metric, ...]:
        """The metrics of the samples, each once."""
        samples = itertools.chain.from_iterable(self.repetitions)
        return tuple(dict.fromkeys(value.metric for value in samples))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The arguments that the outputs do not contain, sorted."""
        schema = registry.get_workload(self.workload).ARGUMENTS
        return tuple(sorted(schema["properties"].keys() - self.arguments))


def parse(tool: str, text: str, which: str = "") -> RawOutput:
    """Return the samples and arguments in a tool's output; reject others.

    :param tool: A key of ``PARSERS``.
    :param which: The mode of the tool, if the output does not contain it.
    :raises base.WorkloadError: If it is not an output of the tool.
    """
    if len(text) > base.MAX_OUTPUT_CHARACTERS:
        raise base.WorkloadError(
            f"{tool}: the output has more than "
            f"{base.MAX_OUTPUT_CHARACTERS} characters; "
            "give only the output of the tool"
        )
    return PARSERS[tool](text, which)


def merge(parsed: collections.abc.Iterable[RawOutput]) -> list[RawOutput]:
    """Return the outputs, merged by workload and direction.

    :raises base.WorkloadError: If outputs with the same metrics have different
        arguments.
    """
    merged: dict[tuple[str, ...], RawOutput] = {}
    for output in parsed:
        metrics = {metric.name for metric in output.metrics}
        key = (output.workload, *sorted(metrics))
        first = merged.get(key)
        if first is None:
            if any(metrics & set(option) for option in merged):
                raise base.WorkloadError(
                    f"{output.workload}: outputs have some of their metrics "
                    "in common; use outputs of the same tests"
                )
            merged[key] = output
            continue
        if first.arguments != output.arguments:
            raise base.WorkloadError(
                f"{output.workload}: one output is of {first.arguments}, "
                f"another of {output.arguments}; give those of one"
            )
        merged[key] = dataclasses.replace(
            first, repetitions=first.repetitions + output.repetitions
        )
    return list(merged.values())


def _parse_unixbench(text: str, which: str) -> RawOutput:
    """Return scores; ``which`` is the number of copies, by default 1."""
    if which and not re.fullmatch("[1-9][0-9]{0,3}", which):
        raise _create_which_error("unixbench", which, "a number of copies")
    copies = int(which or 1)
    rates = unixbench.parse_rates(text, copies)
    arguments = {"tests": list(rates), "copies": copies}
    return RawOutput(
        workload="unixbench",
        arguments=arguments,
        repetitions=(tuple(rates.values()),),
    )


_SIZE = re.compile(r"\bMiB: ([0-9]{1,6})\.0+\s")
_BLOCK = re.compile(r"^Using ([0-9]{1,9}) bytes as blocks", re.M)


def _parse_mbw(text: str, which: str) -> RawOutput:
    """Return the means; the runs of one process are not repetitions.

    mbw runs all methods by default, so that old versions print mcblock, too.
    """
    if which and not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){1,2}", which):
        raise _create_which_error("mbw", which, "the version of mbw")
    if not (which or text.startswith("says: ")):
        raise base.WorkloadError(
            "mbw: the output does not contain the version; give 1.4=FILE, or "
            "1.2=FILE for versions before 1.4, which swap memcpy and dumb"
        )
    size, block = _SIZE.search(text), _BLOCK.search(text)
    methods = [
        method
        for method in mbw.METHODS
        if re.search(rf"^AVG\s+Method: {method.upper()}\s", text, re.M)
    ]
    if not (size and methods):
        raise base.WorkloadError(
            f"mbw printed {sanitize.line(text, 80)!r} instead of runs and "
            "their AVG; look at the raw output"
        )
    if not text.startswith("says: "):
        text = mbw.version_line(which) + text
    notes: tuple[str, ...] = ()
    if mbw.is_old(text) and methods[-1] == "mcblock" and len(methods) > 1:
        methods.remove("mcblock")
        text = mbw.omit_mcblock(text)
        notes = (
            "mcblock is omitted: before mbw 1.4 it copies only the first "
            "block repeatedly",
        )
    runs = re.findall(rf"^[0-9]+\s+Method: {methods[0].upper()}\s", text, re.M)
    arguments = {
        "size_mib": int(size[1]),
        "runs": len(runs),
        "methods": methods,
        **({"block_size": int(block[1])} if block else {}),
    }
    workload = registry.get_workload("mbw")
    outcome = _create_outcome("mbw", stdout=text)
    samples = workload.parse_all(
        workload.complete(arguments), {"mbw": outcome}
    )
    values = tuple(s for s in samples if isinstance(s, sample.Sample))
    return RawOutput(
        workload="mbw",
        arguments=arguments,
        repetitions=(values,),
        notes=notes,
    )


def _parse_iperf(text: str, which: str) -> RawOutput:
    """Return the rates in a table of iperf 2; ``which`` is the direction."""
    direction = which or "to_peer"
    direction_schema = iperf2.Iperf2.ARGUMENTS["properties"]["directions"][
        "items"
    ]
    if direction not in direction_schema["enum"]:
        raise _create_which_error(
            "iperf", which, " or ".join(direction_schema["enum"])
        )
    rows, connections = (
        len(re.findall(rf"^\[ *\*?[0-9]+\] .* {label} ", text, re.M))
        for label in ("sec", "connected with")
    )
    # An output that was cut before [SUM] has fewer rows than connections.
    streams = max(rows, connections, 1)
    value, seconds = iperf2.parse_rate(text, direction, streams)
    arguments = {
        "directions": [direction],
        "streams": streams,
        "time": round(seconds),
    }
    throughput = sample.Sample(
        metric=iperf2.throughput_metric(direction), value=value
    )
    return RawOutput(
        workload="iperf2", arguments=arguments, repetitions=((throughput,),)
    )


_DD_COMMAND = re.compile(r"(?:^|[ #$])(dd(?: [a-z]{1,9}=\S{1,200})+) ?$", re.M)
_DD_SUMMARY = re.compile(r"^([0-9]{1,20}) bytes?[ (].* copied, .*$", re.M)


def _parse_dd(text: str, which: str) -> RawOutput:
    """Return the rates in dd's summaries, each of which is a repetition.

    The arguments come from the command line before them, if there is one.
    """
    lines = {
        " ".join(command_line.split())
        for command_line in _DD_COMMAND.findall(text)
    }
    if len(lines) > 1:
        raise base.WorkloadError(
            f"dd: {len(lines)} different command lines are in one output; "
            "give each its own file"
        )
    operands = [
        word.partition("=")[::2] for line in lines for word in line.split()[1:]
    ]
    options = dict(operands)
    direction = which or (
        ("read" if options.get("of") == "/dev/null" else "write")
        if options
        else ""
    )
    if direction not in dd.DIRECTIONS:
        raise _create_which_error("dd", which, " or ".join(dd.DIRECTIONS))
    arguments = {
        "directions": [direction],
        **_parse_dd_arguments([f"{key}={value}" for key, value in operands]),
    }
    expected_size = 0
    if {"block_size", "count"} <= arguments.keys():
        expected_size = (
            schemas.size_bytes(arguments["block_size"]) * arguments["count"]
        )
    metric = registry.get_workload("dd").metrics(
        registry.get_workload("dd").complete({"directions": [direction]})
    )[0]
    repetitions = []
    summaries = list(_DD_SUMMARY.finditer(text))
    if len({summary[0] for summary in summaries}) < len(summaries):
        raise base.WorkloadError(
            "dd: the output contains a summary twice, with the same seconds; "
            "remove the copy"
        )
    for summary in summaries:
        size = expected_size or int(summary[1])
        value = dd.parse_rate(summary[0], direction, size)
        repetitions.append((sample.Sample(metric=metric, value=value),))
    if not repetitions:
        raise base.WorkloadError(
            f"dd said {sanitize.line(text, 80)!r} instead of how many "
            "bytes were copied; look at the raw output"
        )
    return RawOutput(
        workload="dd", arguments=arguments, repetitions=tuple(repetitions)
    )


def _parse_dd_arguments(operands: list[str]) -> dict[str, t.Any]:
    """Return the arguments in a command line of dd as a dict, or {}."""
    if not operands:
        return {}
    options = dict(operand.split("=", 1) for operand in operands)
    arguments: dict[str, t.Any] = {}
    count = options.get("count", "")
    for key, value in (
        ("block_size", options.get("bs", "")),
        ("count", int(count) if count.isdecimal() else 0),
    ):
        with contextlib.suppress(ValueError):
            schemas.complete(dd.Dd.ARGUMENTS, {key: value})
            arguments[key] = value
    sync = [
        name
        for name, option in dd.SYNC.items()
        if option and option[0] in operands
    ]
    flags = {options.get("oflag"), options.get("iflag")}
    return {
        **arguments,
        "sync": sync[0] if sync else "none",
        "direct": "direct" in flags,
    }


def _create_outcome(name: str, stdout: str) -> base.CommandResult:
    """Return the result of a successful command with this output."""
    return base.CommandResult(
        name=name,
        exit_status=0,
        seconds=0,
        started=0,
        ended=0,
        stdout=stdout,
        stderr="",
    )


def _create_which_error(
    tool: str, which: str, allowed: str
) -> base.WorkloadError:
    """Return an error: the number or direction given is not allowed."""
    return base.WorkloadError(
        f"{tool}: {repr(which) if which else 'no direction'} was given with "
        f"the output; give {allowed} before the file, as in WHICH=FILE"
    )


#: The parser of the output of each tool.
PARSERS: dict[str, t.Callable[[str, str], RawOutput]] = {
    "unixbench": _parse_unixbench,
    "mbw": _parse_mbw,
    "iperf": _parse_iperf,
    "dd": _parse_dd,
}

#: The permitted modes of each tool, for help texts.
WHICH_HELP = {
    "unixbench": "the number of copies; default 1",
    "mbw": "the version of mbw, as in 1.4; versions before 1.4 swap memcpy "
    "and dumb",
    "iperf": "to_peer (the default), from_peer or guest_to_guest",
    "dd": "write or read, where the output has no command line",
}
