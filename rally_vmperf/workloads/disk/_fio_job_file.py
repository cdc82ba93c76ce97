"""A job file of the operator for fio, with measured sections."""

import collections.abc
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads.disk import _fio_agreement
from rally_vmperf.workloads.disk import _fio_result

#: The name of the job file on machines.
NAME = "vmperf.fio"
#: Maximum number of bytes and lines of a file, and of characters of a line;
#: fio splits a line that exceeds its buffer of 4096 characters.
_LARGEST, _LINES, _LONGEST = 1 << 16, 1000, 1000

_SECTION = r"[a-z0-9][a-z0-9_-]{0,31}"
_HEADER = re.compile(rf"\[({_SECTION})\]")
_OPTION = re.compile(r"([a-z_]{1,40})(?:[ \t]*=[ \t]*([^ \t].*)?)?")

_FLAG = r"[01]?"
_COUNT = r"[0-9]{1,7}"
_BYTES = r"[1-9][0-9]{0,11}[kKmMgG]?"
#: Accepted keys and the patterns of their values.  They cannot refer to a
#: program, a device, a file outside the directory or an environment variable,
#: and cannot make a run endless.
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
#: Alternative names in fio.
_ALIASES = {"readwrite": "rw", "blocksize": "bs"}
#: Keys that are also arguments of the task.
_SHARED_KEYS = ("runtime", "ramp_time", "direct", "rate_iops")
#: Flags that every measured section has.
_REQUIRED_FLAGS = ("time_based", "group_reporting")
#: Arguments that apply to patterns and not to a job file.
_PATTERN_ARGUMENTS = (
    *("patterns", "read_percent", "block_size", "sequential_block_size"),
    *("depth", "jobs", "flush", "search_latency_us"),
)

ARGUMENTS: dict[str, t.Any] = {
    "job_file": schemas.text(
        "Absolute path of a job file of fio on the machine that runs "
        "rally-vmperf, instead of patterns; empty for none.",
        r"^(/[^\x00-\x1f\x7f]{1,1000})?$(?!\n)",
        default="",
    ),
    "sections": schemas.texts(
        "Measured sections of job_file with their sides: <section>.read or "
        "<section>.write.",
        rf"^(?!global|search\.|first_write\.){_SECTION}"
        r"\.(read|write)$(?!\n)",
    ),
}


def check_arguments(
    properties: collections.abc.Mapping[str, t.Any], arguments: base.Arguments
) -> None:
    """Reject arguments that cannot be combined with a job file.

    :param properties: The schema of each argument.
    :raises ValueError: For the first such argument.
    """
    if bool(arguments["job_file"]) != bool(arguments["sections"]):
        raise ValueError(
            "job_file and sections: either both or none of them must be set"
        )
    for key in _PATTERN_ARGUMENTS if arguments["job_file"] else ():
        if arguments[key] != properties[key]["default"]:
            raise ValueError(
                f"{key}={arguments[key]!r}: applies to patterns and not to "
                "job_file; use another workload entry for patterns"
            )


def section_names(arguments: base.Arguments) -> list[str]:
    """Return the names of the measured sections as an ordered list."""
    sections = (side.partition(".")[0] for side in arguments["sections"])
    return list(dict.fromkeys(sections))


def check(arguments: base.Arguments, content: bytes) -> None:
    """Reject a job file that is not allowed or contradicts the task.

    :raises base.WorkloadError: If a line, a key or a section is not valid.
    """
    sections = _parse_sections(content)
    required_bytes = 0
    for name in section_names(arguments):
        if name not in sections:
            available = ", ".join(key for key in sections if key != "global")
            raise base.WorkloadError(
                f"sections: job_file has no section {name!r}; available: "
                f"{available or 'none'}"
            )
        options = sections.get("global", {}) | sections[name]
        required_bytes += _check_section(name, options, arguments)
    if required_bytes > arguments["size_mib"] << 20:
        raise base.WorkloadError(
            f"size_mib={arguments['size_mib']}: must be >= "
            f"{-(-required_bytes >> 20)}, the size of the files in job_file"
        )


def _check_section(
    name: str,
    options: collections.abc.Mapping[str, str],
    arguments: base.Arguments,
) -> int:
    """Reject an invalid section; return the bytes of its files.

    :raises base.WorkloadError: If the section contradicts the arguments.
    """
    location = f"section {name}"
    for key in ("rw", "size"):
        if key not in options:
            raise _error(location, f"{key} is required")
    for key in _SHARED_KEYS:
        argument = arguments[key]
        if key in options and int(options[key] or 1) != argument:
            raise _error(
                f"{location}: {key}={options[key]}",
                f"must be equal to {key} in the task, {argument!r}; change or "
                "delete it",
            )
    for key in _REQUIRED_FLAGS:
        if options.get(key) == "0":
            raise _error(
                f"{location}: {key}=0",
                "must be 1, because a measurement has a fixed duration and "
                "includes all processes; delete it",
            )
    pattern = options["rw"].removeprefix("rand")
    for measured_side in arguments["sections"]:
        section, _, side = measured_side.partition(".")
        if section == name and pattern not in (side, "rw", "readwrite"):
            raise base.WorkloadError(
                f"sections: {measured_side}: section {name} has no {side}s, "
                f"because it has rw={options['rw']}"
            )
    size = _parse_size(options["size"])
    blocks = options.get("bs", "4k").split(",")
    if max(map(_parse_size, blocks)) > size:
        raise _error(location, "bs must be at most size")
    return size * int(options.get("numjobs", "1"))


