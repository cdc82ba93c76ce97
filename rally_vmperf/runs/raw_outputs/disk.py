# SPDX-License-Identifier: Apache-2.0
"""Outputs of dd and iozone."""

import collections.abc
import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import options
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.disk import dd

_DD_COMMAND = re.compile(
    r"^(.*[ #$])?dd((?: [a-z]{1,9}=\S{1,200})+) *(?:[;|&2].*)?$", re.M
)
#: The counts and the summary, or a summary alone.
_DD_SUMMARY = re.compile(
    r"^ *+(?:(?P<read>[0-9]{1,15})\+[01] records in\n"
    r" *(?P<wrote>[0-9]{1,15})\+[01] records out\n"
    r"(?: *[0-9]{1,15} truncated records?\n)?)?"
    r" *(?P<bytes>[0-9]{1,20}) bytes? ?(?:\([^()\n]{1,60}\) ?)?"
    r"(?:copied|transferred in),? ?"
    r"(?P<seconds>[0-9.]{1,20}(?:e-[0-9]{2})?) "
    r"s(?:ec(?:ond)?s?)?\b.*$",
    re.M,
)
_DD_RECORDS = re.compile(r"^ *[0-9]{1,15}\+[0-9] records out$", re.M)
_DD_ERROR = re.compile(r"^dd: ((?:error|failed|writing|reading).*)$", re.M)
#: Records and summaries in another language, and decimal commas.
_DD_FOREIGN = re.compile(
    r"^ *[0-9]{1,15}\+[01](?! records (?:in|out)$)[^\n]{0,3}[^\W\d_]"
    r"|^ *(?:记录了|[0-9]{1,15} ?(?!bytes? )[^\W\d_]{2,20} .*/s$)"
    r"|[0-9],[0-9]+ s, ",
    re.M,
)
#: A summary that begins behind other text.
_DD_PRECEDED = re.compile(r"[0-9]\+[01] records (?:in|out)$| copied, ", re.M)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SUFFIXES = {
    **{"": 1, "c": 1, "w": 2, "b": 512},
    **{letter: 1 << 10 * n for n, letter in enumerate("kMGT", 1)},
    **{f"{letter}B": 1000**n for n, letter in enumerate(("k", "M", "G"), 1)},
    **{f"{letter}iB": 1 << 10 * n for n, letter in enumerate("KMG", 1)},
    "K": 1 << 10,
    # Of BSD and macOS.
    **{letter: 1 << 10 * n for n, letter in enumerate("mgt", 2)},
}
_SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")
_SINKS = ("/dev/null", "/dev/zero")


