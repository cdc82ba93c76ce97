# SPDX-License-Identifier: Apache-2.0
"""Raw outputs of tools that ran on machines that cannot be reached.

Arguments are read from the output, because there is no command line. Arguments
that it does not contain are omitted, not guessed.
"""

import collections.abc
import dataclasses
import itertools
import json
import math
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import tools

Samples = tuple[sample.Sample, ...]
#: The argument of tools that measure one direction, with its meaning.
DIRECTION = {"direction": "to_peer, from_peer or guest_to_guest"}
_DIRECTIONS = ("to_peer", "from_peer", "guest_to_guest")
_OBJECT = re.compile(r"^[ \t]*\{", re.M)
#: The figure of each metric; None without one.
Figures = collections.abc.Mapping[sample.Metric, float | None]
#: The arguments that the user gives with an output, by name.
Given = collections.abc.Mapping[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RawOutput:
    """Results and arguments, read from the outputs of one tool.

    :param workload: The name of the workload of the tool.
    :param arguments: The arguments that the outputs contain.
    :param repetitions: The samples of each repetition.
    :param label: The label that distinguishes it from other outputs of the
        tool with the same metrics; empty for the usual arguments.
    :param notes: The descriptions of results that are omitted.
    :param versions: The program and the text with its version, of each
        version; empty if the outputs do not state it.
    """

    workload: str
    arguments: dict[str, t.Any]
    repetitions: tuple[Samples, ...]
    label: str = ""
    notes: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def metrics(self) -> tuple[sample.Metric, ...]:
        """The metrics of the samples, each once."""
        samples = itertools.chain.from_iterable(self.repetitions)
        return tuple(dict.fromkeys(value.metric for value in samples))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The arguments that the outputs do not contain, sorted."""
        workload = registry.get_workload(self.workload)
        names = {
            *workload.ARGUMENTS["properties"],
            *workload.TOOL_OPTIONS.list_unstated(),
        }
        return tuple(sorted(names - self.arguments.keys()))


@dataclasses.dataclass(frozen=True, kw_only=True)
class RawReader:
    """A reader of the outputs of one tool.

    :param tool: The name of the tool.
    :param signature: The pattern by which its output in text is recognised.
    :param json_texts: The texts by which its output in JSON is recognised.
    :param searches_lines: Whether it searches whole lines for patterns, so
        that their length is limited.
    :param read: A function of the text and of the given arguments that
        returns the outputs in it. It raises ``WorkloadError`` if the text is
        not a complete output.
    :param given: The arguments that the user can give, with their meaning.
    :param version: The pattern of the text with the version of the tool, a
        group; None if no output states it.
    """

    tool: str
    read: t.Callable[[str, Given], list[RawOutput]]
    signature: re.Pattern[str] | None = None
    json_texts: tuple[str, ...] = ()
    searches_lines: bool = True
    given: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    version: re.Pattern[str] | None = None

    def find_versions(
        self, text: str, given: Given
    ) -> tuple[tuple[str, str], ...]:
        """Return the program and its version; () if it is unknown."""
        match = self.version and self.version.search(text)
        version = given.get("version") or (match[1] if match else "")
        return ((self.tool, version),) if version else ()

    def recognises(self, text: str, *, is_json: bool = False) -> bool:
        """Return whether an output is one of the tool.

        :param is_json: Whether it can be JSON only, since its lines are too
            long for patterns.
        """
        if any(part in text for part in self.json_texts):
            return True
        return not is_json and bool(
            self.signature and self.signature.search(text)
        )


def error(tool: str, problem: str) -> base.WorkloadError:
    """Return the error of an output that is not accepted."""
    return base.WorkloadError(f"{tool}: {problem}")


def check_given(
    tool: str,
    given: Given,
    name: str,
    allowed: collections.abc.Collection[str],
) -> None:
    """Reject a given argument that is none of the allowed ones."""
    if name in given and given[name] not in allowed:
        raise error(
            tool,
            f"{name}={given[name]!r:.80}: must be one of {', '.join(allowed)}",
        )


def find_direction(tool: str, given: Given, default: str) -> str:
    """Return the direction that the user gives, or the default."""
    check_given(tool, given, "direction", _DIRECTIONS)
    return given.get("direction", default)


#: The shortest run in seconds of which a network tool states the exact time.
_SHORTEST = 0.5
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def check_steady(tool: str, seconds: float) -> None:
    """Reject a run in whose time TCP has no steady rate."""
    if seconds < _SHORTEST:
        raise error(
            tool,
            f"ended after {seconds:.3g} s, in which TCP has no steady rate",
        )


def parse_bit_rate(row: re.Match[str]) -> float:
    """Return the bits per second in a row of iperf or iperf3.

    Bytes are counted in powers of 1024, and bits in powers of 1000.
    """
    power = _POWERS[row["prefix"]]
    factor: int = 8 * 1024**power if row["unit"] == "Bytes" else 1000**power
    return float(row["rate"]) * factor


def several_runs(tool: str) -> base.WorkloadError:
    """Return the error of an output with several runs."""
    return error(tool, "the output has several runs; give each its own file")


def create_samples(figures: Figures) -> Samples:
    """Return the samples of metrics that have a figure."""
    return tuple(outputs.create_samples(figures.keys(), figures.values()))


def create_output(
    workload: str,
    arguments: dict[str, t.Any],
    figures: Figures,
    label: str = "",
) -> RawOutput:
    """Return the output of one repetition.

    :param figures: The figure of each metric; None for an optional metric
        without one.
    """
    return RawOutput(
        workload=workload,
        arguments=arguments,
        repetitions=(create_samples(figures),),
        label=label,
    )


#: The largest share of a value by which a tool rounds it to three digits.
_THREE_DIGITS = 0.005


def round_rates(output: RawOutput) -> RawOutput:
    """Return an output whose rates have the three digits of a table."""
    return dataclasses.replace(
        output,
        repetitions=tuple(
            tuple(
                sample.Sample(
                    dataclasses.replace(value.metric, resolution=_THREE_DIGITS)
                    if value.metric.better == "higher"
                    else value.metric,
                    value.value,
                )
                for value in samples
            )
            for samples in output.repetitions
        ),
    )


def find_metric(workload: str, name: str, **arguments: t.Any) -> sample.Metric:
    """Return a metric of a workload by its name.

    :param arguments: The arguments with which the workload has it.
    """
    tool = registry.get_workload(workload)
    return next(
        metric
        for metric in tool.metrics(tool.complete(arguments))
        if metric.name == name
    )


def merge(parsed: collections.abc.Iterable[RawOutput]) -> list[RawOutput]:
    """Return the outputs, merged by workload, label and metrics.

    :raises base.WorkloadError: If outputs with the same metrics have different
        arguments, or are of versions that are not comparable.
    """
    merged: dict[tuple[str, ...], RawOutput] = {}
    for output in parsed:
        metrics = {metric.name for metric in output.metrics}
        key = (output.workload, output.label, *sorted(metrics))
        first = merged.get(key)
        if first is None:
            if any(
                other[:2] == key[:2] and metrics & set(other[2:])
                for other in merged
            ):
                raise error(
                    output.workload,
                    "outputs have some of their metrics in common; use "
                    "outputs of the same tests",
                )
            merged[key] = output
            continue
        if first.arguments != output.arguments:
            raise error(
                output.workload,
                f"outputs of one side have different arguments "
                f"({_describe_changes(first.arguments, output.arguments)}); "
                "give those of one command line",
            )
        versions = tuple(dict.fromkeys(first.versions + output.versions))
        _check_versions(output.workload, versions)
        merged[key] = dataclasses.replace(
            first,
            repetitions=first.repetitions + output.repetitions,
            versions=versions,
        )
    return list(merged.values())


def _check_versions(
    workload: str, versions: collections.abc.Sequence[tuple[str, str]]
) -> None:
    """Reject several versions of a program whose own code is measured."""
    known = {
        tool.command: tool for tool in registry.get_workload(workload).TOOLS
    }
    texts = [text for _, text in versions]
    if len({*map(tools.parse_version, texts)}) > 1 and not known[
        versions[0][0]
    ].is_comparable(*texts):
        raise error(
            workload,
            f"outputs of one side are of different versions "
            f"({' and '.join(texts)}); give those of one version",
        )


def _describe_changes(first: dict[str, t.Any], other: dict[str, t.Any]) -> str:
    """Return the arguments that differ as text."""
    return ", ".join(
        f"{key}: {first.get(key)!r} and {other.get(key)!r}"
        for key in sorted({*first, *other})
        if first.get(key) != other.get(key)
    )


def number(content: object) -> float:
    """Return a finite number of a JSON object.

    :raises ValueError: If it is another type or not finite.
    """
    if isinstance(content, bool) or not isinstance(content, int | float):
        raise ValueError(f"{content!r:.40} is not a number")
    if not math.isfinite(content):
        raise ValueError(f"{content!r} is not a finite number")
    return float(content)


def _build_object(pairs: list[tuple[str, t.Any]]) -> dict[str, t.Any]:
    """Return a JSON object; reject a key with two values.

    iperf3 prints some keys twice, with the same value.
    """
    members = dict(pairs)
    if all(members[key] == value for key, value in pairs):
        return members
    return documents.build_mapping(pairs)


def load_objects(tool: str, text: str) -> list[dict[str, t.Any]]:
    """Return the JSON objects in an output, which begin in lines of their own.

    fio prints one after the other during a run.
    """
    if documents.may_exceed(text, output_bounds.MAX_JSON_VALUES):
        raise error(
            tool,
            f"the JSON has more than {output_bounds.MAX_JSON_VALUES} values",
        )
    decoder = json.JSONDecoder(object_pairs_hook=_build_object)
    objects: list[dict[str, t.Any]] = []
    begin = _OBJECT.search(text)
    while begin:
        try:
            content, end = decoder.raw_decode(text, begin.end() - 1)
            if output_bounds.is_too_deep(content):
                raise ValueError("it has too many levels")
        except (ValueError, RecursionError) as problem:
            raise error(tool, f"the JSON is damaged: {problem}") from None
        objects.append(content)
        begin = _OBJECT.search(text, end)
    if not objects:
        raise error(tool, "the output has no JSON object")
    return objects


def load_object(tool: str, text: str) -> dict[str, t.Any]:
    """Return the JSON object in an output; reject several.

    iperf3 3.16 and 3.17 can print the same object twice.
    """
    first, *others = load_objects(tool, text)
    if any(other != first for other in others):
        raise several_runs(tool)
    return first


def describe(text: str) -> str:
    """Return the beginning of a text for messages."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return repr(sanitize.line(first, 80))
