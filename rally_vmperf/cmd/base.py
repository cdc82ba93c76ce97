# SPDX-License-Identifier: Apache-2.0
"""Base classes of the commands."""

import argparse
import collections.abc
import os
import pathlib
import re
import stat
import typing as t

from cliff import command
from cliff import lister

from rally_vmperf import atomic
from rally_vmperf import errors
from rally_vmperf import sanitize

#: The maximum age of runs in days, a century.
MAX_DAYS = 36_525
#: The default maximum of a number, which has nine digits.
_MOST = 999_999_999
#: The packages whose exceptions are about Rally's database.
_DATABASE_PACKAGES = ("sqlalchemy", "oslo_db")


def write(stream: t.TextIO, text: str) -> None:
    """Write a text without control characters, and flush the stream.

    All commands write to the terminal through this function, because texts
    contain names from clouds, baselines and outputs of tools.
    """
    stream.write(sanitize.printable(text))
    stream.flush()


def write_file(
    path: str | pathlib.Path,
    pieces: collections.abc.Iterable[str],
    name: str,
    option: str = "",
) -> None:
    """Write a document in pieces to a file, which is complete or unchanged.

    :param name: The option with the path, or the name of the document.
    :param option: The option with the path, if it is not the name.
    :raises VMPerfError: If the file cannot be written.
    """
    target = pathlib.Path(path)
    try:
        # An error, in place of directories from a mistyped path.
        target.parent.stat()
        if _is_replaceable(target):
            mode = _find_mode(target)
            atomic.write(target, "".join(pieces), mode=mode)
        else:
            with target.open("w", encoding="utf-8", newline="") as file:
                file.writelines(pieces)
    except OSError as error:
        hint = f" with {option}" if option else ""
        raise errors.VMPerfError(
            f"{name} {path}: {error.strerror or error}; select another "
            f"path{hint}"
        ) from error


def _is_replaceable(target: pathlib.Path) -> bool:
    """Return whether another file can take the place of a path.

    Devices, pipes and links, such as /dev/stdout, are written to, and so are
    files in a directory that the user cannot write to.
    """
    if target.is_symlink():
        return False
    if not target.exists():
        return True
    return target.is_file() and os.access(target.parent, os.W_OK)


def _find_mode(target: pathlib.Path) -> int:
    """Return the permissions of a file, or those of a new one."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


#: The exit code of a result that is not accepted.
NOT_PASSED = 2


def add_on_inconclusive(parser: argparse.ArgumentParser) -> None:
    """Add the option for metrics that decide and are undecided."""
    parser.add_argument(
        "--on-inconclusive",
        choices=("fail", "pass"),
        default="fail",
        help="exit code for undecided metrics that decide: fail is "
        f"{NOT_PASSED}, pass is 0; default: %(default)s",
    )


def create_number_parser(
    lowest: int, highest: int = _MOST
) -> collections.abc.Callable[[str], int]:
    """Return a function that parses a number within bounds."""

    def parse_number(text: str) -> int:
        """Return the number in a text; reject another text."""
        if not (
            text.isascii()
            and text.isdigit()
            and len(text) < 10
            and lowest <= int(text) <= highest
        ):
            rule = f">= {lowest}"
            if highest < _MOST:
                rule = f"from {lowest} to {highest}"
            raise argparse.ArgumentTypeError(
                f"{text!r:.80}: must be an integer {rule}"
            )
        return int(text)

    return parse_number


def _describe_error(error: Exception, subject: str) -> str:
    """Return an error that is not ours as one line with its object.

    :param subject: The object, if the error does not name it.
    """
    if isinstance(error, OSError):
        reason = error.strerror or sanitize.line(error)
        return f"{error.filename or subject}: {reason}"
    if type(error).__module__.partition(".")[0] in _DATABASE_PACKAGES:
        # The other texts have the statement and its parameters.
        cause = getattr(error, "inner_exception", None) or error
        reason = sanitize.line(getattr(cause, "orig", None) or cause)
        return (
            f"{subject}: Rally's database cannot be read: {reason}; to create "
            "it: rally-vmperf init"
        )
    reason = sanitize.line(error, 1000)
    if isinstance(error, ValueError):
        return f"{subject}: {reason}"
    return (
        f"{subject}: unexpected {type(error).__name__}: {reason}; to see its "
        "origin: add --debug before the command"
    )


class _BaseCommand(command.Command):
    """A command with an exit code."""

    code = 0

    def get_epilog(self) -> str:
        """Return no epilog.

        That of cliff names the package of a plugin, for which it reads the
        files of all installed distributions in a third of a second.
        """
        return ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser for the arguments of the command."""
        parser = t.cast(argparse.ArgumentParser, super().get_parser(prog_name))
        self.add_arguments(parser)
        parser.add_argument(
            "--config-file",
            metavar="FILE",
            help="rally.conf; default: the file that Rally uses",
        )
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""

    def run(self, parsed: argparse.Namespace) -> int:
        """Run the command, and return its exit code.

        :raises VMPerfError: If the command fails; with the object, in one
            line.
        """
        try:
            return super().run(parsed) or self.code
        except BrokenPipeError:
            raise
        except errors.VMPerfError as error:
            lines = filter(None, map(str.strip, str(error).splitlines()))
            if (line := "; ".join(lines)) == str(error):
                raise
            raise errors.VMPerfError(line) from error
        except Exception as error:
            raise errors.VMPerfError(
                _describe_error(error, self._describe_object(parsed))
            ) from error

    def _describe_object(self, parsed: argparse.Namespace) -> str:
        """Return the name and the arguments of the command as text.

        Options with their defaults are omitted.
        """
        arguments = [self.cmd_name or type(self).__name__.lower()]
        parser = self.get_parser("")
        for action in parser._actions:
            value = getattr(parsed, action.dest, None)
            if action.option_strings or value in (None, []):
                continue
            arguments += value if isinstance(value, list) else [value]
        return sanitize.line(" ".join(map(str, arguments)))

    def print_line(self, line: str) -> None:
        """Print a line to standard output."""
        write(self.app.stdout, f"{line}\n")

    def print_document(self, pieces: collections.abc.Iterable[str]) -> None:
        """Print a document in pieces to standard output."""
        for piece in pieces:
            write(self.app.stdout, piece)

    def warn(self, line: str) -> None:
        """Print a warning to standard error."""
        write(self.app.stderr, f"{line}\n")


class Command(_BaseCommand):
    """A command that returns no table."""


#: A loss with its sign, or an interval, which is no formula.
_LOSS = re.compile(r"[+-][0-9][0-9.]{0,20}(?: to [+-]?[0-9.]{1,20})?(?: %)?")


def _format_cell(value: t.Any) -> t.Any:
    """Return the value of a cell of CSV; numbers are not changed."""
    from rally_vmperf.report.formats import csv

    if type(value) is not str or _LOSS.fullmatch(value):
        return value
    return csv.format_text(value)


class Lister(_BaseCommand, lister.Lister):
    """A command that returns a table."""

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: collections.abc.Sequence[str],
        data: collections.abc.Iterable[collections.abc.Iterable[t.Any]],
    ) -> int:
        """Print the table without control characters; return the exit code.

        In CSV, a text that a spreadsheet would compute has an apostrophe.
        """
        rows = [tuple(map(sanitize.printable_or_same, row)) for row in data]
        if parsed_args.formatter == "csv":
            rows = [tuple(map(_format_cell, row)) for row in rows]
        code = super().produce_output(parsed_args, column_names, rows)
        return t.cast(int, code)
