"""Workload of any program: a command of the operator's."""

import posixpath
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

#: Always measured; a fixed amount of work, so that times add up as rates.
_TIMES = tuple(
    sample.Metric(f"application.job.{name}", "s", "lower", additive=True)
    for name in ("wall_time", "cpu_time")
)
#: The parts of the CPU time, of which either can be nothing.
_PARTS = tuple(
    sample.Metric(
        f"application.job.{name}", "s", "lower", scale="count", bounds=(0, 1e9)
    )
    for name in ("user_time", "system_time")
)

#: Smallest and largest value of the operator's metrics that is believed.
_BOUNDS = (-1e15, 1e15)
#: Characters of a line that patterns are looked for in.
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
            "description": "What follows application.job.",
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
            "description": "A count can be zero and has no overhead.",
        },
        "additive": {
            "type": "boolean",
            "description": "Whether the sum over guests means something.",
        },
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "Regular expression with one group, the value; "
            "the last line that has it counts.",
        },
        "path": {
            "type": "string",
            "pattern": r"^[^.\x00-\x1f]+(\.[^.\x00-\x1f]+){0,9}$(?!\n)",
            "description": "Where the value is in the JSON object that it "
            "prints, such as jobs.0.rate.",
        },
    },
}


class Job(base.Workload):
    """Any command, timed, with the metrics that it prints."""

    name = "job"
    title = "Application: a command of your own"
    part = "application"
    ARGUMENTS = rules.schema(
        command={
            "type": "array",
            "description": "Program and arguments, a list of words; no shell "
            "looks at them.",
            "items": {"type": "string", "pattern": _TEXT},
            "minItems": 1,
            "maxItems": 64,
            "default": ["true"],
        },
        copies=rules.integer(
            "Copies of the command at the same time, each in its own folder",
            1,
            64,
            default=1,
        ),
        expected_seconds=rules.integer(
            "About how long it takes, s",
            1,
            172800,
            default=60,
            note="it fails after ten times as long and ten minutes more",
        ),
        files={
            "type": "array",
            "description": "Files of the machine that runs this program, "
            "absolute paths, brought into the folder of each copy.",
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
            "description": "What it prints: name, unit, better, and pattern "
            "or path.",
            "items": _METRIC,
            "maxItems": 32,
            "default": [],
        },
    )
    TOOLS = (tools.of("python3", measures=False),)

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for two metrics or files of one name,
            and for a pattern without one group
        """
        complete = super().complete(arguments)
        names = [one["name"] for one in complete["metrics"]]
        taken = {one.name.rpartition(".")[2] for one in (*_TIMES, *_PARTS)}
        for name in names:
            if name in taken or names.count(name) > 1:
                raise _refused(f"metrics: {name!r} is given twice")
        for one in complete["metrics"]:
            _check_source(one)
        brought = [posixpath.basename(path) for path in complete["files"]]
        for name in (*brought, *_OWN):
            if [*brought, *_OWN].count(name) > 1:
                raise _refused(f"files: two are called {name!r}; rename one")
        return complete

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the program that runs the copies, and the operator's files.

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
        """Return wall time, CPU time and its parts, then the operator's."""
        return (*_TIMES, *_PARTS, *map(_metric, arguments["metrics"]))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one command that runs all copies."""
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

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the samples of all copies, by metric.

        :raises base.WorkloadError: when a copy failed, or lacks a metric
        """
        told = document.Document(outcome.stdout, "job.py")
        copies = told.find("copies")
        if not isinstance(copies, list) or len(copies) != arguments["copies"]:
            raise base.WorkloadError(
                f"job.py reports another number of copies than "
                f"{arguments['copies']}; look at the raw output"
            )
        values: list[list[float]] = []
        for number in range(len(copies)):
            user, system, wall = (
                told.number("copies", number, key)
                for key in ("user", "system", "seconds")
            )
            if wall > outcome.seconds + 0.01:
                raise base.WorkloadError(
                    f"copy {number + 1} took {wall:g} s of a command that "
                    f"took {outcome.seconds:g} s; look at the raw output"
                )
            text = told.find("copies", number, "stdout")
            values.append(
                [wall, user + system, user, system]
                + [_value(one, text) for one in arguments["metrics"]]
            )
        return [
            limits.measured(metric, value)
            for metric, column in zip(
                self.metrics(arguments), zip(*values, strict=True), strict=True
            )
            for value in column
        ]


#: Names in the folder that are taken.
_OWN = ("job.py",)


def _metric(one: dict[str, t.Any]) -> sample.Metric:
    return sample.Metric(
        f"application.job.{one['name']}",
        one["unit"],
        one["better"],
        scale=one.get("scale", "ratio"),
        additive=one.get("additive"),
        bounds=_BOUNDS,
    )


def _check_source(one: dict[str, t.Any]) -> None:
    """Refuse a metric without a pattern or path, or with both."""
    where = f"metrics: {one['name']}"
    if ("pattern" in one) == ("path" in one):
        raise _refused(f"{where} needs either a pattern or a path")
    if "pattern" not in one:
        return
    try:
        groups = re.compile(one["pattern"]).groups
    except re.error as error:
        raise _refused(
            f"{where}: {one['pattern']!r} is no regular expression: {error}"
        ) from None
    if groups != 1:
        raise _refused(
            f"{where}: {one['pattern']!r} has {groups} groups instead of the "
            "one that is the value"
        )


def _value(one: dict[str, t.Any], text: t.Any) -> float:
    """Return the value of a metric in what a copy printed.

    :raises base.WorkloadError: when it is not there
    """
    if not isinstance(text, str):
        raise base.WorkloadError(
            "job.py reports no output; look at the raw output"
        )
    if "path" in one:
        steps = [
            int(step) if step.isdecimal() else step
            for step in one["path"].split(".")
        ]
        return document.Document(text, "job").number(*steps)
    pattern = re.compile(one["pattern"])
    for line in reversed(text.splitlines()):
        if found := pattern.search(line[:_LINE]):
            return outputs.number(found[1] or "", f"job: {one['name']}")
    raise base.WorkloadError(
        f"job: {one['name']}: no line has what is looked for; the output "
        f"ends with {sanitize.line(text[-200:], 80)!r}"
    )


def _refused(what: str) -> base.WorkloadError:
    return base.WorkloadError(f"workload job: {what}")
