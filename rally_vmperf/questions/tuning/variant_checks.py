"""Checks of a tuning task that run before any guest boots."""

import difflib

from rally_vmperf.execution.stations import open_files
from rally_vmperf.questions.common import task
from rally_vmperf.questions.tuning import variants as variants_
from rally_vmperf.questions.tuning.section import self_check


def check_task(subtask: variants_.Task) -> list[str]:
    """Reject variants or guests in conflict; return warnings as a list.

    :returns: The warnings, one sentence each.
    """
    arguments = subtask.arguments
    check_variants(subtask)
    _check_guests(subtask)
    variants = arguments.variants
    open_files.allow_files(subtask.count * len(variants))
    warnings = [
        f"variants: {variant['name']}: Nova does not document {name!r}, and "
        f"ignores unknown names{_suggest(name)}"
        for variant in variants
        for name in variants_.find_unknown_properties(variant)
    ]
    equal = self_check.find_equal(
        [
            variants_.create_group(variant, subtask.guests)
            for variant in variants
        ]
    )
    warnings += [
        f"variants: {name} is equal to {other}: they differ by their boots "
        "only"
        for name, other in equal.items()
    ]
    counted = subtask.times - subtask.warmup
    if arguments.order == "blocks" and counted % len(variants):
        warnings.append(
            f"order=blocks: {counted} counted repetitions are not a multiple "
            f"of {len(variants)} variants, so that drift affects some "
            "variants slightly more than others; change times of the runner"
        )
    if not variants_.have_one_host(variants):
        warnings.append(
            "variants: guests on several hosts also differ in their hardware "
            "(finding variant_host_differs)"
        )
    return warnings


def check_variants(subtask: variants_.Task) -> None:
    """Reject variants that are not valid, or that cannot be compared."""
    arguments = subtask.arguments
    names = variants_.list_names(arguments.variants)
    for name in names:
        if names.count(name) > 1:
            raise task.InvalidTask(
                f"variants: {name!r} is the name of {names.count(name)} "
                "variants; each name must be unique"
            )
    reference = arguments.reference
    if reference is not None and reference not in names:
        raise task.InvalidTask(
            f"reference={reference!r:.80}: must be the name of a variant "
            f"({', '.join(names)})"
        )


def _check_guests(subtask: variants_.Task) -> None:
    """Reject options by which guests of variants are on different hosts."""
    options = subtask.guests
    if options.get("hosts"):
        raise task.InvalidTask(
            "hosts: variants are compared on one host; set host"
        )
    server_group = options.get("server_group") or ""
    if server_group.endswith("anti-affinity"):
        raise task.InvalidTask(
            f"server_group={server_group}: variants are compared on one "
            "host; use affinity, or remove it"
        )
    for variant in subtask.arguments.variants:
        for key in ("host", "aggregate"):
            placed = [
                option
                for option in ("host", "aggregate", "server_group")
                if options.get(option)
            ]
            if variant.get(key) and placed:
                raise task.InvalidTask(
                    f"variants: {variant['name']}: {key} contradicts "
                    f"{placed[0]} of vmperf_guests; remove one of them"
                )
        if variant.get("network") and options.get("networks"):
            raise task.InvalidTask(
                f"variants: {variant['name']}: network contradicts networks "
                "of vmperf_guests; remove one of them"
            )


def _suggest(name: str) -> str:
    """Return the known name that is most similar as text, or ""."""
    close = difflib.get_close_matches(name, variants_.KNOWN_PROPERTIES, 1)
    return f"; did you mean {close[0]}?" if close else ""
