"""A job file of the operator's for fio, of which each section is measured."""

import collections.abc
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads.disk import _fio_agreement
from rally_vmperf.workloads.disk import _fio_result

#: What it is called on machines.
NAME = "vmperf.fio"
#: Bytes and lines that a file may have, and characters of a line: fio takes
#: what is beyond its buffer of 4096 for another line.
_LARGEST, _LINES, _LONGEST = 1 << 16, 1000, 1000

_SECTION = r"[a-z0-9][a-z0-9_-]{0,31}"
_HEADER = re.compile(rf"\[({_SECTION})\]")
_OPTION = re.compile(r"([a-z_]{1,40})(?:[ \t]*=[ \t]*([^ \t].*)?)?")

_FLAG = r"[01]?"
_COUNT = r"[0-9]{1,7}"
_BYTES = r"[1-9][0-9]{0,11}[kKmMgG]?"
#: Every key that is taken, and what its value looks like.  None of them names
#: a program, a device or a file outside the folder, none reads a variable of
#: the environment, and none makes a run endless.
_KEYS: dict[str, str] = {
    "rw": r"(rand)?(read|write)|(rand)?rw|readwrite",
    "bs": rf"{_BYTES}(,{_BYTES}){{0,2}}",
    "bssplit": r"[0-9kKmM/:,]{1,200}",
    "size": _BYTES,
    "filename": r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}",
    "ioengine": "libaio|io_uring|posixaio",
    "iodepth": r"[1-9][0-9]{0,2}|10[01][0-9]|102[0-4]",
    "numjobs": r"[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-6]",
    "nrfiles": r"[1-9][0-9]{0,2}",
    "random_distribution": r"random|(zipf|pareto|normal)(:[0-9.]{1,12})?",
    "random_generator": "tausworthe|tausworthe64|lfsr",
    "fallocate": "none|native|posix|keep",
    "description": r"[A-Za-z0-9 ,._()/-]{0,200}",
    "runtime": _COUNT,
    "ramp_time": _COUNT,
    **dict.fromkeys(("direct", "time_based", "group_reporting"), _FLAG),
    **dict.fromkeys(("overwrite", "refill_buffers", "end_fsync"), _FLAG),
    **dict.fromkeys(("scramble_buffers", "zero_buffers", "thread"), _FLAG),
    **dict.fromkeys(("norandommap", "randrepeat", "invalidate"), _FLAG),
    **dict.fromkeys(("stonewall", "wait_for_previous"), _FLAG),
    **dict.fromkeys(("fsync", "fdatasync", "rate_iops", "randseed"), _COUNT),
    **dict.fromkeys(("iodepth_batch", "iodepth_low"), _COUNT),
    **dict.fromkeys(("iodepth_batch_submit", "thinktime"), _COUNT),
    **dict.fromkeys(("iodepth_batch_complete",), _COUNT),
    **dict.fromkeys(("rwmixread", "rwmixwrite"), r"[0-9]{1,2}|100"),
    **dict.fromkeys(("percentage_random",), r"[0-9]{1,2}|100"),
    **dict.fromkeys(("dedupe_percentage",), r"[0-9]{1,2}|100"),
    **dict.fromkeys(("buffer_compress_percentage",), r"[0-9]{1,2}|100"),
}
#: Other names of the same in fio.
_ALIASES = {"readwrite": "rw", "blocksize": "bs"}
#: Keys that are the task's arguments as well.
_AGREED = ("runtime", "ramp_time", "direct", "rate_iops")
#: Arguments that are for patterns, and not for a file.
_OF_PATTERNS = (
    *("patterns", "read_percent", "block_size", "sequential_block_size"),
    *("depth", "jobs", "flush", "search_latency_us"),
)

ARGUMENTS: dict[str, t.Any] = {
    "job_file": {
        "type": "string",
        "description": "Job file of fio on the machine that runs this, an "
        "absolute path, in place of patterns; empty for none.",
        "pattern": r"^(/[^\x00-\x1f\x7f]{1,1000})?$(?!\n)",
        "default": "",
    },
    "sections": {
        "type": "array",
        "description": "Sections of job_file that are measured, each with "
        "its side: <section>.read or <section>.write.",
        "items": {
            "type": "string",
            "pattern": rf"^(?!global|search\.|first_write\.){_SECTION}"
            r"\.(read|write)$(?!\n)",
        },
        "maxItems": 32,
        "uniqueItems": True,
        "default": [],
    },
}


