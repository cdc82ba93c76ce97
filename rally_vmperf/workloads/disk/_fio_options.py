# SPDX-License-Identifier: Apache-2.0
"""The options of fio that an output states."""

import re
import typing as t

from rally_vmperf.workloads import options
from rally_vmperf.workloads.disk import _fio_job_file


def _condition(
    *names: str,
    argument: str = "",
    default: str | None = None,
    parse: options.Parse = str,
) -> options.Option:
    """Return an option that changes what is measured."""
    return options.Option(
        names=names, argument=argument, default=default, parse=parse
    )


def _format_size(text: str) -> str:
    """Return a size in its shortest form, as fio reads it by default.

    Suffixes are not case-sensitive, and ``KiB`` is 1000 bytes, in contrast to
    ``K``, ``KB`` and ``Ki`` (kb_base=1024).
    """
    match = re.fullmatch(r"([0-9]{1,15})([kmgt])ib", text.lower())
    if match is None:
        return options.format_size(text)
    power = "kmgt".index(match[2]) + 1
    return options.shorten_size(int(match[1]) * 1000**power)


def _format_sizes(text: str) -> str:
    """Return the sizes of reads, writes and trims in their shortest forms.

    Each can be a range. Equal ones are one, which applies to all of them.
    """
    sizes = [
        "-".join(map(_format_size, part.split("-")))
        for part in text.split(",")
    ]
    return sizes[0] if len({*sizes}) == 1 else ",".join(sizes)


def _classify_files(text: str) -> str:
    """Return the class of each file of a job.

    Two devices are faster than one.
    """
    paths = filter(None, text.split(":"))
    return ", ".join(sorted(map(options.classify_path, paths)))


def _invert_flag(text: str) -> bool:
    """Return the opposite of a truth value, as of ``buffered``."""
    return not options.parse_flag(text)


def _complement(text: str) -> t.Any:
    """Return the share of reads in percent, from that of writes."""
    return 100 - int(text) if text.isdecimal() else text


#: The units of times -> milliseconds.
_MILLISECONDS = {
    **{"": 1000, "ms": 1, "s": 1000, "m": 60000},
    **{"h": 3600000, "d": 86400000},
}


def _parse_seconds(text: str) -> t.Any:
    """Return a time in seconds; the text if it has another unit."""
    match = re.fullmatch(r"([0-9]{1,12})(ms|[smhd]?)", text.lower())
    if match is None:
        return text
    milliseconds = int(match[1]) * _MILLISECONDS[match[2]]
    seconds, rest = divmod(milliseconds, 1000)
    return milliseconds / 1000 if rest else seconds


#: The largest number of characters in a list of processors.
_MAX_LIST = 1000


def _count_cpus(text: str) -> t.Any:
    """Return the number of processors in a list such as ``0-3,8``.

    Their numbers differ between machines. Another text is returned as it is.
    """
    if len(text) > _MAX_LIST:
        return text
    ranges = [
        re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part.strip())
        for part in text.split(",")
    ]
    if not all(ranges):
        return text
    return len(
        {
            cpu
            for match in ranges
            if match
            for cpu in range(int(match[1]), int(match[2] or match[1]) + 1)
        }
    )


_VALUES = (
    _condition("rw", "readwrite", argument="pattern"),
    _condition(
        "bs",
        "blocksize",
        argument="block_size",
        default="4k",
        parse=_format_sizes,
    ),
    _condition(
        "bsrange",
        "blocksize_range",
        argument="block_size",
        parse=_format_sizes,
    ),
    _condition(
        "iodepth", argument="depth", default="1", parse=options.parse_number
    ),
    _condition(
        "numjobs", argument="jobs", default="1", parse=options.parse_number
    ),
    _condition(
        "direct", argument="direct", default="0", parse=options.parse_flag
    ),
    _condition("buffered", argument="direct", parse=_invert_flag),
    _condition("ioengine", argument="ioengine", default="psync"),
    _condition(
        "runtime", argument="runtime", default="0", parse=_parse_seconds
    ),
    _condition(
        "size", argument="size_mib", default="0", parse=options.parse_mib
    ),
    _condition(
        "rwmixread",
        argument="read_percent",
        default="50",
        parse=options.parse_number,
    ),
    _condition("rwmixwrite", argument="read_percent", parse=_complement),
    _condition("fsync", argument="fsync", default="0"),
    _condition("fdatasync", argument="fdatasync", default="0"),
    _condition("sync", argument="sync", default="0"),
    _condition("rate", argument="rate", default="0", parse=_format_sizes),
    _condition(
        "rate_iops",
        argument="rate_iops",
        default="0",
        parse=options.parse_number,
    ),
    _condition(
        "rate_process",
        argument="arrivals",
        default="linear",
        parse=lambda text: "regular" if text == "linear" else text,
    ),
    _condition("thinktime", argument="thinktime", default="0"),
    _condition(
        "cpus_allowed", argument="cpus", default="all", parse=_count_cpus
    ),
)
#: Options that are compared as text -> their defaults.
_OTHERS = {
    "cpumask": "0",
    "cpus_allowed_policy": "shared",
    "end_fsync": "0",
    "fsync_on_close": "0",
    "fallocate": "native",
    "invalidate": "1",
    "io_size": "0",
    "ioscheduler": "",
    "loops": "1",
    "nrfiles": "1",
    "numa_cpu_nodes": "all",
    "numa_mem_policy": "default",
    "offset": "0",
    "overwrite": "0",
    "ramp_time": "0",
    "random_distribution": "random",
    "randrepeat": "1",
    "refill_buffers": "0",
    "startdelay": "0",
    "thinktime_blocks": "1",
    "unified_rw_reporting": "0",
    "zero_buffers": "0",
}
#: The options among them whose values have units.
_PARSERS: dict[str, options.Parse] = {
    "io_size": _format_size,
    "offset": _format_size,
    "ramp_time": _parse_seconds,
    "startdelay": _parse_seconds,
}
_NAMES = (
    *("name", "description", "filename_format", "unique_filename", "opendir"),
    *(
        "write_*_log",
        "log_*",
        "per_job_logs",
        "output*",
        "eta*",
        "status-interval",
        "wait_for*",
    ),
    *("disable_*", "clat_percentiles", "lat_percentiles", "slat_percentiles"),
    *("percentile_list", "unlink*", "create_*", "exitall_*", "randseed"),
    *("allrandrepeat", "terse-version", "client", "section"),
    *("gtod_reduce", "json*", "allow_file_create", "allow_mounted_write"),
)
#: Options without a value, which outputs lack.
_FLAGS = ("time_based", "stonewall", "new_group", "thread")

TABLE = options.OptionTable(
    options=(
        *_VALUES,
        *(
            _condition(name, default=default, parse=_PARSERS.get(name, str))
            for name, default in _OTHERS.items()
        ),
        options.Option(names=("norandommap",), default="0", has_value=False),
        options.Option(
            names=("filename", "directory"),
            argument="place",
            default="file",
            kind="place",
            parse=_classify_files,
        ),
        options.Option(names=_NAMES, kind="name"),
        *options.name_options(
            "group_reporting", "minimal", "exitall", has_value=False
        ),
        *(
            options.Option(names=(name,), kind="flag", has_value=False)
            for name in _FLAGS
        ),
    ),
    lists_since=(3,),
    in_files=_fio_job_file.KEY,
)
