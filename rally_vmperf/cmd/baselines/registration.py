"""Base class of the commands that register a baseline."""

import argparse

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import base
from rally_vmperf.cmd.baselines import baseline


class RegistrationCommand(base.Command):
    """A command that registers a baseline."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments for the registration."""
        parser.add_argument("name", help="name of the baseline")
        parser.add_argument(
            "--class",
            dest="machine_class",
            type=_parse_class,
            metavar="CLASS",
            help="class of machines that this machine represents, such as "
            "r740; a host with another name and the same fingerprint then "
            "causes no warning",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace a baseline with the same name",
        )

    def register(
        self,
        baseline_store: store.Store,
        content: document.Baseline,
        parsed: argparse.Namespace,
        *,
        replace: bool = False,
    ) -> None:
        """Register a baseline, and print its path and warnings.

        :param replace: Whether it replaces one of the same name without the
            option.
        """
        baseline_store.save(content, replace=replace or parsed.replace)
        self.print_line(
            f"baseline {parsed.name!r} is registered: "
            f"{baseline_store.folder / parsed.name}.json"
        )
        for line in baseline.describe_irregular(content):
            self.print_line(line)


def _parse_class(text: str) -> str:
    """Return a class of baselines unchanged; reject an invalid name."""
    if not store.NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid class: {store.NAME_RULE}"
        )
    return text
