"""Command that registers raw outputs of a machine that cannot be reached."""

import argparse
import pathlib
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.cmd.baselines import registration


class Import(registration.Registering):
    """Register a baseline from raw outputs of the tools.

    What the outputs do not tell is unknown: shape, tool versions, some
    arguments. A task may use such a baseline, with a warning.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        super().add_arguments(parser)
        raw_outputs.add_arguments(parser)
        parser.add_argument(
            "--fingerprint",
            metavar="FILE",
            help="JSON object with the machine's fingerprint, as a baseline "
            "holds it; without it no machine is compared",
        )
        parser.add_argument(
            "--machine",
            help="what reports call the machine; default: the baseline's name",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Read, register, and say what is not known."""
        from rally_vmperf.runs.raw_outputs import imported

        content = imported.baseline(
            parsed.name,
            parsed.machine or parsed.name,
            raw_outputs.read(parsed),
            _fingerprint(parsed.fingerprint),
        )
        registry = rally_api.registry(parsed.config_file)
        self.register(registry, content, parsed)
        for entry in content["entries"]:
            for one in entry["findings"]:
                self.say(one["detail"])


def _fingerprint(path: str | None) -> dict[str, t.Any]:
    if path is None:
        return {}
    try:
        found = documents.read_json(pathlib.Path(path))
    except documents.DocumentError as error:
        raise document.BaselineError(f"--fingerprint {error}") from None
    if not isinstance(found, dict):
        raise document.BaselineError(
            f"--fingerprint {path} is no JSON object; give what a baseline "
            "has as machine.fingerprint"
        )
    return found
