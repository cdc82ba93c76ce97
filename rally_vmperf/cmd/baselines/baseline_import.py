# SPDX-License-Identifier: Apache-2.0
"""Command that registers a baseline from raw outputs."""

import argparse
import pathlib

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.cmd.baselines import baseline


class Import(baseline.RegistrationCommand):
    """Register a baseline from raw outputs of tools.

    The outputs do not contain the shape, the tool versions and some
    arguments. A task can use such a baseline, with a warning.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            "outputs",
            nargs="+",
            metavar=raw_outputs.OUTPUT,
            help=raw_outputs.OUTPUT_HELP,
        )
        parser.add_argument(
            "--fingerprint",
            metavar="FILE",
            help="JSON object with the fingerprint of the machine, as in a "
            "baseline; without it, machines are not compared",
        )
        parser.add_argument(
            "--machine",
            help="name of the machine in reports; default: the name of the "
            "baseline",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Register the baseline, and print its unknown conditions."""
        from rally_vmperf.runs.raw_outputs import imported

        content = imported.build_baseline(
            parsed.name,
            parsed.machine or parsed.name,
            raw_outputs.read_outputs(parsed.outputs),
            _read_fingerprint(parsed.fingerprint),
            parsed.machine_class or "",
        )
        baseline_store = rally_api.open_baseline_store(parsed.config_file)
        self.register(baseline_store, content, parsed)
        for measured in content.entries:
            for finding in measured.findings:
                self.print_line(finding.detail)


def _read_fingerprint(path: str | None) -> documents.Facts:
    """Return the fingerprint in a JSON file; {} without a file."""
    if path is None:
        return {}
    try:
        fingerprint = documents.read_json(pathlib.Path(path))
    except documents.DocumentError as error:
        raise document.BaselineError(f"--fingerprint {error}") from None
    if not isinstance(fingerprint, dict):
        raise document.BaselineError(
            f"--fingerprint {path}: must be a JSON object, such as "
            "machine.fingerprint in a baseline"
        )
    return fingerprint