def _parse_sections(content: bytes) -> dict[str, dict[str, str]]:
    """Return a job file's options as one dict per section name.

    A line is empty, a comment, a section or an option; lines that fio could
    interpret in another way are rejected.
    """
    try:
        lines = content.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise base.WorkloadError(
            "job_file: must contain only ASCII characters"
        ) from None
    if len(content) > _LARGEST or len(lines) > _LINES:
        raise base.WorkloadError(
            f"job_file: has {len(content)} B and {len(lines)} lines; the "
            f"maximum is {_LARGEST} B and {_LINES} lines"
        )
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] | None = None
    for line_number, raw_line in enumerate(lines, 1):
        line = raw_line.removesuffix("\r").strip(" \t")
        location = f"line {line_number}"
        is_printable = line.replace("\t", " ").isprintable()
        if len(raw_line) > _LONGEST or not is_printable:
            raise _error(
                location,
                f"must have at most {_LONGEST} characters, all of them "
                "printable",
            )
        if not line or line[0] in ";#":
            continue
        if header := _HEADER.fullmatch(line):
            name = header[1]
            if name in sections:
                raise _error(location, f"duplicate [{name}]")
            if name.startswith("global") and (name != "global" or sections):
                raise _error(
                    f"{location}: [{name}]",
                    "only one [global], before all other sections, is allowed",
                )
            section = sections[name] = {}
            continue
        if section is None:
            raise _error(location, "must be in a section")
        key, value = _parse_option(line, location)
        if key in section:
            raise _error(location, f"duplicate {key}")
        section[key] = value
    return sections


def _error(location: str, problem: str) -> base.WorkloadError:
    """Return a WorkloadError that describes a problem of a job file."""
    return base.WorkloadError(f"job_file: {location}: {problem}")


def _parse_option(line: str, location: str) -> tuple[str, str]:
    """Check a line; return the key and the value of its option as texts."""
    option = _OPTION.fullmatch(line)
    if option is None:
        raise _error(
            location,
            f"{sanitize.line(line, 60)!r} is not a valid option, section or "
            "comment",
        )
    key, setting = option[1], option[2] or ""
    key = _ALIASES.get(key, key)
    if key not in _KEYS:
        raise _error(
            location,
            f"{option[1]} is not an accepted option, because it does not only "
            "define how files in the working directory are read and written; "
            "delete it",
        )
    if not re.fullmatch(_KEYS[key], setting) or setting == NAME:
        raise _error(
            f"{location}: {option[1]}={sanitize.line(setting, 60)!r}",
            "is not an accepted value; the accepted ones are in the "
            "documentation of the workload",
        )
    return key, setting


def prepare(arguments: base.Arguments) -> base.Command:
    """Return the Command that creates the files of all sections."""
    sections = (f"--section={name}" for name in section_names(arguments))
    argv = ("fio", *sections, "--create_only=1", *_options(arguments), NAME)
    timeout = 120 + arguments["size_mib"]
    return base.Command(name="layout", argv=argv, timeout=timeout)


def command(section: str, arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line words that measure a section.

    Options before the file are defaults of the file.
    """
    return (
        *("fio", f"--section={section}"),
        *_options(arguments),
        _fio_result.PERCENTILES,
        NAME,
    )


def _options(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the fio options that apply to all sections, as words."""
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
    """Return the metric definitions of each measured side."""
    return tuple(
        metric
        for side in arguments["sections"]
        for metric in _fio_result.metrics(side)
    )


def parse(
    section: str, text: str, arguments: base.Arguments
) -> list[sample.Reading]:
    """Return the samples and latency distributions of a section.

    :raises base.WorkloadError: If fio reports another job.
    """
    options = _reported_options(document.Document.parse_single(text, "fio"))
    # A job file may set these options, and the depth is 1 by default.
    file_options = (
        f"--{key}={setting}"
        for key, setting in options.items()
        if _is_permitted(key, setting, arguments)
    )
    argv = (*command(section, arguments), *file_options)
    readings: list[sample.Reading] = []
    for side in arguments["sections"]:
        if side.partition(".")[0] == section:
            _fio_agreement.check(side, text, argv)
            readings += _fio_result.parse(side, text, arguments["runtime"])
            readings.append(_fio_result.parse_latencies(side, text))
    return readings


def _reported_options(report: document.Document) -> dict[str, str]:
    """Return the options that fio reports as texts by key."""
    options = {
        **report.mapping("global options"),
        **report.mapping("jobs", 0, "job options"),
    }
    return {key: str(setting) for key, setting in options.items()}


def _is_permitted(key: str, setting: str, arguments: base.Arguments) -> bool:
    """Return whether an accepted job file can have set an option."""
    if key not in _KEYS or not re.fullmatch(_KEYS[key], setting):
        return False
    if key in _SHARED_KEYS:
        return int(setting or 1) == arguments[key]
    return key not in _REQUIRED_FLAGS or setting != "0"


def _parse_size(size: str) -> int:
    """Convert a size of fio, such as ``4k``, into bytes."""
    shift = {"k": 10, "m": 20, "g": 30}.get(size[-1].lower())
    return int(size) if shift is None else int(size[:-1]) << shift