def refuse_others(
    properties: collections.abc.Mapping[str, t.Any], arguments: base.Arguments
) -> None:
    """Refuse arguments that a job file does not go with.

    :param properties: the schema of each argument
    :raises base.WorkloadError: naming the first
    """
    if bool(arguments["job_file"]) != bool(arguments["sections"]):
        raise base.WorkloadError(
            "workload fio: job_file and sections are given together: which "
            "file, and what of it is measured"
        )
    for key in _OF_PATTERNS if arguments["job_file"] else ():
        if arguments[key] != properties[key]["default"]:
            raise base.WorkloadError(
                f"workload fio: {key}: {arguments[key]!r} is for patterns, "
                "not for a job_file; give these an entry of their own"
            )


def names(arguments: base.Arguments) -> list[str]:
    """Return the sections that are measured, in their order."""
    sections = (one.partition(".")[0] for one in arguments["sections"])
    return list(dict.fromkeys(sections))


def check(arguments: base.Arguments, content: bytes) -> None:
    """Refuse a job file that does what a task must not, or is not told.

    :raises base.WorkloadError: naming the line and the key, or what is
        missing
    """
    found = _parse(content)
    needed = 0
    for name in names(arguments):
        if name not in found:
            there_are = ", ".join(n for n in found if n != "global") or "none"
            raise base.WorkloadError(
                f"sections: job_file has no section {name!r}; there are: "
                f"{there_are}"
            )
        options = found.get("global", {}) | found[name]
        needed += _check_section(name, options, arguments)
    if needed > arguments["size_mib"] << 20:
        raise base.WorkloadError(
            f"job_file: the files of its sections take {-(-needed >> 20)} "
            f"MiB, more than size_mib: {arguments['size_mib']}; raise that"
        )


def _check_section(
    name: str,
    options: collections.abc.Mapping[str, str],
    arguments: base.Arguments,
) -> int:
    """Return the bytes of a section's files.

    :raises base.WorkloadError: for what does not agree with the arguments
    """
    for key in ("rw", "size"):
        if key not in options:
            raise base.WorkloadError(
                f"job_file: section {name} does not say {key}"
            )
    for key in _AGREED:
        value = arguments[key]
        if key in options and int(options[key] or 1) != value:
            raise base.WorkloadError(
                f"job_file: {key}={options[key]} of section {name} is not "
                f"the task's {key}: {value!r}; say the same, or delete "
                "it from the file"
            )
    for key in ("time_based", "group_reporting"):
        if options.get(key) == "0":
            raise base.WorkloadError(
                f"job_file: {key}=0 of section {name}: what is measured is "
                "of a time and of all its processes; delete it"
            )
    pattern = options["rw"].removeprefix("rand")
    for one in arguments["sections"]:
        section, _, side = one.partition(".")
        if section == name and pattern not in (side, "rw", "readwrite"):
            raise base.WorkloadError(
                f"sections: {one}: section {name} has rw={options['rw']}, "
                f"which has no {side}s"
            )
    size = _bytes(options["size"])
    blocks = options.get("bs", "4k").split(",")
    if max(map(_bytes, blocks)) > size:
        raise base.WorkloadError(
            f"job_file: section {name} has a bs beyond its size"
        )
    return size * int(options.get("numjobs", "1"))


def _parse(content: bytes) -> dict[str, dict[str, str]]:
    """Return the options of each section.

    Each line is one of four: empty, a comment, a section, an option; what
    fio could read in another way is refused.
    """
    try:
        lines = content.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise base.WorkloadError(
            "job_file: has characters beyond ASCII"
        ) from None
    if len(content) > _LARGEST or len(lines) > _LINES:
        raise base.WorkloadError(
            f"job_file: {len(content)} B in {len(lines)} lines are more than "
            f"{_LARGEST} B or {_LINES} lines"
        )
    found: dict[str, dict[str, str]] = {}
    section: dict[str, str] | None = None
    for number, raw in enumerate(lines, 1):
        line = raw.removesuffix("\r").strip(" \t")
        if len(raw) > _LONGEST or not line.replace("\t", " ").isprintable():
            raise base.WorkloadError(
                f"job_file: line {number} has more than {_LONGEST} "
                "characters, or some that are not printed"
            )
        if not line or line[0] in ";#":
            continue
        if header := _HEADER.fullmatch(line):
            name = header[1]
            if name in found:
                raise base.WorkloadError(
                    f"job_file: line {number}: second [{name}]"
                )
            if name.startswith("global") and (name != "global" or found):
                raise base.WorkloadError(
                    f"job_file: line {number}: [{name}]; there is one "
                    "[global], before all others"
                )
            section = found[name] = {}
            continue
        if section is None:
            raise base.WorkloadError(
                f"job_file: line {number} is before any section"
            )
        key, value = _option(line, number)
        if key in section:
            raise base.WorkloadError(f"job_file: line {number}: second {key}")
        section[key] = value
    return found


