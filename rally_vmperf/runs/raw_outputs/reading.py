"""Recognition of outputs, and their reading."""

import collections.abc
import re

from rally_vmperf.runs.raw_outputs import disk
from rally_vmperf.runs.raw_outputs import network
from rally_vmperf.runs.raw_outputs import processor
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base

#: The readers by tool, in the order in which outputs are recognised.
READERS: dict[str, raw.Reader] = {
    reader.tool: reader
    for reader in (*processor.READERS, *network.READERS, *disk.READERS)
}
#: Outputs that are recognised, but in a format that is not read.
_OTHER_FORMATS = (
    (
        re.compile(r"^\S+: \(g(?:roupid)?=[0-9]+\): |^fio-[0-9]", re.M),
        "this is fio's report for people; its JSON is required: "
        "fio --output-format=json",
    ),
    (
        re.compile(r"^Running [0-9]+s test @|Requests/sec:", re.M),
        "this is wrk, which is not read; use h2load",
    ),
    (
        re.compile(r"^\[ ID\] Interval +Transfer +Bitrate", re.M),
        "this is iperf3's table; its JSON is required: iperf3 -J",
    ),
)


def recognise(text: str) -> raw.Reader:
    """Return the reader of an output, found by the content.

    :raises WorkloadError: If no reader recognises the output.
    """
    for reader in READERS.values():
        if reader.signature.search(text):
            return reader
    for pattern, message in _OTHER_FORMATS:
        if pattern.search(text):
            raise base.WorkloadError(message)
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
    if len(text) > base.MAX_OUTPUT_CHARACTERS:
        raise base.WorkloadError(
            f"the output has more than {base.MAX_OUTPUT_CHARACTERS} "
            "characters; give only the output of the tool"
        )
    reader = _find_reader(tool) if tool else recognise(text)
    if unknown := sorted({*(given or {})} - reader.given.keys()):
        known = ", ".join(reader.given) or "none"
        raise raw.error(
            reader.tool,
            f"{unknown[0]!r:.40} is not an argument that can be given "
            f"({known})",
        )
    try:
        return reader.read(text, given or {})
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise raw.error(
            reader.tool, f"the output is damaged: {problem!r:.120}"
        ) from problem


def _find_reader(tool: str) -> raw.Reader:
    """Return the reader of a tool by its name; reject an unknown one."""
    if tool not in READERS:
        raise base.WorkloadError(
            f"{tool!r:.40} is not a tool whose outputs are read "
            f"({', '.join(READERS)})"
        )
    return READERS[tool]


def describe_given() -> collections.abc.Iterator[str]:
    """Yield a clause for each argument that can be given with an output."""
    for tool, reader in READERS.items():
        for name, meaning in reader.given.items():
            yield f"{tool}:{name} ({meaning})"
