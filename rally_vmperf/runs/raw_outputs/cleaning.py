# SPDX-License-Identifier: Apache-2.0
"""Text of a tool in what people post.

People post outputs from terminals, logs, mails and web pages: in several
encodings, with colours, progress that overwrote itself, and text before each
line.
"""

import codecs
import itertools
import json
import quopri
import re
import textwrap

from rally_vmperf import sanitize
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds

#: Byte order marks -> the encoding.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Chinese words of dd, which tell GBK from Latin-1.
_CHINESE = ("记录", "字节", "复制", "秒")
#: Spaces of web pages and mails -> what a terminal prints.
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ") | {
    ord(mark): None for mark in "\u200b\u200e\u200f\u2060\ufeff"
}
#: The log files of Docker, and results of Ansible.
_LOGGED = re.compile(r'\{"log": ?"')
_REGISTERED = re.compile(r'^ {0,8}"stdout": ?"', re.M)
#: Colours and cursor movements of a terminal.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07]{0,200}\x07)")
#: The sign = in archives of mails (quoted-printable).
_ENCODED_SIGN = "=3D"
_FENCE = re.compile(r"^ {0,3}(?:```|~~~).{0,20}\n", re.M)
#: The maximum number of prefixes of a line, such as quote marks of mails.
_MAX_PREFIXES = 4
_QUOTE = re.compile(r"[>|](?: |$)?")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
_MONTH = r"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ 0-9][0-9]"
#: What programs print before each line, with the source of the line as a
#: group, if it names one.
_PREFIXES = (
    # Mails, and tables.
    _QUOTE,
    # Test runners and logs of CI.
    re.compile(r"(?i:\[(?:std(?:out|err)|out(?:put)?|info|debug)\])(?: |$)"),
    # docker compose logs.
    re.compile(r"(?P<source>[A-Za-z0-9][\w.-]{0,80}) *\|(?: |$)"),
    # kubectl logs --prefix.
    re.compile(r"(?P<source>\[pod/[^]\s]{1,200}\])(?: |$)"),
    # journalctl and syslog.
    re.compile(
        rf"(?:{_MONTH} {_TIME}|{_DATE}T{_TIME}[+-][0-9:]{{4,6}}) "
        r"[\w.-]{1,80} (?P<source>[\w./@-]{1,80}(?:\[[0-9]{1,10}\])?):(?: |$)"
    ),
    # kubectl logs --timestamps, jobs of CI, ts and iperf3 --timestamps.
    re.compile(
        rf"\[?(?:{_DATE}[T ]|{_MONTH} )?{_TIME}(?: [0-9]{{4}})?"
        r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?(?: |$)"
    ),
    # Logs of containers on a host (CRI), behind their times.
    re.compile(r"std(?:out|err) [FP](?: |$)"),
    # dmesg, and ping -D.
    re.compile(r"\[ {0,8}[0-9]{1,12}\.[0-9]{3,9}\](?: |$)"),
)
#: grep -n, cat -n and editors.
_NUMBERED = re.compile(r" {0,8}([0-9]{1,7})(?:[:|\t]| {1,2}(?=\S)|$)")
#: The smallest share of the lines, and the smallest number of them, that have
#: a prefix if the program prints it before each line of a tool.
_USUAL_SHARE, _FEWEST = 0.75, 2
#: The process that starts others, whose lines are not of the tool.
_INIT = re.compile(r"systemd\[[0-9]+\]")


def clean(content: bytes) -> str:
    """Return the text of an output, with line feeds only.

    A carriage return inside a line means that the rest overwrote it. A text
    that exceeds a bound is not changed, and is rejected or read as JSON.

    :raises WorkloadError: If it has too many prefixes, or lines of several
        sources.
    """
    text = _extract(_decode(content))
    if text.count(_ENCODED_SIGN) >= _FEWEST:
        encoded = text.encode("utf-8", "replace")
        text = quopri.decodestring(encoded).decode("utf-8", "replace")
    overwritten = text.replace("\r", "\n")
    if len(text) > output_bounds.MAX_CHARACTERS:
        return text
    if output_bounds.find_long_line(overwritten):
        return text
    text = _CONTROL.sub("", text.translate(_SPACES)).replace("\r\n", "\n")
    lines = (_keep_last(line).rstrip() for line in text.split("\n"))
    text = "\n".join(lines).strip("\n") + "\n"
    return _remove_prefixes(textwrap.dedent(_FENCE.sub("", text)))


