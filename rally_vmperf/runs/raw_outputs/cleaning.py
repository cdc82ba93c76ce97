"""Texts of outputs as tools printed them, without what copying added.

People post outputs from terminals, mails and web pages: in several encodings,
with prompts, colours, quote marks, and progress that overwrote itself.
"""

import codecs
import re
import textwrap

#: Byte order marks -> the encoding.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Chinese words of dd, which tell GBK from Latin-1.
_CHINESE = re.compile("记录|字节|复制|秒")
#: Colours and cursor movements of a terminal.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07]{0,200}\x07)")
_QUOTED = re.compile(r"^[>|] ?", re.M)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~).{0,20}\n", re.M)


def clean(content: bytes) -> str:
    """Return the text of an output, with line feeds only.

    A carriage return inside a line means that the rest overwrote it.
    """
    text = _CONTROL.sub("", _decode(content)).replace("\r\n", "\n")
    lines = (_keep_last(line).rstrip() for line in text.split("\n"))
    text = "\n".join(lines).strip("\n") + "\n"
    text = _FENCE.sub("", text)
    while _is_quoted(text):
        text = _QUOTED.sub("", text)
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
    is_chinese = _CHINESE.search(chinese)
    return chinese if is_chinese else content.decode("latin-1")


def _keep_last(line: str) -> str:
    """Return what a terminal shows of a line with carriage returns."""
    shown = [part for part in line.split("\r") if part.strip()]
    return shown[-1] if shown else ""


def _is_quoted(text: str) -> bool:
    """Return whether each line has the quote mark of a mail."""
    lines = [line for line in text.splitlines() if line]
    return bool(lines) and all(map(_QUOTED.match, lines))
