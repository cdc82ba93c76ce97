"""Files of limits: one form for reports, Tempest and the sla of a task."""

import pathlib
import typing as t

import yaml

from rally_vmperf.questions import table
from rally_vmperf.questions.common import task

Limits = dict[str, dict[str, t.Any]]


class LimitsError(Exception):
    """A file of limits cannot be used; one line."""


def read(path: str) -> t.Any:
    """Return what a file of limits, or any other YAML file, holds.

    :raises LimitsError: for one that cannot be read
    """
    try:
        return yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise LimitsError(f"{path}: {error.strerror or error}") from error
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())[:300]
        raise LimitsError(f"{path} is no YAML: {reason}") from error


def by_criterion(path: str, content: t.Any, main: str) -> Limits:
    """Return limits by the name of their SLA.

    :param path: of the file, for messages
    :param content: of the file
    :param main: the SLA that is meant where the file names none
    :raises LimitsError: for what is no SLA, or not what one takes
    """
    known = table.criteria()
    named = isinstance(content, dict) and any(one in known for one in content)
    found = content if named else {main: content}
    for name, limits in found.items():
        if name not in known:
            raise LimitsError(
                f"limits {path}: {name} is no SLA of ours, use "
                f"{', '.join(known)}"
            )
        try:
            task.check_form(limits, known[name].schema, name)
        except task.Refused as error:
            raise LimitsError(f"limits {path}: {error}") from error
    return t.cast(Limits, found)
