"""From a record of kind density to the curve that it holds."""

import collections.abc

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import curve
from rally_vmperf.records import codec

Json = codec.Json

#: Stands in the place of bare metal that was not measured.
NO_REFERENCE = repetition.Reference(
    name="", machine="", recorded_at="", repetitions=()
)


def readable(record: Json | None) -> curve.Curve | None:
    """Return what a record holds, None where there is none or no sense."""
    if record is None:
        return None
    try:
        return decode(record)
    except (KeyError, TypeError, ValueError):
        return None


def decode(record: Json) -> curve.Curve:
    """Return the curve that a valid record holds.

    :raises ValueError: for a record of another kind
    """
    if record["kind"] != "density":
        raise ValueError(f"a record of kind {record['kind']}, not density")
    metrics = codec.decode_metrics(record["metrics"])
    levels = [_level(record, level, metrics) for level in record["levels"]]
    return curve.Curve(
        number=record["repetition"],
        planned=record["planned"],
        counted=record["counted"],
        levels=tuple(sorted(levels, key=lambda level: level.guests)),
        hosts=_hosts(record),
        whole=repetition.Repetition(
            number=record["repetition"],
            planned=record["planned"],
            counted=record["counted"],
            state=record["state"],
            expected=_expected(record, metrics),
            observations=(),
            missing=codec.decode_missing(record),
            findings=codec.decode_findings(record),
            reference=NO_REFERENCE,
        ),
    )


def _level(
    record: Json,
    level: Json,
    metrics: collections.abc.Mapping[str, sample.Metric],
) -> curve.Level:
    reference = level["reference"]
    return curve.Level(
        guests=level["guests"],
        position=level["position"],
        skipped=level["skipped"],
        machines=tuple(level["machines"]),
        starts=tuple(curve.Start(**one) for one in level["starts"]),
        repetition=repetition.Repetition(
            number=record["repetition"],
            planned=record["planned"],
            counted=record["counted"],
            # What is skipped lacks nothing that was to be measured.
            state=(
                "complete" if level["state"] == "skipped" else level["state"]
            ),
            expected=(() if level["skipped"] else _expected(record, metrics)),
            observations=codec.decode_observations(level["samples"], metrics),
            missing=codec.decode_missing(level),
            findings=codec.decode_findings(level),
            reference=(
                codec.decode_reference(reference, metrics)
                if reference
                else NO_REFERENCE
            ),
        ),
    )


def _expected(
    record: Json, metrics: collections.abc.Mapping[str, sample.Metric]
) -> tuple[sample.Metric, ...]:
    return tuple(metrics[name] for name in record["expected"])


def _hosts(record: Json) -> dict[str, str]:
    """Return guest -> host as far as the cloud told, by name or by id."""
    hosts = {}
    for machine in record["machines"]:
        nova = machine.get("nova", {})
        host = next(
            (
                nova[key]
                for key in ("host", "hypervisor", "host_id")
                if nova.get(key)
            ),
            "",
        )
        if machine["role"] == "guest" and host:
            hosts[machine["name"]] = str(host)
    return hosts
