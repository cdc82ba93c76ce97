# SPDX-License-Identifier: Apache-2.0
"""Command that measures bare metal and registers the result."""

import argparse
import collections.abc
import re
import shlex
import typing as t
import uuid

from rally_vmperf import documents
from rally_vmperf import opts
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import machine_options
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.cmd.baselines import bare_metal
from rally_vmperf.cmd.baselines import baseline
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.measurement import finding

if t.TYPE_CHECKING:
    from rally_vmperf.runs import recording


class Record(baseline.RegistrationCommand):
    """Measure bare metal like the guests of a task, and register a baseline.

    The measurement is limited to the shape of the guests: the CPUs and the
    memory of the flavor, in as many copies as the task has guests.

    If the machine is busy or itself a guest, a baseline of it voids each run,
    and the command ends before the first repetition, unless the task tolerates
    this or --measure-anyway is given.

    If a measurement is missing, the exit code is 2 and no baseline is
    registered; --continue measures the missing part.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        coverage.add_arguments(parser)
        bare_metal.add_machine_arguments(parser)
        parser.add_argument(
            "--work-dir",
            default="/var/tmp",  # noqa: S108 - subdirectories are private
            help="directory on the disk that guests also use; each copy "
            "creates its own directory in it; only root and the SSH user may "
            "have write access; default: %(default)s",
        )
        parser.add_argument(
            "--bundle",
            metavar="FILE",
            help="bundle from 'rally-vmperf tools bundle', whose programs are "
            "run; default: the programs of the machine",
        )
        bare_metal.add_device_arguments(parser)
        parser.add_argument(
            "--continue",
            dest="session",
            type=_parse_session,
            metavar="SESSION",
            help="continue an incomplete recording with the same arguments; "
            "only missing measurements are made",
        )
        parser.add_argument(
            "--append",
            action="store_true",
            help="add a session to the baseline, such as one of another day, "
            "with the task and the options of the first session; from three "
            "sessions on, the interval contains their differences",
        )

        parser.add_argument(
            "--measure-anyway",
            action="store_true",
            help="measure a machine that is busy or itself a guest, although "
            "a baseline of it voids each run whose SLAs do not tolerate this",
        )

    def take_action(self, parsed: argparse.Namespace) -> int:
        """Measure and register; return 2 if a measurement is missing."""
        if parsed.jump and not parsed.host:
            raise document.BaselineError(
                "--jump requires --host: add --host USER@ADDRESS"
            )
        if parsed.append and parsed.replace:
            raise document.BaselineError(
                "--append keeps the earlier sessions, and --replace deletes "
                "them: remove one of the options"
            )
        baseline_store = rally_api.open_baseline_store(parsed.config_file)
        with baseline_store.reserve(
            parsed.name, replace=parsed.replace or parsed.append
        ):
            return self._register(baseline_store, parsed)

    def _register(
        self, baseline_store: store.Store, parsed: argparse.Namespace
    ) -> int:
        """Measure and register the baseline; return the exit code."""
        from rally_vmperf.runs import recorded

        request = coverage.read_coverages(parsed)
        session = parsed.session or uuid.uuid4().hex
        recordings = self._create_recordings(parsed, session, request)
        earlier = None
        if parsed.append:
            earlier = baseline_store.load(parsed.name)
            recorded.find_entries(
                earlier,
                [
                    (
                        assigned.workload.name,
                        assigned.conditions(),
                        shape_recording.plan.shape,
                    )
                    for shape_recording in recordings
                    for assigned in shape_recording.plan.assignments
                ],
            )
        try:
            self._measure(parsed, request.peer, recordings)
        except KeyboardInterrupt:
            if any(shape_recording.records for shape_recording in recordings):
                self.print_line(
                    f"interrupted; {_format_continue_hint(session)}"
                )
            raise
        missing = [
            line
            for shape_recording in recordings
            for line in shape_recording.describe_missing()
        ]
        if missing:
            for line in missing:
                self.print_line(f"missing: {line}")
            self.print_line(
                f"baseline {parsed.name!r} is not registered; "
                f"{_format_continue_hint(session)}"
            )
            return 2
        content = recorded.build_baseline(
            recordings, parsed.machine_class or ""
        )
        if earlier is not None:
            content = recorded.append_session(earlier, content)
        self.register(
            baseline_store, content, parsed, replace=earlier is not None
        )
        if not self._warn_about_voiding(
            content, recordings, request.tolerated
        ):
            self._name_next_step(parsed)
        return 0

    def _name_next_step(self, parsed: argparse.Namespace) -> None:
        """Print whether the settings compare guests with this baseline."""
        if parsed.task or parsed.workload:
            return
        _, arguments = task_file.read_settings(parsed.settings)
        selected = arguments.get("baseline")
        command = "rally-vmperf run"
        if parsed.settings:
            command += f" --settings {shlex.quote(parsed.settings)}"
        if selected == parsed.name:
            self.print_line(f"next: {command}")
            return
        self.print_line(
            f"{parsed.settings or task_file.SETTINGS} has baseline: "
            f"{selected}; to compare guests with this one, change it to "
            f"baseline: {parsed.name}, or run: {command} --task-args "
            f"'{{baseline: {parsed.name}}}'"
        )

    def _warn_about_voiding(
        self,
        content: document.Baseline,
        recordings: "list[recording.ShapeRecording]",
        tolerated: frozenset[str],
    ) -> bool:
        """Print why runs with this baseline are void, in one line, if so.

        :param content: The baseline.
        :param tolerated: The kinds of findings that the task tolerates.
        :returns: Whether they are void.
        """
        from rally_vmperf.runs import reference

        findings = dict.fromkeys(
            found
            for shape_recording in recordings
            for found in reference.find_voiding_findings(
                content,
                shape_recording.plan.assignments,
                shape_recording.plan.shape,
            )
            if found.kind not in tolerated
        )
        if findings:
            self.print_line(reference.describe_voiding(content, findings))
        return bool(findings)

    def _create_recordings(
        self,
        parsed: argparse.Namespace,
        session: str,
        request: coverage.CoverageRequest,
    ) -> "list[recording.ShapeRecording]":
        """Return the recordings, one for each coverage that fits.

        :raises BaselineError: If raw devices are missing or not used.
        :raises MachineError: If a raw device must not be overwritten.
        """
        from rally_vmperf.execution import requirements
        from rally_vmperf.records import journal
        from rally_vmperf.runs import recording

        journal_dir = opts.read(parsed.config_file).journal_dir
        fitting = self._select_coverages_that_fit(parsed, request.coverages)
        for line in bare_metal.check_devices(parsed, fitting):
            self.print_line(line)
        accepted = request.tolerated
        if parsed.measure_anyway:
            accepted = frozenset(finding.KINDS)
        supply = requirements.create_supply(
            {"install": False, "bundle": parsed.bundle or ""}
        )
        recordings = [
            recording.ShapeRecording(
                recording.RecordingPlan(
                    baseline=parsed.name,
                    session=session,
                    assignments=covered.assignments,
                    shape=covered.shape,
                    repetitions=covered.repetitions,
                    warmup=covered.warmup,
                    directory=parsed.work_dir,
                    cpus=parsed.cpu_list or "",
                    supply=supply,
                    devices=bare_metal.select_devices(parsed, covered),
                    is_limited=covered.protocol.shape == "guest",
                    reboot=covered.protocol.reboot,
                    options=_collect_options(parsed, covered, request.peer),
                    accepted=accepted,
                ),
                journal.Journal(journal_dir, f"{session}-{number}"),
            )
            for number, covered in enumerate(fitting, 1)
        ]
        if parsed.session and not any(
            shape_recording.records for shape_recording in recordings
        ):
            raise document.BaselineError(
                f"--continue {session}: the recording does not exist in "
                f"{journal_dir}; remove the option to start a new recording"
            )
        return recordings

    def _measure(
        self,
        parsed: argparse.Namespace,
        peer: documents.Arguments | None,
        recordings: "list[recording.ShapeRecording]",
    ) -> None:
        """Measure the shapes in order, until a machine fails.

        :param parsed: The parsed arguments.
        :param peer: The peer in the task, or None.
        :param recordings: The recordings of the shapes.
        :raises MachineError: If a machine fails before the first record.
        """
        from rally_vmperf.runs import runs

        for shape_recording in recordings:
            self.print_line(f"bare metal as {shape_recording.plan.shape}")
            try:
                self._measure_shape(parsed, peer, shape_recording)
            except runs.RECORDED_ERRORS as error:
                if not any(recorded.records for recorded in recordings):
                    raise
                shape_recording.error = str(error)
                return

    def _measure_shape(
        self,
        parsed: argparse.Namespace,
        peer: documents.Arguments | None,
        shape_recording: "recording.ShapeRecording",
    ) -> None:
        """Measure a shape, and retry missing measurements once."""
        for is_retry in (False, True):
            shape_recording.measure(
                lambda: machine_options.connect(parsed),
                bare_metal.peer_station(
                    parsed, shape_recording.plan.assignments, peer
                ),
                self.print_line,
                self.print_line,
            )
            if is_retry or not shape_recording.can_retry():
                return
            for line in shape_recording.describe_missing():
                self.print_line(f"retrying: {line}")

    def _select_coverages_that_fit(
        self,
        parsed: argparse.Namespace,
        coverages: collections.abc.Sequence[coverage.Coverage],
    ) -> list[coverage.Coverage]:
        """Return the coverages for which the machine is large enough.

        :param parsed: The parsed arguments.
        :param coverages: The requested coverages.
        :raises TooSmall: If the machine is too small for a required coverage
            or for all coverages.
        """
        shapes = dict.fromkeys(
            covered.shape
            for covered in coverages
            if covered.protocol.shape == "guest"
        )
        if not shapes:
            return list(coverages)
        too_small = bare_metal.find_too_large_shapes(parsed, shapes)
        for covered in coverages:
            if covered.required and covered.shape in too_small:
                raise too_small[covered.shape]
        for shape, error in too_small.items():
            self.print_line(f"skipped: {shape}: {error}")
        fitting = [
            covered for covered in coverages if covered.shape not in too_small
        ]
        if not fitting:
            raise next(iter(too_small.values()))
        return fitting


def _parse_session(text: str) -> str:
    """Return the identifier of a recording; reject an invalid one."""
    if not re.fullmatch("[0-9a-f]{32}", text):
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be the identifier of a recording, 32 hexadecimal "
            "digits"
        )
    return text


def _collect_options(
    parsed: argparse.Namespace,
    covered: coverage.Coverage,
    peer: documents.Arguments | None,
) -> documents.Arguments:
    """Return the options that --continue must not change."""
    return {
        "name": parsed.name,
        "where": "local" if parsed.local else parsed.host,
        "folder": parsed.work_dir,
        "bundle": parsed.bundle or "",
        "cpu_list": parsed.cpu_list or "",
        "whole": covered.protocol.shape == "whole",
        "reboot": covered.protocol.reboot,
        "shape": str(covered.shape),
        "workloads": [
            {
                "title": assigned.title,
                "arguments": assigned.arguments,
                **assigned.protocol(),
            }
            for assigned in covered.assignments
        ],
        "repetitions": covered.repetitions,
        "warmup": covered.warmup,
        **({"devices": parsed.device} if parsed.device else {}),
        "peer": parsed.peer or (peer or {}).get("address", ""),
    }


def _format_continue_hint(session: str) -> str:
    """Return a sentence on how to continue a recording."""
    return (
        "the measurements are saved; to add the missing ones, repeat the "
        f"command with --continue {session}"
    )
