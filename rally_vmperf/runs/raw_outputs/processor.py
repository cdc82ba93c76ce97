# SPDX-License-Identifier: Apache-2.0
"""Outputs of mbw, sysbench and openssl."""

import dataclasses
import math
import re
import statistics
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import sysbench_report
from rally_vmperf.workloads.cpu import openssl
from rally_vmperf.workloads.memory import mbw
from rally_vmperf.workloads.memory import stream

_MBW_SIZE = re.compile(r"\bMiB: ([0-9]{1,6})\.0+\s")
_MBW_ROW = re.compile(r"^[0-9]+\s+Method: ([A-Z]+)\s", re.M)
#: The maximum relative difference between the mean of the runs and the
#: average of mbw, which rounds the rates.
_AVERAGE_ERROR = 0.01
_MBW_BLOCK = re.compile(r"^Using ([0-9]{1,9}) bytes as blocks", re.M)


def read_mbw(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the means; the runs of one process are not repetitions.

    mbw runs all methods by default, so that old versions print mcblock, too.
    """
    version = _check_version(text, given)
    size, block = _MBW_SIZE.search(text), _MBW_BLOCK.search(text)
    methods = [
        method
        for method in mbw.METHODS
        if re.search(rf"^AVG\s+Method: {method.upper()}\s", text, re.M)
    ]
    if not (size and methods):
        raise raw.error(
            "mbw",
            "has no runs with their AVG, which mbw -a omits: "
            f"{raw.describe(text)}",
        )
    begun = {name.lower() for name in _MBW_ROW.findall(text)}
    if incomplete := sorted(begun - {*methods}):
        raise raw.error("mbw", f"{incomplete[0]} has no AVG; it did not end")
    _check_averages(text)
    if not text.startswith("says: "):
        text = mbw.version_line(version) + text
    if methods in (["memcpy"], ["dumb"]):
        return [_read_single_method(text, int(size[1]), methods[0])]
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
        **_read_mbw_command(text),
        "size_mib": int(size[1]),
        "runs": len(runs),
        "methods": methods,
        **({"block_size": int(block[1])} if block else {}),
    }
    workload = registry.get_workload("mbw")
    completed = workload.complete(
        {
            key: argument
            for key, argument in arguments.items()
            if key in workload.ARGUMENTS["properties"]
        }
    )
    samples = workload.parse_all(
        completed,
        {"mbw": _create_result("mbw", mbw.complete_header(text, completed))},
    )
    values = tuple(s for s in samples if isinstance(s, sample.Sample))
    return [
        raw.RawOutput(
            workload="mbw",
            arguments=arguments,
            repetitions=(values,),
            notes=notes,
        )
    ]


def _read_mbw_command(text: str) -> dict[str, t.Any]:
    """Return the arguments in a command line of mbw; {} without one."""
    return registry.get_workload("mbw").TOOL_OPTIONS.read_output(text, "mbw")


def _check_version(text: str, given: raw.Given) -> str:
    """Return the given version of mbw; "" if the output has one.

    :raises WorkloadError: If it is missing, or not a version.
    """
    version = given.get("version", "")
    if version and not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){1,2}", version):
        raise raw.error("mbw", f"version={version!r:.40}: must be such as 1.4")
    if not (version or text.startswith("says: ")):
        raise raw.error(
            "mbw",
            "the output does not contain the version; give "
            "mbw:version=1.4=FILE, or 1.2 for versions before 1.4, which swap "
            "memcpy and dumb",
        )
    return version


def _check_averages(text: str) -> None:
    """Reject a table in which runs are missing, by its averages."""
    times: dict[str, list[float]] = {}
    averages: dict[str, float] = {}
    for fields in mbw.table_rows(text):
        if fields[0] == "AVG":
            averages[fields[2]] = 1 / float(fields[8])
        else:
            times.setdefault(fields[2], []).append(1 / float(fields[8]))
    for method, average in averages.items():
        mean = statistics.fmean(times.get(method) or [0.0])
        if not math.isclose(mean, average, rel_tol=_AVERAGE_ERROR):
            raise raw.error(
                "mbw",
                f"the AVG of {method} is not the mean of its "
                f"{len(times.get(method, ()))} runs: lines of other runs are "
                "missing; give the complete output",
            )


def _read_single_method(
    text: str, size_mib: int, printed: str
) -> raw.RawOutput:
    """Return the rate of mbw that ran one method only (``-t``).

    :param printed: The method that it names.
    """
    label = printed.upper()
    runs = sum(
        row[0] != "AVG" for row in mbw.table_rows(text) if row[2] == label
    )
    copies = mbw.parse_copies(text, label, runs, size_mib)
    swapped = {"memcpy": "dumb", "dumb": "memcpy"}
    method = swapped[printed] if mbw.is_old(text) else printed
    metric = raw.find_metric(
        "mbw", f"memory.mbw.{method}.bandwidth", methods=[method]
    )
    return raw.create_output(
        "mbw",
        {
            **_read_mbw_command(text),
            "size_mib": size_mib,
            "runs": runs,
            "methods": [method],
        },
        {metric: copies.rate},
    )


def _create_result(name: str, stdout: str) -> base.CommandResult:
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


_SECONDS = re.compile(
    r"^ *(?:total time|time elapsed): +([0-9.]{1,20})s", re.M
)
_EVENTS = re.compile(r"^ *total number of events: +([0-9]{1,20})$", re.M)
_SYSBENCH_FAILURE = re.compile(r"^FATAL: (.*)$", re.M)
_P95 = re.compile(
    r"^ *(?:95th percentile|approx\.  ?95 percentile): +([0-9.]{1,20})"
    r"(?:ms)?$",
    re.M,
)
_END = re.compile(r"^Threads fairness:\n(?:.*\n){0,1}.*execution time ", re.M)
#: The beginning of the results of the processor, which posts often have
#: without the options.
_CPU_SPEED = re.compile(r"^CPU speed:\n +events per second:", re.M)
_MEMORY = re.compile(r"^Total operations: |MiB transferred", re.M)
_OPERATION = re.compile(
    r"^ *(?:operation|Memory operations type): (read|write|none)$", re.M
)


def read_sysbench(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate of sysbench's test of the processor or of memory."""
    if len(_EVENTS.findall(text)) > 1 or len(_SECONDS.findall(text)) > 1:
        raise raw.several_runs("sysbench")
    if failure := _SYSBENCH_FAILURE.search(text):
        raise raw.error("sysbench", f"failed: {failure[1][:120]}")
    seconds, events = _SECONDS.search(text), _EVENTS.search(text)
    if not (seconds and events and _END.search(text)):
        raise raw.error("sysbench", "the output is not complete")
    duration, number = float(seconds[1]), int(events[1])
    if not (duration > 0 and number):
        raise raw.error("sysbench", f"did nothing in {duration:g} s")
    arguments = sysbench_report.CPU_OPTIONS.read_output(text, "sysbench")
    if "max_prime" in arguments or _CPU_SPEED.search(text):
        p95 = _P95.search(text)
        latency = float(p95[1]) / 1000 if p95 else 0.0
        # It prints 0 for short events.
        figures = {"rate": number / duration, "latency_p95": latency or None}
        return [
            raw.create_output(
                "sysbench",
                _complete_rate(text, arguments),
                {
                    raw.find_metric("sysbench", f"cpu.sysbench.{name}"): figure
                    for name, figure in figures.items()
                },
            )
        ]
    return [_read_memory(text, number, duration)]


def _complete_rate(text: str, arguments: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the arguments with the limit of the rate, 0 if it has none.

    sysbench prints it with the options of the run.
    """
    has_options = "Running the test with following options:" in text
    return {**({"rate": 0} if has_options else {}), **arguments}


def _read_memory(text: str, number: int, duration: float) -> raw.RawOutput:
    """Return the rate of sysbench's test of memory.

    :param number: The number of events.
    :param duration: The time of all of them in seconds.
    """
    operation = _OPERATION.search(text)
    arguments = sysbench_report.MEMORY_OPTIONS.read_output(text, "sysbench")
    if operation and operation[1] == "none":
        raise raw.error(
            "sysbench",
            "the operation none moves no data; give an output of read or "
            "write",
        )
    if not ("block_kib" in arguments and operation):
        raise raw.error(
            "sysbench",
            "the block size and the operation (read or write) are missing; "
            "give the output from 'Running memory speed test' on"
            if _MEMORY.search(text)
            else "only the tests cpu and memory are read",
        )
    size = arguments["block_kib"] * 1024
    name = operation[1]
    metric = raw.find_metric(
        "sysbench_memory",
        f"memory.sysbench_memory.{name}.bandwidth",
        operations=[name],
    )
    return raw.create_output(
        "sysbench_memory",
        {**_complete_rate(text, arguments), "operations": [name]},
        {metric: number * size / duration},
    )


_OPENSSL_SIZES = re.compile(r"^type +((?:[0-9]+ bytes *)+)$", re.M)
_OPENSSL_ROW = re.compile(
    r"^([A-Za-z][A-Za-z0-9 _/-]{1,40}?) +((?:[0-9.]+k *)+)$", re.M
)
_OPENSSL_TIMES = re.compile(
    r"^Doing .{1,80} for ([0-9]{1,6})s(?: on .{1,40})?: [0-9]+ .{1,80} in "
    r"([0-9.]{1,12})s$",
    re.M,
)
_USER_TIME, _ELAPSED_TIME = {"clock": "user CPU"}, {"clock": "elapsed"}
#: The instructions that the user excludes with an environment variable.
_OPENSSL_CAPABILITIES = re.compile(
    r"^CPUINFO: \S{1,100}(?: env:(\S{1,100}))?$", re.M
)
#: The processes of -multi, and the time that each of them measured.
_OPENSSL_CHILD = re.compile(r"^Forked child [0-9]+$", re.M)
_OPENSSL_MEASURED = re.compile(
    r"^\+R[0-9]{0,2}:[0-9]{1,20}:[^:\n]{1,40}:([0-9]{1,6}\.[0-9]{1,9})$", re.M
)
#: The share of the time that a process on an idle processor uses.
_USUAL_SHARE = 0.95
_OPENSSL_REQUESTED = re.compile(r"^\+DTP?:[^:\n]{1,40}:([0-9]{1,6}):", re.M)
_OPENSSL_BLOCK = re.compile(
    r"^Got: \+H:([0-9]{1,20}(?::[0-9]{1,20}){0,15}) from 0$", re.M
)
#: The algorithm of a process of -multi; the sum names it only since 3.0.
_OPENSSL_ALGORITHM = re.compile(r"^Got: \+F:[0-9]{1,9}:([^:\n]{1,40}):", re.M)
#: Earlier versions print the name of the program.
_OPENSSL_3 = re.compile(r"^version: ", re.M)
#: Rows of operations of public keys, such as "rsa 2048 bits 0.000665s".
_OPENSSL_KEYS = re.compile(
    r"^ {0,20}([A-Za-z0-9](?:[\w.()-]| (?! )){0,60}?) {1,30}[0-9.]{1,12}s "
    r"{1,30}[0-9.]{1,12}",
    re.M,
)


def read_openssl(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates of ``openssl speed``, by algorithm and block size."""
    tables = [
        re.findall(r"\b([0-9]+) bytes", header)
        for header in _OPENSSL_SIZES.findall(text)
    ] or [block.split(":") for block in _OPENSSL_BLOCK.findall(text)]
    sizes = tables[0] if tables else []
    if any(other != sizes for other in tables):
        raise raw.several_runs("openssl")
    results, clock = [], _read_openssl_clock(text)
    threads = max(1, len(_OPENSSL_CHILD.findall(text)))
    stated = registry.get_workload("openssl").TOOL_OPTIONS.read_output(
        text, "openssl"
    )
    if capabilities := _OPENSSL_CAPABILITIES.search(text):
        stated["capabilities"] = capabilities[1] or "all"
    notes = _describe_user_time(text) if clock == _USER_TIME else ()
    keys = _OPENSSL_KEYS.search(text)
    if keys:
        notes += (f"{keys[1]} is omitted: operations of keys are not read",)
    processes = {*_OPENSSL_ALGORITHM.findall(text)}
    has_evp_only = _OPENSSL_3.search(text) is not None
    for name, row in _OPENSSL_ROW.findall(text):
        algorithm = _name_algorithm(name, processes)
        rates = re.findall(r"(?<![0-9.])([0-9.]+)k", row)
        if len(rates) != len(sizes):
            continue
        results += [
            raw.RawOutput(
                workload="openssl",
                arguments={
                    **stated,
                    **_find_interface(name, has_evp_only),
                    "algorithm": algorithm,
                    "block_size": int(size),
                    "threads": threads,
                    **clock,
                },
                repetitions=(
                    raw.create_samples({openssl.RATE: float(rate) * 1000}),
                ),
                label=re.sub(r"[^a-z0-9_-]", "-", f"{algorithm}-{size}")[:32],
                notes=notes,
            )
            for size, rate in zip(sizes, rates, strict=True)
        ]
    if len({output.label for output in results}) < len(results):
        raise raw.error("openssl", "an algorithm has several rows; give one")
    if results:
        results[1:] = (
            dataclasses.replace(output, notes=()) for output in results[1:]
        )
    elif keys:
        raise raw.error(
            "openssl",
            f"{keys[1]} has operations of keys, and only bytes per second are "
            "read; give an output of a cipher or digest, such as openssl "
            "speed -elapsed -evp aes-256-gcm",
        )
    else:
        raise raw.error("openssl", "has no table of bytes per second")
    return results


def _name_algorithm(name: str, processes: set[str]) -> str:
    """Return the algorithm of a row, as openssl names it since 3.0.

    :param name: The name in the row: before 3.0 it is ``evp`` with -multi.
    :param processes: The names that the processes of -multi print.
    """
    if name == "evp" and len(processes) == 1:
        (name,) = processes
    return name.strip().lower().replace(" ", "-")


def _find_interface(name: str, has_evp_only: bool) -> dict[str, str]:
    """Return the functions that openssl measured; {} if they are unknown.

    Before 3.0, it measured those that do not use all instructions of the
    processor unless -evp was given, and named them with a space.

    :param name: The name of the algorithm in its row.
    :param has_evp_only: Whether the version is 3.0 or later.
    """
    if " " in name:
        return {"interface": "low-level"}
    return {"interface": "EVP"} if "-" in name or has_evp_only else {}


def _read_openssl_clock(text: str) -> dict[str, str]:
    """Return the time that openssl measured; {} if the output lacks it.

    The lines that state it are those of stderr.
    """
    if not re.search(r"^(?:\+?DTP?:|Doing )", text, re.M):
        return {}
    if "You have chosen to measure elapsed time" in text:
        return _ELAPSED_TIME
    if not re.search(r"^\+DTP?:", text, re.M):
        return _USER_TIME
    # With -mr and -multi, that line is missing.
    requested = min(map(float, _OPENSSL_REQUESTED.findall(text)), default=0)
    measured = [*map(float, _OPENSSL_MEASURED.findall(text))]
    if not (requested and measured):
        return {}
    if min(measured) >= requested:
        return _ELAPSED_TIME
    return _USER_TIME if min(measured) < _USUAL_SHARE * requested else {}


def _describe_user_time(text: str) -> tuple[str, ...]:
    """Return a note on the time that openssl did not count."""
    shares = [
        float(used) / float(requested)
        for requested, used in _OPENSSL_TIMES.findall(text)
        if float(requested) > 0
    ]
    share = (
        f"as little as {100 * min(shares):.0f} % of the time"
        if shares and min(shares) < _USUAL_SHARE
        else "only its own time"
    )
    return (
        f"openssl ran without -elapsed and counted {share}: time that the "
        "host takes from a guest (steal) is invisible; run openssl speed "
        "-elapsed",
    )


_STREAM_ROWS = re.compile(r"^Copy:? +[0-9.]{1,20} ", re.M)


def read_stream(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the best rate of each kernel of STREAM.

    Posts often have the rows alone, each of which is a result.
    """
    if len(_STREAM_ROWS.findall(text)) > 1:
        raise raw.several_runs("stream")
    if "Failed Validation on array" in text:
        raise raw.error("stream", "failed: its arrays have wrong values")
    if "STREAM version " in text and "Solution Validates" not in text:
        raise raw.error(
            "stream",
            "the output is cut before 'Solution Validates'; give the complete "
            "output",
        )
    workload = registry.get_workload("stream")
    arguments = workload.TOOL_OPTIONS.read(
        workload.TOOL_OPTIONS.read_text(text)
    )
    elements = arguments.pop("elements", 0)
    size = elements * arguments.get("element_bytes", 0)
    if size:
        arguments["size_mib"] = size / (1 << 20)
    rates = stream.parse_rates(text, size)
    if not rates:
        raise raw.error("stream", f"has no rates: {raw.describe(text)}")
    return [
        raw.create_output(
            "stream",
            arguments,
            {
                raw.find_metric(
                    "stream", f"memory.stream.{kernel}.bandwidth"
                ): rate
                for kernel, rate in rates.items()
            },
        )
    ]


READERS = (
    raw.RawReader(
        tool="mbw",
        signature=re.compile(r"^(?:[0-9]+|AVG)\s+Method: ", re.M),
        read=read_mbw,
        given={"version": "version of mbw, such as 1.4"},
        version=re.compile(r"^says: .{0,40}?\bv?([0-9.]{1,20})\b", re.M),
    ),
    raw.RawReader(
        tool="stream",
        signature=re.compile(
            r"^STREAM version \$|^Function +(?:Best )?Rate \(?MB/s|"
            r"^Triad:? +[0-9.]{1,20} +[0-9.]{1,20} +[0-9.]{1,20} ",
            re.M,
        ),
        read=read_stream,
    ),
    raw.RawReader(
        tool="sysbench",
        signature=re.compile(
            r"^sysbench [0-9.]+|^CPU speed:$|^Threads fairness:$"
            r"|^ *total number of events: ",
            re.M,
        ),
        read=read_sysbench,
        version=re.compile(r"^(sysbench [0-9][0-9.]{1,20})", re.M),
    ),
    raw.RawReader(
        tool="openssl",
        signature=re.compile(
            r"^Doing .{1,80} for [0-9]+s|in 1000s of bytes per second|"
            r"^Got: \+F:[0-9]+:",
            re.M,
        ),
        read=read_openssl,
        version=re.compile(r"^(?:version: |OpenSSL )([0-9][\w.]{1,20})", re.M),
    ),
)