def split_quoted(text: str) -> tuple[str, str]:
    """Return the quoted lines of a reply without their marks, and the others.

    A single line with such a mark has a prompt.
    """
    lines = text.split("\n")
    marks = [line.startswith(">") for line in lines]
    is_quoted = [
        mark and (before or after)
        for before, mark, after in zip(
            [False, *marks], marks, [*marks[1:], False], strict=False
        )
    ]
    quoted, others = (
        "\n".join(
            line
            for line, is_line_quoted in zip(lines, is_quoted, strict=True)
            if is_line_quoted is side
        )
        for side in (True, False)
    )
    return _remove_prefixes(quoted), others


def _remove_prefixes(text: str) -> str:
    """Return a text without what programs print before each line.

    :raises WorkloadError: If it has too many prefixes, or lines of several
        sources.
    """
    for _ in range(_MAX_PREFIXES):
        shorter = _remove_prefix(text)
        if shorter == text:
            return text
        text = textwrap.dedent(shorter)
    if _remove_prefix(text) != text:
        raise base.WorkloadError(
            f"the output is quoted more than {_MAX_PREFIXES} times; remove "
            "the text before each line"
        )
    return text


def _decode(content: bytes) -> str:
    """Return the text of bytes in UTF-8, UTF-16, GBK or Latin-1."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        high = content[first:200:2]
        if high.count(0) > len(high) // 2:
            return content.decode(encoding, "replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        chinese = content.decode("gbk", "replace")
    is_chinese = any(word in chinese for word in _CHINESE)
    return chinese if is_chinese else content.decode("latin-1")


def _extract(text: str) -> str:
    """Return what a JSON document has of a command's output.

    It is the log file of Docker, one object a line, or the result of a module
    of Ansible. Other texts are returned unchanged.
    """
    is_short = len(text) <= output_bounds.MAX_CHARACTERS
    lines = text.split("\n")
    if not (is_short and text.startswith("{")):
        return text
    try:
        if _LOGGED.match(text):
            entries = [json.loads(line) for line in lines if line.strip()]
            return "".join(str(entry["log"]) for entry in entries)
        if _REGISTERED.search(text):
            result = json.loads(text)
            parts = (result["stdout"], result.get("stderr", ""))
            return "\n".join(map(str, parts))
    except (ValueError, KeyError, TypeError, RecursionError):
        # Another document, which readers describe.
        return text
    return text


def _keep_last(line: str) -> str:
    """Return what a terminal shows of a line with carriage returns."""
    shown = [segment for segment in line.split("\r") if segment.strip()]
    return shown[-1] if shown else ""


def _remove_prefix(text: str) -> str:
    """Return a text without a prefix that most of its lines have.

    :raises WorkloadError: If the prefixes name several sources.
    """
    lines = text.split("\n")
    count = sum(map(bool, lines))
    for pattern in _PREFIXES:
        matches = [pattern.match(line) for line in lines]
        found = [match for match in matches if match]
        is_quote = pattern is _QUOTE
        if len(found) < (count if is_quote else _USUAL_SHARE * count):
            continue
        if not found or (len(found) < _FEWEST and not is_quote):
            continue
        sources = {match["source"] for match in found if match.groupdict()}
        tools = sorted(one for one in sources if not _INIT.fullmatch(one))
        if len(tools) > 1:
            names = ", ".join(sanitize.line(name, 40) for name in tools[:2])
            raise base.WorkloadError(
                f"the lines are of {len(tools)} sources, such as {names}; "
                "give each its own file"
            )
        return "\n".join(
            line[match.end() :] if match else line
            for line, match in zip(lines, matches, strict=True)
        )
    return _remove_numbers(lines)


def _remove_numbers(lines: list[str]) -> str:
    """Return the text of lines without their numbers, if they are numbered."""
    matches = [_NUMBERED.match(line) for line in lines if line]
    numbers = [int(match[1]) for match in matches if match]
    is_numbered = len(numbers) == len(matches) >= _FEWEST and all(
        later == former + 1 for former, later in itertools.pairwise(numbers)
    )
    if not is_numbered:
        return "\n".join(lines)
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in lines)
