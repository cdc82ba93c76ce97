"""Command that measures bare metal and registers the result."""

import argparse
import collections.abc
import re
import typing as t
import uuid

from rally_vmperf import opts
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd.baselines import bare_metal
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.cmd.baselines import registration

if t.TYPE_CHECKING:
    from rally_vmperf.runs import recording


class Record(registration.Registering):
    """Measure bare metal as a task measures guests, and register it.

    The machine is held to the guests' shape while it runs: as many CPUs and
    as much memory as the flavor has, in as many copies as there are guests.

    The exit code is 2 when something could not be measured: nothing is
    registered then, and --continue measures what is missing.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        super().add_arguments(parser)
        coverage.add_arguments(parser)
        bare_metal.add_arguments(parser)
        parser.add_argument(
            "--work-dir",
            default="/var/tmp",  # noqa: S108 - ours in it are closed
            help="directory on the disk that guests also use; each copy "
            "creates its own directory in it; only root and the login may "
            "have write access; default: %(default)s",
        )
        parser.add_argument(
            "--bundle",
            metavar="FILE",
            help="bundle made by 'rally-vmperf tools bundle', whose programs "
            "are run; default: the programs of the machine",
        )
        parser.add_argument(
            "--continue",
            dest="session",
            type=_session,
            metavar="SESSION",
            help="go on with a recording of which something is missing, with "
            "the same arguments; only that is measured",
        )

    def take_action(self, parsed: argparse.Namespace) -> int:
        """Measure and register; return 2 if anything is missing."""
        if parsed.jump and not parsed.host:
            raise document.BaselineError(
                "--jump leads to another machine: add --host USER@ADDRESS"
            )
        registry = rally_api.registry(parsed.config_file)
        with registry.reserve(parsed.name, replace=parsed.replace):
            return self._register(registry, parsed)

    def _register(
        self, registry: store.Store, parsed: argparse.Namespace
    ) -> int:
        from rally_vmperf.runs import recorded

        asked = coverage.read(parsed)
        session = parsed.session or uuid.uuid4().hex
        parts = self._parts(parsed, session, asked)
        try:
            self._measure(parsed, asked.peer, parts)
        except KeyboardInterrupt:
            if any(one.records for one in parts):
                self.say(f"interrupted; {_continue_hint(session)}")
            raise
        missing = [line for one in parts for line in one.missing()]
        if missing:
            for line in missing:
                self.say(f"missing: {line}")
            self.say(
                f"baseline {parsed.name!r} is not registered; "
                f"{_continue_hint(session)}"
            )
            return 2
        self.register(registry, recorded.baseline(parts), parsed)
        return 0

    def _parts(
        self,
        parsed: argparse.Namespace,
        session: str,
        asked: coverage.Asked,
    ) -> "list[recording.Part]":
        """Return the parts of the recording, one for each coverage."""
        from rally_vmperf.execution import requirements
        from rally_vmperf.records import journal
        from rally_vmperf.runs import recording

        folder = opts.read(parsed.config_file).journal_dir
        fitting = self._that_fit(parsed, asked.coverages)
        supply = requirements.supply_of(
            {"install": False, "bundle": parsed.bundle or ""}
        )
        parts = [
            recording.Part(
                recording.Plan(
                    baseline=parsed.name,
                    session=session,
                    assignments=one.assignments,
                    shape=one.shape,
                    repetitions=one.repetitions,
                    warmup=one.warmup,
                    folder=parsed.work_dir,
                    cpus=parsed.cpu_list or "",
                    supply=supply,
                    held=one.protocol.shape == "guest",
                    reboot=one.protocol.reboot,
                    options=_options(parsed, one, asked.peer),
                ),
                journal.Journal(folder, f"{session}-{number}"),
            )
            for number, one in enumerate(fitting, 1)
        ]
        if parsed.session and not any(one.records for one in parts):
            raise document.BaselineError(
                f"--continue {session}: there is no such recording in "
                f"{folder}; record anew without it"
            )
        return parts

    def _measure(
        self,
        parsed: argparse.Namespace,
        peer: dict[str, t.Any] | None,
        parts: "list[recording.Part]",
    ) -> None:
        """Measure part by part, until a machine cannot be made ready.

        :raises MachineError: when that leaves nothing to go on with
        """
        from rally_vmperf.runs import run as runs

        for one in parts:
            self.say(f"bare metal as {one.plan.shape}")
            try:
                self._measure_part(parsed, peer, one)
            except runs.EXPECTED as error:
                if not any(each.records for each in parts):
                    raise
                one.trouble = str(error)
                return

    def _measure_part(
        self,
        parsed: argparse.Namespace,
        peer: dict[str, t.Any] | None,
        part: "recording.Part",
    ) -> None:
        """Measure a part, and once again what of it is missing."""
        for is_retry in (False, True):
            part.measure(
                lambda: bare_metal.connect(parsed),
                bare_metal.peer_station(parsed, part.plan.assignments, peer),
                self.say,
                self.say,
            )
            if is_retry or not part.worth_a_retry():
                return
            for line in part.missing():
                self.say(f"again: {line}")

    def _that_fit(
        self,
        parsed: argparse.Namespace,
        asked: collections.abc.Sequence[coverage.Coverage],
    ) -> list[coverage.Coverage]:
        """Return the coverages that the machine is large enough for.

        Before anything is measured; what was insisted on is not left out.
        """
        shapes = dict.fromkeys(
            one.shape for one in asked if one.protocol.shape == "guest"
        )
        if not shapes:
            return list(asked)
        too_small = bare_metal.too_small(parsed, shapes)
        for one in asked:
            if one.insisted and one.shape in too_small:
                raise too_small[one.shape]
        for shape, error in too_small.items():
            self.say(f"left out: {shape}: {error}")
        fitting = [one for one in asked if one.shape not in too_small]
        if not fitting:
            raise next(iter(too_small.values()))
        return fitting


def _session(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{32}", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no identifier of a recording, which has 32 digits "
            "from 0 to f"
        )
    return text


def _options(
    parsed: argparse.Namespace,
    wanted: coverage.Coverage,
    peer: dict[str, t.Any] | None,
) -> dict[str, t.Any]:
    """Return the arguments that must be the same to continue."""
    return {
        "name": parsed.name,
        "where": "local" if parsed.local else parsed.host,
        "folder": parsed.work_dir,
        "bundle": parsed.bundle or "",
        "cpu_list": parsed.cpu_list or "",
        "whole": wanted.protocol.shape == "whole",
        "reboot": wanted.protocol.reboot,
        "shape": str(wanted.shape),
        "workloads": [
            {
                "title": one.title,
                "arguments": one.arguments,
                **one.protocol(),
            }
            for one in wanted.assignments
        ],
        "repetitions": wanted.repetitions,
        "warmup": wanted.warmup,
        "peer": parsed.peer or (peer or {}).get("address", ""),
    }


def _continue_hint(session: str) -> str:
    return (
        "what was measured is kept; for the rest give the same command with "
        f"--continue {session}"
    )
