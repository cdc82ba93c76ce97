"""Command that names the place of the embedded test cloud."""

import argparse

from rally_vmperf import errors
from rally_vmperf.cmd import base


class Cloud(base.Command):
    """Report that the test cloud starts with 'make cloud' in a checkout.

    The cloud is test equipment of the repository, not of the package.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Accept the arguments of earlier versions."""
        parser.add_argument(
            "arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raise an error that names the commands."""
        raise errors.VMPerfError(
            "the test cloud is in the repository of rally_vmperf; run 'make "
            "cloud' (start) or 'make down' (stop) in a checkout"
        )
