# SPDX-License-Identifier: Apache-2.0
"""Workload of any program: a command of the operator."""

import posixpath
import re
import typing as t

from rally_vmperf import json_schema
from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools

#: Always measured; the amount of work is fixed, so that rates can be added.
_TIMES = tuple(
    sample.Metric(f"application.job.{name}", "s", "lower", additive=True)
    for name in ("wall_time", "cpu_time")
)
#: The components of the CPU time; each can be 0.
_PARTS = tuple(
    sample.Metric(
        f"application.job.{name}", "s", "lower", scale="count", bounds=(0, 1e9)
    )
    for name in ("user_time", "system_time")
)

_SCRIPT = files.script("job.py")

#: Smallest and largest plausible value of the metrics of the operator.
_BOUNDS = (-1e15, 1e15)
#: Maximum number of characters of a line in which patterns are searched.
_LINE = 2000

_TEXT = r"^[^\x00-\x1f\x7f]{1,1000}$(?!\n)"

_METRIC = json_schema.closed_mapping(
    {
        "name": json_schema.text(
            "Name of the metric after application.job.",
            pattern=r"^[a-z][a-z0-9_]{0,31}$(?!\n)",
        ),
        "unit": json_schema.text(
            "Unit, a base unit (s, B/s, ops/s) where possible.",
            pattern=r"^[A-Za-z0-9%/]{1,16}$(?!\n)",
        ),
        "better": json_schema.choice(
            ("higher", "lower"), "Which direction is better."
        ),
        "scale": json_schema.choice(
            ("ratio", "count"), "A count can be 0 and has no overhead."
        ),
        "additive": json_schema.flag(
            "Whether the sum over guests is meaningful."
        ),
        "pattern": json_schema.name(
            "Regular expression with one group, which is the value; the last "
            "line that matches is used.",
            maxLength=200,
        ),
        "path": json_schema.text(
            "Path of the value in the JSON object that the command prints, "
            "such as jobs.0.rate.",
            pattern=r"^[^.\x00-\x1f]+(\.[^.\x00-\x1f]+){0,9}$(?!\n)",
        ),
    },
    *("name", "unit", "better"),
)


class JobWorkload(base.Workload):
    """Any command, timed, with the metrics that it prints."""

    name = "job"
    title = "Application: a command of your own"
    part = "application"
    OUTPUT_BOUNDS = output_bounds.JSON
    ARGUMENTS = schemas.schema(
        command=schemas.texts(
            "Program and arguments as a list of words, without a shell.",
            _TEXT,
            64,
            distinct=False,
            default=["true"],
        ),
        copies=schemas.concurrency("copies, each in its own directory", 64),
        expected_seconds=schemas.integer(
            "Expected duration, s",
            1,
            172800,
            default=60,
            note="it fails after ten times this duration plus 600 s",
        ),
        files=schemas.texts(
            "Absolute paths of files on the machine that runs rally-vmperf, "
            "which are copied to the directory of each copy.",
            r"^/[^\x00-\x1f\x7f]+$(?!\n)",
        ),
        metrics={
            "type": "array",
            "description": "Metrics in its output: name, unit, better, and "
            "pattern or path.",
            "items": _METRIC,
            "maxItems": 32,
            "default": [],
        },
    )
    TOOLS = (tools.auxiliary("python3"),)

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject duplicate names and invalid patterns.

        :raises ValueError: If two metrics or files have the same name, or a
            pattern does not have exactly one group.
        """
        names = [metric["name"] for metric in arguments["metrics"]]
        reserved = {
            metric.name.rpartition(".")[2] for metric in (*_TIMES, *_PARTS)
        }
        for name in names:
            if name in reserved or names.count(name) > 1:
                raise ValueError(f"metrics: the name {name!r} must be unique")
        for metric in arguments["metrics"]:
            _check_source(metric)
        file_names = [posixpath.basename(path) for path in arguments["files"]]
        file_names.append(_SCRIPT.name)
        for name in file_names:
            if file_names.count(name) > 1:
                raise ValueError(
                    f"files: the name {name!r} must be unique; rename a file"
                )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the script that runs the copies and the operator's files.

        Their checksums are compared with those of bare metal.
        """
        return (
            _SCRIPT,
            *(
                base.File(name=posixpath.basename(path), path=path, mode=0o755)
                for path in arguments["files"]
            ),
        )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of the times and of the operator."""
        return (*_TIMES, *_PARTS, *map(create_metric, arguments["metrics"]))

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs all copies."""
        seconds = arguments["expected_seconds"]
        runner = base.argv("python3 job.py --copies={copies} --", arguments)
        command = base.Command(
            name="job",
            argv=(*runner, *arguments["command"]),
            timeout=10 * seconds + 600,
            seconds=seconds,
            bound="size",
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of all copies as a list sorted by metric.

        :raises base.WorkloadError: If a copy failed or did not print a metric.
        """
        report = document.Document(result.stdout, "job.py")
        if len(report.array("copies")) != arguments["copies"]:
            raise outputs.Reader("job.py").error(
                f"did not report {arguments['copies']} copies"
            )
        rows: list[list[float]] = []
        for number in range(arguments["copies"]):
            copy = report.at("copies", number)
            user, system, wall = copy.numbers("user", "system", "seconds")
            copy_output = outputs.Reader(f"copy {number + 1}")
            copy_output.check_duration(wall, result)
            text = copy.find("stdout")
            figures = [
                parse_value(rule, text) for rule in arguments["metrics"]
            ]
            rows.append([wall, user + system, user, system, *figures])
        columns = zip(*rows, strict=True)
        return [
            outputs.create_sample(metric, figure)
            for metric, column in zip(
                self.metrics(arguments), columns, strict=True
            )
            for figure in column
        ]


def create_metric(metric: dict[str, t.Any]) -> sample.Metric:
    """Return the Metric that an entry of the arguments defines."""
    return sample.Metric(
        f"application.job.{metric['name']}",
        metric["unit"],
        metric["better"],
        scale=metric.get("scale", "ratio"),
        additive=metric.get("additive"),
        bounds=_BOUNDS,
    )


def _check_source(metric: dict[str, t.Any]) -> None:
    """Reject a metric without a pattern or path, or with both."""
    location = f"metrics: {metric['name']}"
    if ("pattern" in metric) == ("path" in metric):
        raise ValueError(f"{location}: either pattern or path is required")
    if "pattern" not in metric:
        return
    try:
        groups = re.compile(metric["pattern"]).groups
    except re.error as error:
        raise ValueError(
            f"{location}: pattern {metric['pattern']!r} is not a valid "
            f"regular expression: {error}"
        ) from None
    if groups != 1:
        raise ValueError(
            f"{location}: pattern {metric['pattern']!r} has {groups} groups; "
            "it must have one, which is the value"
        )


def parse_value(metric: dict[str, t.Any], text: t.Any) -> float:
    """Find a metric's value in the output of a copy; return a float.

    :raises base.WorkloadError: If the output does not contain it.
    """
    if not isinstance(text, str):
        raise outputs.Reader("job.py").error("did not report an output")
    if "path" in metric:
        keys = [
            int(key) if key.isdecimal() else key
            for key in metric["path"].split(".")
        ]
        return document.Document(text, "job").number(*keys)
    pattern = re.compile(metric["pattern"])
    for line in reversed(text.splitlines()):
        if match := pattern.search(line[:_LINE]):
            return outputs.Reader("job").number(match[1] or "", metric["name"])
    raise base.WorkloadError(
        f"job: {metric['name']}: no line matches the pattern; the output "
        f"ends with {sanitize.line(text[-200:], 80)!r}"
    )
