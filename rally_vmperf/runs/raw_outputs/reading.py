# SPDX-License-Identifier: Apache-2.0
"""Recognition of outputs, and their reading."""

import dataclasses
import re

from rally_vmperf.runs.raw_outputs import applications
from rally_vmperf.runs.raw_outputs import cleaning
from rally_vmperf.runs.raw_outputs import disk
from rally_vmperf.runs.raw_outputs import fio
from rally_vmperf.runs.raw_outputs import network
from rally_vmperf.runs.raw_outputs import processor
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.runs.raw_outputs import throughput
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds

#: The readers by tool, in the order in which outputs are recognised.
READERS: dict[str, raw.RawReader] = {
    reader.tool: reader
    for reader in (
        *processor.READERS,
        *throughput.READERS,
        *network.READERS,
        *disk.READERS,
        *fio.READERS,
        # The last, as any command can be timed.
        *applications.READERS,
    )
}
#: Tools that are not read -> the beginnings of their lines.
_OTHER_TOOLS = {
    "wrk": re.compile(r"^(?:Running [0-9]+[smh] test @|Requests/sec: )", re.M),
    "ab": re.compile(r"^(?:This is ApacheBench|Concurrency Level: )", re.M),
    "netperf": re.compile(
        r"^(?:MIGRATED )?(?:TCP|UDP)_?\w{0,20} .*TEST from ", re.M
    ),
    "stress-ng": re.compile("^stress-ng: info: ", re.M),
    "bonnie++": re.compile("^Version .* ------Sequential Output", re.M),
    "7-Zip": re.compile("^7-Zip |^Avr: +[0-9]+ ", re.M),
    "ioping": re.compile("^--- .* ioping statistics ---", re.M),
    "qperf": re.compile("^(?:tcp|udp|rc_rdma)_(?:bw|lat):$", re.M),
    "redis-benchmark": re.compile(r"^====== (?:GET|SET|PING_\w+) ====", re.M),
    "pgbench": re.compile("^transaction type: |^tps = [0-9]", re.M),
    "Geekbench": re.compile("^Geekbench [0-9]", re.M),
    "hdparm": re.compile("^ Timing (?:cached|buffered|O_DIRECT) ", re.M),
    "CoreMark": re.compile("^CoreMark (?:1|Size )", re.M),
    "the Phoronix Test Suite": re.compile("^Phoronix Test Suite ", re.M),
}


def recognise(text: str, *, is_json: bool = False) -> raw.RawReader:
    """Return the reader of an output, found by the content.

    :param is_json: Whether only JSON is read, since lines are too long.
    :raises WorkloadError: If no reader recognises the output, or several do:
        the results of all but one would be lost. ``time`` may be around them.
    """
    found = [
        reader
        for reader in READERS.values()
        if reader.recognises(text, is_json=is_json)
    ]
    several = [reader.tool for reader in found if reader.tool != "time"]
    if len(several) > 1:
        raise base.WorkloadError(
            f"the file has outputs of {' and '.join(several)}; give the "
            "output of each tool its own file"
        )
    if found:
        return found[0]
    if is_json:
        raise _long_line_error(text)
    for name, pattern in _OTHER_TOOLS.items():
        if pattern.search(text):
            raise base.WorkloadError(
                f"this is {name}, which is not read; the tools that are read "
                f"are {', '.join(READERS)}"
            )
    raise base.WorkloadError(
        f"the output is not recognised: {raw.describe(text)}; name the tool "
        f"as in TOOL=FILE ({', '.join(READERS)})"
    )


def read(
    text: str, tool: str = "", given: raw.Given | None = None
) -> list[raw.RawOutput]:
    """Return the results in an output.

    :param text: The clean text.
    :param tool: The name of the tool; empty to recognise it.
    :param given: The arguments that the user gives.
    :raises WorkloadError: If the text is not a complete output.
    """
    if len(text) > output_bounds.MAX_CHARACTERS:
        raise base.WorkloadError(
            f"the output has more than {output_bounds.MAX_CHARACTERS} "
            "characters; give only the output of the tool"
        )
    if not text.strip():
        raise base.WorkloadError(
            "is empty; the tool printed nothing, or printed to standard "
            "error; redirect standard error, too"
        )
    text = _select_quoted(text)
    has_long_line = output_bounds.find_long_line(text) > 0
    reader = (
        _find_reader(tool) if tool else recognise(text, is_json=has_long_line)
    )
    if has_long_line and reader.searches_lines:
        raise _long_line_error(text)
    if unknown := sorted({*(given or {})} - reader.given.keys()):
        names = ", ".join(reader.given) or "none"
        raise raw.error(
            reader.tool,
            f"{unknown[0]!r:.40} is not an argument that can be given "
            f"({names})",
        )
    try:
        outputs = reader.read(text, given or {})
    except KeyError as problem:
        raise raw.error(
            reader.tool, f"the output is damaged: {problem!s:.80} is missing"
        ) from problem
    except (ValueError, ArithmeticError) as problem:
        raise raw.error(
            reader.tool, f"the output is damaged: {problem!s:.120}"
        ) from problem
    except (IndexError, TypeError, AttributeError, RecursionError) as problem:
        raise raw.error(
            reader.tool, f"the output is not complete, or not of {reader.tool}"
        ) from problem
    versions = reader.find_versions(text, given or {})
    return [
        dataclasses.replace(output, versions=versions) for output in outputs
    ]


def _select_quoted(text: str) -> str:
    """Return the quoted lines of a reply if the output is in them.

    :raises WorkloadError: If the other lines have an output, too.
    """
    if output_bounds.find_long_line(text):
        return text
    quoted, others = cleaning.split_quoted(text)
    if not _is_recognised(quoted):
        return text
    if _is_recognised(others):
        raise base.WorkloadError(
            "the quoted lines and the other lines have outputs; give each its "
            "own file"
        )
    return quoted


def _is_recognised(text: str) -> bool:
    """Return whether a text is an output of any tool."""
    return bool(text) and any(
        reader.recognises(text) for reader in READERS.values()
    )


def _find_reader(tool: str) -> raw.RawReader:
    """Return the reader of a tool by its name; reject an unknown one."""
    if tool not in READERS:
        raise base.WorkloadError(
            f"{tool!r:.40} is not a tool whose outputs are read "
            f"({', '.join(READERS)})"
        )
    return READERS[tool]


def _long_line_error(text: str) -> base.WorkloadError:
    """Return the error of a text with a line that is too long."""
    return base.WorkloadError(
        f"line {output_bounds.find_long_line(text)} has more than "
        f"{output_bounds.MAX_LINE_CHARACTERS} characters; give only the "
        "output of the tool"
    )
