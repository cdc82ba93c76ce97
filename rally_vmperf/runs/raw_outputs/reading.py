"""Recognition of outputs, and their reading.

People post outputs from terminals, mails and web pages: in several encodings,
with prompts, colours, quote marks, and progress that overwrote itself.
"""

import codecs
import re
import textwrap

from rally_vmperf.runs.raw_outputs import applications
from rally_vmperf.runs.raw_outputs import disk
from rally_vmperf.runs.raw_outputs import fio
from rally_vmperf.runs.raw_outputs import network
from rally_vmperf.runs.raw_outputs import processor
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.runs.raw_outputs import throughput
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds

#: The readers by tool, in the order in which outputs are recognised.
READERS: dict[str, raw.Reader] = {
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
)

#: Byte order marks -> the encoding.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Chinese words of dd, which tell GBK from Latin-1.
_CHINESE = ("记录", "字节", "复制", "秒")
#: Colours and cursor movements of a terminal.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07]{0,200}\x07)")
_QUOTED = re.compile(r"^[>|] ?", re.M)
#: The maximum number of quote marks of mails in front of a line.
_MAX_QUOTE_LEVELS = 4
_FENCE = re.compile(r"^ {0,3}(?:```|~~~).{0,20}\n", re.M)


def recognise(text: str, *, is_json: bool = False) -> raw.Reader:
    """Return the reader of an output, found by the content.

    :param is_json: Whether only JSON is read, since lines are too long.
    :raises WorkloadError: If no reader recognises the output.
    """
    for reader in READERS.values():
        if reader.recognises(text, is_json=is_json):
            return reader
    if is_json:
        raise _long_line_error(text)
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
    if len(text) > output_bounds.MAX_CHARACTERS:
        raise base.WorkloadError(
            f"the output has more than {output_bounds.MAX_CHARACTERS} "
            "characters; give only the output of the tool"
        )
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
        return reader.read(text, given or {})
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


def _find_reader(tool: str) -> raw.Reader:
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


def clean(content: bytes) -> str:
    """Return the text of an output, with line feeds only.

    A carriage return inside a line means that the rest overwrote it. A text
    that exceeds a bound is not changed, and ``read`` rejects it or reads it
    as JSON.

    :raises WorkloadError: If it is a quotation of too many levels.
    """
    text = _decode(content)
    overwritten = text.replace("\r", "\n")
    if len(text) > output_bounds.MAX_CHARACTERS:
        return text
    if output_bounds.find_long_line(overwritten):
        return text
    text = _CONTROL.sub("", text).replace("\r\n", "\n")
    lines = (_keep_last(line).rstrip() for line in text.split("\n"))
    text = "\n".join(lines).strip("\n") + "\n"
    text = _FENCE.sub("", text)
    for _ in range(_MAX_QUOTE_LEVELS):
        if not _is_quoted(text):
            break
        text = _QUOTED.sub("", text)
    if _is_quoted(text):
        raise base.WorkloadError(
            f"the output is quoted more than {_MAX_QUOTE_LEVELS} times; "
            "remove the quote marks"
        )
    return textwrap.dedent(text)


def _decode(content: bytes) -> str:
    """Return the text of bytes in UTF-8, UTF-16, GBK or Latin-1."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    if content[1:200:2].count(0) > len(content[1:200:2]) // 2:
        return content.decode("utf-16-le", "replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        chinese = content.decode("gbk", "replace")
    is_chinese = any(word in chinese for word in _CHINESE)
    return chinese if is_chinese else content.decode("latin-1")


def _keep_last(line: str) -> str:
    """Return what a terminal shows of a line with carriage returns."""
    shown = [segment for segment in line.split("\r") if segment.strip()]
    return shown[-1] if shown else ""


def _is_quoted(text: str) -> bool:
    """Return whether each line has the quote mark of a mail."""
    lines = [line for line in text.splitlines() if line]
    return bool(lines) and all(map(_QUOTED.match, lines))
