"""What commands that register a baseline have in common."""

import argparse
import typing as t

from rally_vmperf.baseline import store
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api


class Registering(base.Command):
    """A command that ends with a baseline in the registry."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments that say under what it is registered."""
        parser.add_argument("name", help="name to register it under")
        parser.add_argument(
            "--class",
            dest="of_class",
            type=_class,
            metavar="CLASS",
            help="class of machines that this one stands for, such as r740: "
            "a host of another name and the same fingerprint is then no "
            "warning",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="overwrite a baseline of the same name",
        )
        rally_api.add_argument(parser)

    def register(
        self,
        registry: store.Store,
        content: dict[str, t.Any],
        parsed: argparse.Namespace,
    ) -> None:
        """Register a baseline, of its class, and say where it is."""
        if parsed.of_class:
            content = {**content, "class": parsed.of_class}
        registry.save(content, replace=parsed.replace)
        self.say(
            f"baseline {parsed.name!r} is registered: "
            f"{registry.folder / parsed.name}.json"
        )


def _class(text: str) -> str:
    if not store.NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name of a class: {store.NAME_RULE}"
        )
    return text