def _option(line: str, number: int) -> tuple[str, str]:
    """Return key and value of a line that has an option."""
    where = f"job_file: line {number}"
    option = _OPTION.fullmatch(line)
    if option is None:
        raise base.WorkloadError(
            f"{where}: {sanitize.line(line, 60)!r} is no option, no section "
            "and no comment"
        )
    key, value = option[1], option[2] or ""
    key = _ALIASES.get(key, key)
    if key not in _KEYS:
        raise base.WorkloadError(
            f"{where}: {option[1]} is not taken, only what says how the "
            "files of its own folder are read and written; delete it"
        )
    if not re.fullmatch(_KEYS[key], value) or value == NAME:
        raise base.WorkloadError(
            f"{where}: {option[1]}={sanitize.line(value, 60)!r} is not "
            "taken; the page of the workload says what is"
        )
    return key, value


def prepare(arguments: base.Arguments) -> base.Command:
    """Return the command that lays out the files of all sections."""
    sections = (f"--section={name}" for name in names(arguments))
    argv = ("fio", *sections, "--create_only=1", *_options(arguments), NAME)
    timeout = 120 + arguments["size_mib"]
    return base.Command(name="layout", argv=argv, timeout=timeout)


def command(section: str, arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line that measures a section.

    Options before the file are those that it does not say itself.
    """
    return (
        *("fio", f"--section={section}"),
        *_options(arguments),
        _fio_result.PERCENTILES,
        NAME,
    )


def _options(arguments: base.Arguments) -> tuple[str, ...]:
    rate = arguments["rate_iops"]
    return (
        *base.argv(
            "--eta=never --output-format=json+ --ioengine=libaio "
            "--direct={direct:d} --time_based --runtime={runtime} "
            "--ramp_time={ramp_time} --randseed=1 --overwrite=1 "
            "--group_reporting",
            arguments,
        ),
        *([f"--rate_iops={rate}"] if rate else []),
    )


def metrics(arguments: base.Arguments) -> tuple[sample.Metric, ...]:
    """Return rates and latencies of each side of a section."""
    return tuple(
        metric
        for side in arguments["sections"]
        for metric in _fio_result.metrics(side)
    )


def read(
    section: str, text: str, arguments: base.Arguments
) -> list[sample.Reading]:
    """Return rates and latencies of the sides of a section.

    :raises base.WorkloadError: when fio reports another job, or other
        figures than its own counts give
    """
    told = _options_told(document.Document.only(text, "fio"))
    argv = (
        *command(section, arguments),
        *(f"--{key}={_count(key, told)}" for key in ("iodepth", "numjobs")),
    )
    block = told.get("bs", told.get("blocksize", "4k"))
    of_one_size = re.fullmatch(_BYTES, block) and "bssplit" not in told
    found: list[sample.Reading] = []
    for side in arguments["sections"]:
        if side.partition(".")[0] == section:
            size = _bytes(block) if of_one_size else None
            _fio_agreement.check(side, text, argv, size)
            found += _fio_result.read(side, text, arguments["runtime"])
            found.append(_fio_result.latencies(side, text))
    return found


def _options_told(report: document.Document) -> dict[str, str]:
    """Return the options that fio says it ran with."""
    found: dict[str, str] = {}
    for where in (("global options",), ("jobs", 0, "job options")):
        options = report.find(*where)
        if isinstance(options, dict):
            found.update((key, str(value)) for key, value in options.items())
    return found


def _count(key: str, told: collections.abc.Mapping[str, str]) -> int:
    value = told.get(key, "1")
    if not re.fullmatch(_KEYS[key], value):
        raise base.WorkloadError(
            f"fio: ran with {key}={sanitize.line(value, 60)}, which no job "
            "file may say; look at the raw output"
        )
    return int(value)


def _bytes(size: str) -> int:
    """Return the bytes of a size as fio takes it, by powers of 1024."""
    shift = {"k": 10, "m": 20, "g": 30}.get(size[-1].lower())
    return int(size) if shift is None else int(size[:-1]) << shift
