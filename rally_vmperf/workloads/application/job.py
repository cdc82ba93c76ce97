"""Workload of any program: a command of the operator."""

import posixpath
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import limits
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

#: Smallest and largest plausible value of the metrics of the operator.
_BOUNDS = (-1e15, 1e15)
#: Maximum number of characters of a line in which patterns are searched.
_LINE = 2000

_TEXT = r"^[^\x00-\x1f\x7f]{1,1000}$(?!\n)"

_METRIC = {
    "type": "object",
    "required": ["name", "unit", "better"],
    "additionalProperties": False,
    "properties": {
        "name": {
            "type": "string",
            "pattern": r"^[a-z][a-z0-9_]{0,31}$(?!\n)",
            "description": "Name of the metric after application.job.",
        },
        "unit": {
            "type": "string",
            "pattern": r"^[A-Za-z0-9%/]{1,16}$(?!\n)",
            "description": "Unit, a base unit (s, B/s, ops/s) where possible.",
        },
        "better": {
            "enum": ["higher", "lower"],
            "description": "Which direction is better.",
        },
        "scale": {
            "enum": ["ratio", "count"],
            "description": "A count can be 0 and has no overhead.",
        },
        "additive": {
            "type": "boolean",
            "description": "Whether the sum over guests is meaningful.",
        },
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "Regular expression with one group, which is the "
            "value; the last line that matches is used.",
        },
        "path": {
            "type": "string",
            "pattern": r"^[^.\x00-\x1f]+(\.[^.\x00-\x1f]+){0,9}$(?!\n)",
            "description": "Path of the value in the JSON object that the "
            "command prints, such as jobs.0.rate.",
        },
    },
}


class Job(base.Workload):
    """Any command, timed, with the metrics that it prints."""

    name = "job"
    title = "Application: a command of your own"
    part = "application"
    ARGUMENTS = schemas.schema(
        command={
            "type": "array",
            "description": "Program and arguments as a list of words, without "
            "a shell.",
            "items": {"type": "string", "pattern": _TEXT},
            "minItems": 1,
            "maxItems": 64,
            "default": ["true"],
        },
        copies=schemas.integer(
            "Number of concurrent copies, each in its own directory",
            1,
            64,
            default=1,
        ),
        expected_seconds=schemas.integer(
            "Expected duration, s",
            1,
            172800,
            default=60,
            note="it fails after ten times this duration plus 600 s",
        ),
        files={
            "type": "array",
            "description": "Absolute paths of files on the machine that runs "
            "rally-vmperf, which are copied to the directory of each copy.",
            "items": {
                "type": "string",
                "pattern": r"^/[^\x00-\x1f\x7f]+$(?!\n)",
            },
            "maxItems": 32,
            "uniqueItems": True,
            "default": [],
        },
        metrics={
            "type": "array",
            "description": "Metrics in its output: name, unit, better, and "
            "pattern or path.",
            "items": _METRIC,
            "maxItems": 32,
            "default": [],
        },
    )
    TOOLS = (tools.define("python3", affects_results=False),)

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with all defaults as a dict.

        :raises base.WorkloadError: If an argument is not valid, two metrics
            or files have the same name, or a pattern does not have exactly
            one group.
        """
        completed = super().complete(arguments)
        names = [metric["name"] for metric in completed["metrics"]]
        reserved = {
            metric.name.rpartition(".")[2] for metric in (*_TIMES, *_PARTS)
        }
        for name in names:
            if name in reserved or names.count(name) > 1:
                raise _argument_error(
                    f"metrics: the name {name!r} must be unique"
                )
        for metric in completed["metrics"]:
            _check_source(metric)
        file_names = [posixpath.basename(path) for path in completed["files"]]
        for name in (*file_names, *_RESERVED_NAMES):
            if [*file_names, *_RESERVED_NAMES].count(name) > 1:
                raise _argument_error(
                    f"files: the name {name!r} must be unique; rename a file"
                )
        return completed

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the script that runs the copies and the operator's files.

        Their checksums are compared with those of bare metal.
        """
        return (
            files.script("job.py"),
            *(
                base.File(name=posixpath.basename(path), path=path, mode=0o755)
                for path in arguments["files"]
            ),
        )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of the times and of the operator."""
        return (*_TIMES, *_PARTS, *map(_create_metric, arguments["metrics"]))

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs all copies."""
        return (
            base.Command(
                name="job",
                argv=(
                    *("python3", "job.py", f"--copies={arguments['copies']}"),
                    *("--", *arguments["command"]),
                ),
                timeout=10 * arguments["expected_seconds"] + 600,
                seconds=arguments["expected_seconds"],
                bound="size",
            ),
        )

    def parse(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the samples of all copies as a list sorted by metric.

        :raises base.WorkloadError: If a copy failed or did not print a metric.
        """
        report = document.Document(outcome.stdout, "job.py")
        copies = report.find("copies")
        if not isinstance(copies, list) or len(copies) != arguments["copies"]:
            raise base.WorkloadError(
                f"job.py did not report {arguments['copies']} copies; look at "
                "the raw output"
            )
        rows: list[list[float]] = []
        for copy in range(len(copies)):
            user, system, wall = (
                report.number("copies", copy, key)
                for key in ("user", "system", "seconds")
            )
            if wall > outcome.seconds + 0.01:
                raise base.WorkloadError(
                    f"copy {copy + 1} took {wall:g} s of a command that "
                    f"took {outcome.seconds:g} s; look at the raw output"
                )
            text = report.find("copies", copy, "stdout")
            rows.append(
                [wall, user + system, user, system]
                + [
                    _parse_value(metric_rule, text)
                    for metric_rule in arguments["metrics"]
                ]
            )
        return [
            limits.create_sample(metric, figure)
            for metric, column in zip(
                self.metrics(arguments), zip(*rows, strict=True), strict=True
            )
            for figure in column
        ]


#: Reserved names in the directory.
_RESERVED_NAMES = ("job.py",)


def _create_metric(metric: dict[str, t.Any]) -> sample.Metric:
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
        raise _argument_error(
            f"{location}: either pattern or path is required"
        )
    if "pattern" not in metric:
        return
    try:
        groups = re.compile(metric["pattern"]).groups
    except re.error as error:
        raise _argument_error(
            f"{location}: pattern {metric['pattern']!r} is not a valid "
            f"regular expression: {error}"
        ) from None
    if groups != 1:
        raise _argument_error(
            f"{location}: pattern {metric['pattern']!r} has {groups} groups; "
            "it must have one, which is the value"
        )


def _parse_value(metric: dict[str, t.Any], text: t.Any) -> float:
    """Find a metric's value in the output of a copy; return a float.

    :raises base.WorkloadError: If the output does not contain it.
    """
    if not isinstance(text, str):
        raise base.WorkloadError(
            "job.py did not report an output; look at the raw output"
        )
    if "path" in metric:
        keys = [
            int(key) if key.isdecimal() else key
            for key in metric["path"].split(".")
        ]
        return document.Document(text, "job").number(*keys)
    pattern = re.compile(metric["pattern"])
    for line in reversed(text.splitlines()):
        if match := pattern.search(line[:_LINE]):
            return outputs.parse_number(
                match[1] or "", f"job: {metric['name']}"
            )
    raise base.WorkloadError(
        f"job: {metric['name']}: no line matches the pattern; the output "
        f"ends with {sanitize.line(text[-200:], 80)!r}"
    )


def _argument_error(problem: str) -> base.WorkloadError:
    """Return a WorkloadError that describes an invalid argument."""
    return base.WorkloadError(f"workload job: {problem}")