def read_dd(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates in dd's summaries, each of which is a repetition."""
    # Web pages and notes have empty lines between the lines.
    text = _EMPTY_LINES.sub("\n", text)
    if failure := _DD_ERROR.search(text):
        raise raw.error("dd", f"failed: {failure[1]}")
    commands = {
        (*command.split(), *options.find_launchers(head))
        for head, command in _DD_COMMAND.findall(text)
    }
    if len(commands) > 1:
        raise raw.error(
            "dd",
            f"{len(commands)} different command lines are in one output; "
            "give each its own file",
        )
    operands = dict(
        word.partition("=")[::2] for command in commands for word in command
    )
    summaries = list(_DD_SUMMARY.finditer(text))
    if _DD_RECORDS.search(text):
        # The others are progress.
        summaries = [summary for summary in summaries if summary["wrote"]]
    if not summaries:
        raise raw.error("dd", _explain_missing(text))
    raw.check_given("dd", given, "direction", dd.DIRECTIONS)
    direction = given.get("direction") or _find_direction(operands)
    _check_summaries(summaries)
    copied = int(summaries[0]["bytes"])
    arguments = _read_dd_arguments(operands, direction)
    block, count = _parse_size(operands.get("bs", "")), arguments.get("count")
    size = block * count if block and count else 0
    if count == copied and block and _counts_bytes(operands):
        size = copied
        arguments["count"] = -(-copied // block)
    metric = raw.find_metric(
        "dd", f"disk.dd.{direction}.bandwidth", directions=[direction]
    )
    return [
        raw.RawOutput(
            workload="dd",
            arguments={
                "directions": [direction],
                "bytes": copied,
                **arguments,
            },
            repetitions=tuple(
                raw.create_samples({metric: _compute_rate(summary, size)})
                for summary in summaries
            ),
        )
    ]


def _check_summaries(
    summaries: collections.abc.Sequence[re.Match[str]],
) -> None:
    """Reject summaries that are not of repetitions of one command."""
    if len({summary[0] for summary in summaries}) < len(summaries):
        raise raw.error(
            "dd",
            "the output contains a summary twice, with the same seconds; "
            "remove the copy",
        )
    if (
        len({(summary["bytes"], summary["wrote"]) for summary in summaries})
        > 1
    ):
        raise raw.error(
            "dd",
            "the summaries are of different sizes; give each command its own "
            "file",
        )


def _explain_missing(text: str) -> str:
    """Return why an output of dd has no summary, with the solution."""
    if _DD_FOREIGN.search(text):
        return "the output is not in English; run dd with LC_ALL=C"
    if _DD_PRECEDED.search(text):
        return (
            f"text precedes each line ({raw.describe(text)}); remove the text"
        )
    return f"has no summary: {raw.describe(text)}"


def _find_direction(operands: collections.abc.Mapping[str, str]) -> str:
    """Return the direction that both operands tell."""
    source, sink = operands.get("if", ""), operands.get("of", "")
    if sink in _SINKS and source in _SOURCES:
        raise raw.error("dd", f"copied {source} to {sink}, without a disk")
    if sink in _SINKS:
        return "read"
    if source in _SOURCES:
        return "write"
    if source and sink:
        raise raw.error(
            "dd",
            f"copied {source:.80} to {sink:.80}, which are both disks; give "
            "dd:direction=write=FILE or dd:direction=read=FILE for the one "
            "that is measured",
        )
    raise raw.error(
        "dd",
        "the command line, which tells whether dd wrote, is missing; give "
        "dd:direction=write=FILE or dd:direction=read=FILE",
    )


def _compute_rate(summary: re.Match[str], size: int) -> float:
    """Return the bytes per second of a summary.

    :param size: The bytes of the command line; 0 if unknown.
    """
    copied, seconds = int(summary["bytes"]), float(summary["seconds"])
    if summary["read"] != summary["wrote"]:
        raise raw.error(
            "dd", f"read {summary['read']} and wrote {summary['wrote']} blocks"
        )
    if size and copied != size:
        raise raw.error("dd", f"copied {copied} bytes instead of {size}")
    if not seconds > 0:
        raise raw.error("dd", f"took {seconds:g} s")
    return copied / seconds


def _counts_bytes(
    operands: collections.abc.Mapping[str, str],
) -> bool:
    """Return whether ``count`` can be a number of bytes, and not of blocks.

    Since coreutils 9.1 it is one if it ends with B.
    """
    flags = operands.get("iflag", "").split(",")
    return "count_bytes" in flags or operands.get("count", "").endswith("B")


def _parse_size(text: str) -> int:
    """Return the bytes of an operand such as ``1M``; 0 if it is unclear."""
    size = 1
    for factor in text.split("x"):
        match = re.fullmatch(r"([0-9]{1,15})([A-Za-z]{0,3})", factor)
        if match is None:
            return 0
        size *= int(match[1]) * _SUFFIXES.get(match[2], 0)
    return size


def _format_size(text: str) -> str:
    """Return a size in its shortest form, so that equal sizes are equal."""
    size = _parse_size(text)
    return options.shorten_size(size) if size else text


def _read_dd_arguments(
    operands: collections.abc.Mapping[str, str], direction: str
) -> dict[str, t.Any]:
    """Return the arguments in a command line of dd; {} without one."""
    if not operands:
        return {}
    flags = {
        f"{key}={flag}": flag
        for key in ("conv", "oflag", "iflag")
        for flag in operands.get(key, "").split(",")
        if flag
    }
    arguments = registry.get_workload("dd").TOOL_OPTIONS.read(
        operands, is_complete=True
    )
    arguments["sync"] = next(
        (
            kind
            for kind in ("fdatasync", "fsync", "dsync")
            if kind in flags.values()
        ),
        "sync" if "oflag=sync" in flags else "none",
    )
    arguments["direct"] = "direct" in flags.values()
    others = sorted(flags.keys() - _DD_FLAGS)
    arguments["other_options"] = " ".join(
        filter(None, (arguments["other_options"], *others))
    )
    if "bs" in operands:
        arguments["block_size"] = _format_size(operands["bs"])
    else:
        for key in ("ibs", "obs"):
            arguments[key] = _format_size(operands.get(key, "512"))
    count = _parse_size(operands.get("count", ""))
    if count:
        arguments["count"] = count
    if operands.get("if") in _SOURCES:
        arguments["source"] = operands["if"]
    place = operands.get("of" if direction == "write" else "if", "-")
    arguments["place"] = options.classify_path(place)
    return arguments


#: Flags that arguments state.
_DD_FLAGS = {
    "iflag=count_bytes",
    *("conv=fdatasync", "conv=fsync", "oflag=dsync", "oflag=sync"),
    *("oflag=direct", "iflag=direct"),
}
_IOZONE_SIZE = re.compile(
    r"^[ \t]{0,20}Each process writes a ([0-9]{1,15}) kbyte file in "
    r"([0-9]{1,9}) kbyte records$",
    re.M | re.I,
)
_IOZONE_COUNT = re.compile(
    r"^[ \t]{0,20}(?:Min process = |Throughput test with )([0-9]{1,5})", re.M
)
#: The rate of a test; the smallest transfer is its last line.
_IOZONE_TEST = re.compile(
    r"^[ \t]{0,20}Children see throughput for {1,2}([0-9]{1,5}) "
    r"([a-z -]{1,30}?)\s+=\s{1,20}([0-9.]{1,30}) kB/sec\s*?"
    r"(?:\n(?![ \t]*(?:Children|Min xfer)).*){0,9}\n[ \t]{0,20}Min xfer ",
    re.M | re.I,
)
_IOZONE_OPTIONS = registry.get_workload("iozone").TOOL_OPTIONS
_IOZONE_TITLES = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "random readers": "random_read",
    "random writers": "random_write",
}


def read_iozone(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates of the tests in iozone's throughput mode.

    A test is complete with its last line, whatever follows it.
    """
    sizes, count = _IOZONE_SIZE.findall(text), _IOZONE_COUNT.search(text)
    if not sizes and "Children see throughput for" in text:
        raise raw.error(
            "iozone",
            "the line 'Each process writes a ... kByte file' is missing; give "
            "the complete output",
        )
    if not sizes or not count:
        raise raw.error(
            "iozone",
            "only the throughput mode is read; run: iozone -t N -s SIZE "
            "-r SIZE -i 0 -i 1",
        )
    if len(sizes) > 1:
        raise raw.several_runs("iozone")
    processes = int(count[1])
    figures = {}
    for number, title, rate in _IOZONE_TEST.findall(text):
        if int(number) != processes:
            raise raw.error(
                "iozone", f"has {number} {title} instead of {processes}"
            )
        if name := _IOZONE_TITLES.get(title.strip().lower()):
            metric = sample.Metric(
                f"disk.iozone.{name}.bandwidth", "B/s", "higher"
            )
            figures[metric] = float(rate) * 1024
    if not figures:
        raise raw.error("iozone", "no test is complete (Min xfer)")
    ((size, record),) = sizes
    return [
        raw.create_output(
            "iozone",
            {
                **_read_iozone_command(text),
                "processes": processes,
                "size_mib": int(size) / 1024,
                "record_size": f"{record}k",
                "direct": "O_DIRECT feature enabled" in text,
                "flush": "Include fsync in write timing" in text,
                "close": "Include close in write timing" in text,
                "sync": bool(re.search(r"^[ \t]*SYNC Mode\.", text, re.M)),
            },
            figures,
        )
    ]


def _read_iozone_command(text: str) -> dict[str, t.Any]:
    """Return the arguments in the command line that iozone prints."""
    arguments = _IOZONE_OPTIONS.read_output(text, "iozone")
    for argv in options.find_commands(text, "iozone")[:1]:
        stated, operands = _IOZONE_OPTIONS.read_argv(argv)
        if "F" in stated:
            arguments["place"] = options.classify_paths(operands)
    return arguments


READERS = (
    raw.RawReader(
        tool="dd",
        signature=re.compile(
            r"^[0-9]{1,15}\+[01]\b.*\n[0-9]{1,15}\+[01]\b"
            r"|^[0-9]{1,20} ?(?:bytes?|字节).*(?:copied|已?复制)"
            r"|records (?:in|out)$|^dd: (?:error|failed)|记录了",
            re.M,
        ),
        read=read_dd,
        given={"direction": "write or read"},
    ),
    raw.RawReader(
        tool="iozone",
        signature=re.compile(
            r"Iozone: Performance Test|^ *Children see throughput for ",
            re.I | re.M,
        ),
        read=read_iozone,
        version=re.compile(r"Version \$Revision: ([0-9.]{1,20}) \$"),
    ),
)
