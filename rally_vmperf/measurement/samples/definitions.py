# SPDX-License-Identifier: Apache-2.0
"""The definitions of metrics in a document, to which names in it refer."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import fields
from rally_vmperf.measurement.samples import sample


def _define(
    definitions: dict[str, dict[str, t.Any]], known: dict[str, sample.Metric]
) -> tuple[sample.Metric, ...]:
    """Return the metrics of a document as a tuple.

    :param known: The metrics to which names refer; they are replaced.
    """
    known.clear()
    for name, definition in definitions.items():
        known[name] = sample.Metric(name, **definition)
    return tuple(known.values())


def _build_definitions(core: t.Any, _: t.Any, handler: t.Any) -> t.Any:
    """Return the schema of definitions, an object by name of the metric."""
    objects = core.dict_schema(
        core.str_schema(), fields.build_object(sample.Metric, core, handler)
    )
    return core.with_info_after_validator_function(
        lambda definitions, info: _define(definitions, info.context),
        objects,
        serialization=core.plain_serializer_function_ser_schema(
            lambda metrics: {
                metric.name: fields.list_values(metric) for metric in metrics
            },
            return_schema=objects,
        ),
    )


Definitions = t.Annotated[
    tuple[sample.Metric, ...], fields.Schema(_build_definitions)
]


class Defining(fields.Stored):
    """A dataclass whose field ``metrics`` defines the metrics of its fields.

    Metrics that it does not list are added to its document.
    """

    @classmethod
    def build_object(cls, core: t.Any, handler: t.Any) -> t.Any:
        """Return the schema of its document, which reads ``metrics`` first."""
        content = super().build_object(core, handler)
        keys = content["fields"]
        content["fields"] = {"metrics": keys["metrics"], **keys}
        return content

    def list_values(self) -> dict[str, t.Any]:
        """Return the values in its document, with all of its metrics."""
        metrics = {metric.name: metric for metric in _find_metrics(self)}
        return {**super().list_values(), "metrics": tuple(metrics.values())}


def _find_metrics(value: t.Any) -> collections.abc.Iterator[sample.Metric]:
    """Yield the metrics in a value, those in fields first."""
    if isinstance(value, sample.Metric):
        yield value
    elif isinstance(value, sample.Observation):
        # A document has tens of thousands.
        yield value.sample.metric
    elif dataclasses.is_dataclass(value):
        for field in fields.list_fields(t.cast(type, type(value))):
            yield from _find_metrics(getattr(value, field.name))
    elif isinstance(value, tuple):
        for element in value:
            yield from _find_metrics(element)
    elif isinstance(value, collections.abc.Mapping):
        for pair in value.items():
            yield from _find_metrics(pair)
