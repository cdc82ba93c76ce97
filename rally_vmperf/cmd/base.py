"""What our commands have in common."""

import argparse
import typing as t

from cliff import command
from cliff import lister


class _Common(command.Command):
    """A command with an exit code of its own."""

    code = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        parser = t.cast(argparse.ArgumentParser, super().get_parser(prog_name))
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own arguments."""

    def run(self, parsed: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        return super().run(parsed) or self.code

    def say(self, line: str) -> None:
        """Tell whoever is waiting."""
        self.app.stdout.write(f"{line}\n")
        self.app.stdout.flush()


class Command(_Common):
    """A command that returns no table."""


class Lister(_Common, lister.Lister):
    """A command that returns a table."""
