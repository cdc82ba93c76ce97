# SPDX-License-Identifier: Apache-2.0
"""A job file of the operator for fio, with measured sections."""

import re
import typing as t

from rally_vmperf import json_schema
from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads.disk import _fio_result

#: The name of the job file on machines.
NAME = "vmperf.fio"

#: Options that only define how files in the working directory are accessed.
KEY = re.compile(
    "rw|bs|bssplit|size|filename|nrfiles|numjobs|thread|fsync|fdatasync|"
    "end_fsync|ioengine|iodepth(_low|_batch(_submit|_complete)?)?|overwrite|"
    "fallocate|invalidate|norandommap|percentage_random|rwmix(read|write)|"
    "random_(distribution|generator)|randrepeat|randseed|thinktime|stonewall|"
    "(refill|scramble|zero)_buffers|(buffer_compress|dedupe)_percentage|"
    "wait_for_previous|description"
)
_SECTION = r"[a-z0-9][a-z0-9_-]{0,31}"
_SPLIT = r"[0-9]{1,9}[kKmM]?/[0-9]{0,3}"
#: Values without a path, a program or an environment variable.
_SETTING = (
    rf"(?!\.)[A-Za-z0-9_.,:() -]{{1,200}}+|{_SPLIT}(?:[:,]{_SPLIT}){{0,50}}"
)
#: A line that is empty, a comment, a section or an option.
_LINE = re.compile(
    rf"[ \t]*+(?:[;#][\t -~]{{0,999}}|\[({_SECTION})\]"
    rf"|([a-z_]{{1,40}})(?:[ \t]*+=[ \t]*+({_SETTING}))?)?[ \t]*+\r?"
)

ARGUMENTS: dict[str, t.Any] = {
    "job_file": json_schema.text(
        "Absolute path of a job file of fio on the machine that runs "
        "rally-vmperf, instead of patterns; empty for none.",
        pattern=r"^(/[^\x00-\x1f\x7f]{1,1000})?$(?!\n)",
        default="",
    ),
    "sections": schemas.texts(
        "Measured sections of job_file with their sides: <section>.read or "
        "<section>.write.",
        rf"^(?!global|search\.|first_write\.){_SECTION}\.(read|write)$(?!\n)",
    ),
}


def check(arguments: base.Arguments, content: bytes) -> None:
    """Reject a job file without a section, or with access to other files.

    :raises base.WorkloadError: If a line, an option or a section is not valid.
    """
    sections = _read_sections(content)
    for measured_side in arguments["sections"]:
        name, _, side = measured_side.partition(".")
        if side not in _list_sides(sections.get(name, {"rw": ""})):
            raise base.WorkloadError(
                f"sections: {measured_side}: job_file must have a section "
                f"{name!r} that {side}s; sections: {', '.join(sections)}"
            )


def list_single_sides(
    arguments: base.Arguments, content: bytes
) -> list[tuple[str, str]]:
    """Return each section with two sides of which one is measured.

    :returns: The section, and its measured side as in ``sections``.
    """
    sections = _read_sections(content)
    measured: dict[str, list[str]] = {}
    for side in arguments["sections"]:
        measured.setdefault(side.partition(".")[0], []).append(side)
    return [
        (name, sides[0])
        for name, sides in measured.items()
        if len({*sides}) == 1 and len(_list_sides(sections[name])) > 1
    ]


def _list_sides(options: dict[str, str]) -> tuple[str, ...]:
    """Return what a section does: reads, writes or both."""
    pattern = options.get("rw", "read").removeprefix("rand")
    if pattern in ("rw", "readwrite"):
        return ("read", "write")
    return (pattern,)


def _read_sections(content: bytes) -> dict[str, dict[str, str]]:
    """Return the options of each section of a job file.

    :raises base.WorkloadError: If a line or an option is not valid.
    """
    options: dict[str, str] = {}
    sections: dict[str, dict[str, str]] = {}
    for number, line in enumerate(content.decode("latin-1").split("\n"), 1):
        match = _LINE.fullmatch(line)
        section, key, setting = match.groups() if match else ("", line, "")
        if section and section not in sections:
            options = sections[section] = dict(sections.get("global", {}))
        elif key and KEY.fullmatch(key) and sections and NAME not in line:
            options[key] = setting or ""
        elif section or key:
            raise base.WorkloadError(
                f"job_file: line {number}: {sanitize.line(line, 60)!r} must "
                "be a new section, or an option in a section that defines I/O "
                "in the working directory and no argument; delete it"
            )
    return sections


def command(arguments: base.Arguments, *options: str) -> tuple[str, ...]:
    """Return the command line words of fio with a job file.

    :param options: The first options, which select sections; options before
        the file are its defaults.
    """
    line = (
        "--eta=never --output-format=json+ --ioengine=libaio "
        "--direct={direct:d} --time_based --runtime={runtime} "
        "--ramp_time={ramp_time} --randseed=1 --overwrite=1 --group_reporting"
    )
    if arguments["rate_iops"]:
        line += " --rate_iops={rate_iops}"
    return ("fio", *options, *base.argv(line, arguments), NAME)


def parse(
    section: str, text: str, arguments: base.Arguments
) -> list[sample.Reading]:
    """Return the samples and latency distributions of a section.

    :raises base.WorkloadError: If fio reports another job.
    """
    report = document.Document.parse_single(text, "fio")
    # The file may set these options; the last value of an option counts.
    options = report.mapping("global options")
    options = options | report.mapping("jobs", 0, "job options")
    argv = (
        *command(arguments, f"--section={section}", _fio_result.PERCENTILES),
        *(f"--{key}={options[key]}" for key in options if KEY.fullmatch(key)),
    )
    readings: list[sample.Reading] = []
    for side in arguments["sections"]:
        if side.partition(".")[0] == section:
            _fio_result.check_command(side, text, argv)
            readings += _fio_result.parse(side, text, arguments["runtime"])
            readings.append(_fio_result.parse_latencies(side, text))
    return readings
