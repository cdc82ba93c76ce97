"""A job file of the operator for fio, with measured sections."""

import collections.abc
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
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
#: Arguments that apply to patterns and not to a job file.
_PATTERN_ARGUMENTS = (
    *("patterns", "read_percent", "block_size", "sequential_block_size"),
    *("depth", "jobs", "flush", "search_latency_us"),
)

ARGUMENTS: dict[str, t.Any] = {
    "job_file": {
        "type": "string",
        "description": "Absolute path of a job file of fio on the machine "
        "that runs rally-vmperf, instead of patterns; empty for none.",
        "pattern": r"^(/[^\x00-\x1f\x7f]{1,1000})?$(?!\n)",
        "default": "",
    },
    "sections": {
        "type": "array",
        "description": "Measured sections of job_file with their sides: "
        "<section>.read or <section>.write.",
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


def check_arguments(
    properties: collections.abc.Mapping[str, t.Any], arguments: base.Arguments
) -> None:
    """Reject arguments that cannot be combined with a job file.

    :param properties: The schema of each argument.
    :raises base.WorkloadError: For the first such argument.
    """
    if bool(arguments["job_file"]) != bool(arguments["sections"]):
        raise base.WorkloadError(
            "workload fio: job_file and sections: either both or none of "
            "them must be set"
        )
    for key in _PATTERN_ARGUMENTS if arguments["job_file"] else ():
        if arguments[key] != properties[key]["default"]:
            raise base.WorkloadError(
                f"workload fio: {key}={arguments[key]!r}: applies to "
                "patterns and not to job_file; use another workload entry "
                "for patterns"
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
            available = (
                ", ".join(
                    section for section in sections if section != "global"
                )
                or "none"
            )
            raise base.WorkloadError(
                f"sections: job_file has no section {name!r}; available: "
                f"{available}"
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
    for key in ("rw", "size"):
        if key not in options:
            raise base.WorkloadError(
                f"job_file: section {name}: {key} is required"
            )
    for key in _SHARED_KEYS:
        argument = arguments[key]
        if key in options and int(options[key] or 1) != argument:
            raise base.WorkloadError(
                f"job_file: section {name}: {key}={options[key]}: must be "
                f"equal to {key} in the task, {argument!r}; change or delete "
                "it"
            )
    for key in ("time_based", "group_reporting"):
        if options.get(key) == "0":
            raise base.WorkloadError(
                f"job_file: section {name}: {key}=0: must be 1, because a "
                "measurement has a fixed duration and includes all "
                "processes; delete it"
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
        raise base.WorkloadError(
            f"job_file: section {name}: bs must be at most size"
        )
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
        if (
            len(raw_line) > _LONGEST
            or not line.replace("\t", " ").isprintable()
        ):
            raise base.WorkloadError(
                f"job_file: line {line_number}: must have at most {_LONGEST} "
                "characters, all of them printable"
            )
        if not line or line[0] in ";#":
            continue
        if header := _HEADER.fullmatch(line):
            name = header[1]
            if name in sections:
                raise base.WorkloadError(
                    f"job_file: line {line_number}: duplicate [{name}]"
                )
            if name.startswith("global") and (name != "global" or sections):
                raise base.WorkloadError(
                    f"job_file: line {line_number}: [{name}]: only one "
                    "[global], before all other sections, is allowed"
                )
            section = sections[name] = {}
            continue
        if section is None:
            raise base.WorkloadError(
                f"job_file: line {line_number}: must be in a section"
            )
        key, value = _parse_option(line, line_number)
        if key in section:
            raise base.WorkloadError(
                f"job_file: line {line_number}: duplicate {key}"
            )
        section[key] = value
    return sections


def _parse_option(line: str, line_number: int) -> tuple[str, str]:
    """Check a line; return the key and the value of its option as texts."""
    location = f"job_file: line {line_number}"
    option = _OPTION.fullmatch(line)
    if option is None:
        raise base.WorkloadError(
            f"{location}: {sanitize.line(line, 60)!r} is not a valid option, "
            "section or comment"
        )
    key, setting = option[1], option[2] or ""
    key = _ALIASES.get(key, key)
    if key not in _KEYS:
        raise base.WorkloadError(
            f"{location}: {option[1]} is not an accepted option, because it "
            "does not only define how files in the working directory are "
            "read and written; delete it"
        )
    if not re.fullmatch(_KEYS[key], setting) or setting == NAME:
        raise base.WorkloadError(
            f"{location}: {option[1]}={sanitize.line(setting, 60)!r}: is not "
            "an accepted value; the accepted ones are in the documentation "
            "of the workload"
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

    :raises base.WorkloadError: If fio reports another job, or its figures
        contradict its counts.
    """
    options = _reported_options(document.Document.parse_single(text, "fio"))
    argv = (
        *command(section, arguments),
        *(
            f"--{key}={_parse_count(key, options)}"
            for key in ("iodepth", "numjobs")
        ),
    )
    block = options.get("bs", options.get("blocksize", "4k"))
    is_fixed_size = re.fullmatch(_BYTES, block) and "bssplit" not in options
    readings: list[sample.Reading] = []
    for side in arguments["sections"]:
        if side.partition(".")[0] == section:
            size = _parse_size(block) if is_fixed_size else None
            _fio_agreement.check(side, text, argv, size)
            readings += _fio_result.parse(side, text, arguments["runtime"])
            readings.append(_fio_result.parse_latencies(side, text))
    return readings


def _reported_options(report: document.Document) -> dict[str, str]:
    """Return the options that fio reports as texts by key."""
    settings: dict[str, str] = {}
    for path in (("global options",), ("jobs", 0, "job options")):
        options = report.find(*path)
        if isinstance(options, dict):
            settings.update(
                (key, str(setting)) for key, setting in options.items()
            )
    return settings


def _parse_count(key: str, options: collections.abc.Mapping[str, str]) -> int:
    """Return an option as an integer; 1 if fio does not report it."""
    count = options.get(key, "1")
    if not re.fullmatch(_KEYS[key], count):
        raise base.WorkloadError(
            f"fio: ran with {key}={sanitize.line(count, 60)}, which is not "
            "an accepted value; look at the raw output"
        )
    return int(count)


def _parse_size(size: str) -> int:
    """Convert a size of fio, such as ``4k``, into bytes."""
    shift = {"k": 10, "m": 20, "g": 30}.get(size[-1].lower())
    return int(size) if shift is None else int(size[:-1]) << shift
