"""Outputs of tools for processors, memory and whole systems."""

import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import disk
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.application import unixbench
from rally_vmperf.workloads.cpu import openssl
from rally_vmperf.workloads.cpu import sysbench
from rally_vmperf.workloads.memory import mbw

_COPIES = re.compile(
    r"^[0-9]+ CPUs? in system; running ([0-9]{1,9}) parallel cop", re.M
)
_HEADLESS = re.compile(
    r"((?:^|\n)(?!Benchmark Run: )[^\n]*\n|\A)"
    r"([0-9]+ CPUs? in system; running )"
)
#: The largest number of copies that UnixBench 5.1.3 runs.
_MAX_COPIES = 16


def read_unixbench(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates of each number of copies in a report."""
    # Posts often begin after the line with the date.
    text = _HEADLESS.sub(r"\1Benchmark Run: unknown\n\2", text)
    numbers = [int(number) for number in _COPIES.findall(text)]
    if "copies" in given:
        numbers = [one for one in numbers if str(one) == given["copies"]]
    if not numbers:
        raise raw.error("unixbench", "there is no run of tests in the report")
    results = []
    for copies in numbers:
        try:
            rates = unixbench.parse_rates(text, copies)
        except base.WorkloadError as problem:
            if copies > _MAX_COPIES and "has 0 scores" in str(problem):
                raise raw.error(
                    "unixbench",
                    f"the run with {copies} copies has no tests: UnixBench "
                    f"5.1.3 runs at most {_MAX_COPIES} copies; give "
                    "unixbench:copies=1=FILE, or use a newer version",
                ) from None
            raise
        results.append(
            raw.RawOutput(
                workload="unixbench",
                arguments={"tests": list(rates), "copies": copies},
                repetitions=(tuple(rates.values()),),
                label=f"copies-{copies}" if copies > 1 else "",
            )
        )
    return results


_MBW_SIZE = re.compile(r"\bMiB: ([0-9]{1,6})\.0+\s")
_MBW_BLOCK = re.compile(r"^Using ([0-9]{1,9}) bytes as blocks", re.M)


def read_mbw(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the means; the runs of one process are not repetitions.

    mbw runs all methods by default, so that old versions print mcblock, too.
    """
    version = given.get("version", "")
    if version and not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){1,2}", version):
        raise raw.error("mbw", f"version={version!r:.40}: must be such as 1.4")
    if not (version or text.startswith("says: ")):
        raise raw.error(
            "mbw",
            "the output does not tell the version; give mbw:version=1.4=FILE, "
            "or 1.2 for versions before 1.4, which swap memcpy and dumb",
        )
    size, block = _MBW_SIZE.search(text), _MBW_BLOCK.search(text)
    methods = [
        method
        for method in mbw.METHODS
        if re.search(rf"^AVG\s+Method: {method.upper()}\s", text, re.M)
    ]
    if not (size and methods):
        raise raw.error(
            "mbw", f"there are no runs with their AVG in {raw.describe(text)}"
        )
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
        "size_mib": int(size[1]),
        "runs": len(runs),
        "methods": methods,
        **({"block_size": int(block[1])} if block else {}),
    }
    workload = registry.get_workload("mbw")
    samples = workload.parse_all(
        workload.complete(arguments), {"mbw": _create_result("mbw", text)}
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


def _read_single_method(
    text: str, size_mib: int, printed: str
) -> raw.RawOutput:
    """Return the rate of mbw that ran one method only (``-t``).

    :param printed: The method that it names.
    """
    seconds = [
        float(value)
        for value in re.findall(
            rf"^[0-9]+\s+Method: {printed.upper()}\s+Elapsed: ([0-9.]+)\s",
            text,
            re.M,
        )
    ]
    if not seconds or not sum(seconds) > 0:
        raise raw.error("mbw", f"there are no runs of {printed}")
    swapped = {"memcpy": "dumb", "dumb": "memcpy"}
    method = swapped[printed] if mbw.is_old(text) else printed
    metric = raw.find_metric(
        "mbw", f"memory.mbw.{method}.bandwidth", methods=[method]
    )
    rate = len(seconds) * size_mib * (1 << 20) / sum(seconds)
    return raw.RawOutput(
        workload="mbw",
        arguments={
            "size_mib": size_mib,
            "runs": len(seconds),
            "methods": [method],
        },
        repetitions=(raw.create_samples([metric], [rate]),),
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
_P95 = re.compile(
    r"^ *(?:95th percentile|approx\.  ?95 percentile): +([0-9.]{1,20})"
    r"(?:ms)?$",
    re.M,
)
_END = re.compile(r"^Threads fairness:\n(?:.*\n){0,1}.*execution time ", re.M)
#: Arguments of both tests, and those of the test of memory.
_THREADS = re.compile(r"^Number of threads: ([0-9]{1,6})$", re.M)
_PRIMES = re.compile(
    r"^(?:Prime numbers limit|Maximum prime number checked in CPU test): "
    r"([0-9]{1,9})$",
    re.M,
)
_BLOCK = re.compile(
    r"^ *(?:block size|Memory block size): ([0-9]{1,9})(Ki|Mi|K|M)?B?$",
    re.M | re.I,
)
_OPERATION = re.compile(
    r"^ *(?:operation|Memory operations type): (read|write)$", re.M
)


def read_sysbench(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate of sysbench's test of the processor or of memory."""
    seconds, events = _SECONDS.search(text), _EVENTS.search(text)
    if not (seconds and events and _END.search(text)):
        raise raw.error("sysbench", "the output is not complete")
    duration, number = float(seconds[1]), int(events[1])
    if not (duration > 0 and number):
        raise raw.error("sysbench", f"did nothing in {duration:g} s")
    threads = _THREADS.search(text)
    arguments: dict[str, t.Any] = (
        {"threads": int(threads[1])} if threads else {}
    )
    if primes := _PRIMES.search(text):
        p95 = _P95.search(text)
        latency = float(p95[1]) / 1000 if p95 else 0.0
        return [
            raw.RawOutput(
                workload="sysbench",
                arguments={**arguments, "max_prime": int(primes[1])},
                repetitions=(
                    raw.create_samples(
                        [sysbench.RATE, sysbench.LATENCY_P95],
                        [number / duration, latency or None],
                    ),
                ),
            )
        ]
    block, operation = _BLOCK.search(text), _OPERATION.search(text)
    if not (block and operation):
        raise raw.error("sysbench", "only the tests cpu and memory are read")
    factors = {"": 1, "k": 1 << 10, "m": 1 << 20}
    size = int(block[1]) * factors[(block[2] or "").lower()[:1]]
    name = operation[1]
    return [
        raw.RawOutput(
            workload="sysbench_memory",
            arguments={
                **arguments,
                "operations": [name],
                "block_kib": size / 1024,
            },
            repetitions=(
                raw.create_samples(
                    [
                        raw.find_metric(
                            "sysbench_memory",
                            f"memory.sysbench_memory.{name}.bandwidth",
                            operations=[name],
                        )
                    ],
                    [number * size / duration],
                ),
            ),
        )
    ]


_OPENSSL_SIZES = re.compile(r"^type +((?:[0-9]+ bytes *)+)$", re.M)
_OPENSSL_ROW = re.compile(
    r"^([A-Za-z][A-Za-z0-9 _/-]{1,40}?) +((?:[0-9.]+k ?)+)$", re.M
)
_OPENSSL_BLOCK = re.compile(r"^Got: \+H:([0-9]{1,20}) from 0$", re.M)


def read_openssl(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates of ``openssl speed``, by algorithm and block size."""
    header, block = _OPENSSL_SIZES.search(text), _OPENSSL_BLOCK.search(text)
    sizes = re.findall(r"([0-9]+) bytes", header[1]) if header else []
    if not sizes and block:
        sizes = [block[1]]
    results = []
    for name, row in _OPENSSL_ROW.findall(text):
        algorithm = name.strip().lower().replace(" ", "-")
        rates = re.findall(r"([0-9.]+)k", row)
        if len(rates) != len(sizes):
            continue
        results += [
            raw.RawOutput(
                workload="openssl",
                arguments={"algorithm": algorithm, "block_size": int(size)},
                repetitions=(
                    raw.create_samples([openssl.RATE], [float(rate) * 1000]),
                ),
                label=re.sub(r"[^a-z0-9_-]", "-", f"{algorithm}-{size}")[:32],
            )
            for size, rate in zip(sizes, rates, strict=True)
        ]
    if not results:
        raise raw.error(
            "openssl", "there is no table of bytes per second of its speed"
        )
    return results


_TIMED = re.compile(
    r"^.*?\b(?P<tool>bzip2|bunzip2|cp)\b(?P<words> .*)?\n(?:.*\n){0,5}?\n?"
    r"real\s+(?:(?P<minutes>[0-9]{1,6})m)?(?P<seconds>[0-9.]{1,12})s?$",
    re.M,
)
#: Command -> workload, metric.
_TIMES = {
    "compress": ("bzip2", "cpu.bzip2.compress_time"),
    "decompress": ("bzip2", "cpu.bzip2.decompress_time"),
    "copy": ("cp", "disk.cp.time"),
}


def read_time(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the wall time of bzip2 or cp that ``time`` printed."""
    results = []
    for match in _TIMED.finditer(text):
        words = (match["words"] or "").split()
        command = "copy" if match["tool"] == "cp" else "compress"
        is_reverse = match["tool"] == "bunzip2" or any(
            re.fullmatch("-[a-z0-9]*d[a-z0-9]*|--decompress", word)
            for word in words
        )
        if command == "compress" and is_reverse:
            command = "decompress"
        workload, name = _TIMES[command]
        seconds = 60 * int(match["minutes"] or 0) + float(match["seconds"])
        metric = sample.Metric(name, "s", "lower", additive=True)
        results.append(
            raw.RawOutput(
                workload=workload,
                arguments={},
                repetitions=(raw.create_samples([metric], [seconds]),),
            )
        )
    if not results:
        raise raw.error(
            "time", "there is no command of bzip2 or cp before its 'real'"
        )
    return results


def read_hepscore(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the score of HEPscore or HEP-SPEC06 in the suite's JSON."""
    report = disk.load_json("hepscore", text)
    profiles = report.get("profiles", report)
    results = []
    for workload, key in (("hepscore", "hepscore"), ("hepspec06", "hs06")):
        profile = profiles.get(key)
        if not isinstance(profile, dict) or "score" not in profile:
            continue
        if profile.get("status", "success") not in ("success", 0):
            raise raw.error(key, "did not succeed")
        metric = sample.Metric(f"application.{workload}.score", "1", "higher")
        results.append(
            raw.RawOutput(
                workload=workload,
                arguments={},
                repetitions=(
                    raw.create_samples([metric], [float(profile["score"])]),
                ),
            )
        )
    if not results:
        raise raw.error("hepscore", "there is no score in the JSON")
    return results


READERS = (
    raw.Reader(
        tool="unixbench",
        signature=re.compile(
            r"parallel cop(?:y|ies) of tests|BYTE UNIX Benchmarks", re.M
        ),
        read=read_unixbench,
        given={"copies": "number of copies; default: all in the report"},
    ),
    raw.Reader(
        tool="mbw",
        signature=re.compile(r"^(?:[0-9]+|AVG)\s+Method: ", re.M),
        read=read_mbw,
        given={"version": "version of mbw, such as 1.4"},
    ),
    raw.Reader(
        tool="sysbench",
        signature=re.compile(r"^sysbench [0-9.]+", re.M),
        read=read_sysbench,
    ),
    raw.Reader(
        tool="openssl",
        signature=re.compile(
            r"^Doing \S+ .* for [0-9]+s|in 1000s of bytes per second|"
            r"^Got: \+F:[0-9]+:",
            re.M,
        ),
        read=read_openssl,
    ),
    raw.Reader(
        tool="hepscore",
        signature=re.compile(r'"(?:hepscore|hs06)"\s*:\s*\{|"wl-scores"'),
        read=read_hepscore,
    ),
    raw.Reader(
        tool="time",
        signature=re.compile(r"^real\s+(?:[0-9]+m)?[0-9.]+s?$", re.M),
        read=read_time,
    ),
)
