# SPDX-License-Identifier: Apache-2.0
"""Known differences of hosts, accepted until a date."""

import collections.abc
import dataclasses
import datetime
import fnmatch
import pathlib
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import json_schema

_SCHEMA: documents.Schema = json_schema.array(
    json_schema.closed_mapping(
        {
            "host": json_schema.name("Name of the host."),
            "metrics": json_schema.name("Metric or glob; default: all."),
            "loss_percent": json_schema.number(
                "Largest loss that is accepted; 100 also accepts what is "
                "missing.",
                minimum=0,
            ),
            "until": json_schema.name("Last day on which it is accepted."),
            "reason": json_schema.name("Reason, for the table."),
        },
        *("host", "loss_percent", "until", "reason"),
    )
)
#: The loss in percent of what is missing: a metric, a result, or others to
#: compare a host with.
ALL_LOST = 100.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Acknowledgement:
    """A known difference of a host.

    :param metrics: The metric or glob; ``*`` accepts a missing result, too.
    :param loss_percent: The largest accepted loss in percent.
    :param until: The last day on which it is accepted.
    """

    host: str
    metrics: str
    loss_percent: float
    until: datetime.date
    reason: str

    def covers(self, low: float | None) -> bool:
        """Return whether a loss may be within the accepted loss.

        :param low: The lower end of its interval; None without an interval.
        """
        return low is not None and low <= self.loss_percent

    def describe(self) -> str:
        """Return the reason with its last day as text."""
        return f"{self.reason} (until {self.until})"


class Acknowledgements:
    """The known differences of all hosts.

    :param entries: The known differences.
    :param today: The day of the audit.
    """

    def __init__(
        self,
        entries: collections.abc.Iterable[Acknowledgement] = (),
        today: datetime.date = datetime.date.min,
    ) -> None:
        self._valid: dict[str, list[Acknowledgement]] = {}
        self._expired = []
        for entry in entries:
            if entry.until < today:
                self._expired.append(entry)
            else:
                self._valid.setdefault(entry.host, []).append(entry)

    def find(self, host: str, metric: str = "") -> Acknowledgement | None:
        """Return the known difference with the largest loss, or None.

        :param metric: The name of the metric; "" for the host as a whole.
        """
        return max(
            (
                entry
                for entry in self._valid.get(host, ())
                if fnmatch.fnmatchcase(metric, entry.metrics)
            ),
            key=lambda entry: entry.loss_percent,
            default=None,
        )

    def list_expired(self) -> list[str]:
        """Return a sentence for each difference that is no longer accepted."""
        return [
            f"the acknowledgement of {entry.host} ({entry.reason}) expired on "
            f"{entry.until}"
            for entry in self._expired
        ]

    def list_unknown_hosts(
        self, hosts: collections.abc.Container[str]
    ) -> list[str]:
        """Return a sentence for each host that is not in the audit."""
        return [
            f"the acknowledgement of {host} applies to no host of the audit"
            for host in self._valid
            if host not in hosts
        ]


def read(path: str, today: datetime.date) -> Acknowledgements:
    """Return the known differences in a YAML file.

    :raises VMPerfError: If the file is not valid.
    """
    try:
        content = documents.read_yaml(pathlib.Path(path))
        content = _format_dates(content)
        documents.check(_SCHEMA, content, path)
        return Acknowledgements(
            [
                Acknowledgement(
                    host=entry["host"],
                    metrics=entry.get("metrics", "*"),
                    loss_percent=entry["loss_percent"],
                    until=_parse_day(entry["until"], path),
                    reason=entry["reason"],
                )
                for entry in content
            ],
            today,
        )
    except documents.DocumentError as error:
        raise errors.VMPerfError(f"--acknowledge {error}") from error


def _parse_day(text: str, path: str) -> datetime.date:
    """Return the day in a text such as 2026-12-31.

    :param path: The path of the file, for the message.
    """
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise errors.VMPerfError(
            f"--acknowledge {path}: until: {text!r:.80}: must be a day such "
            "as 2026-12-31"
        ) from None


def _format_dates(content: t.Any) -> t.Any:
    """Return a list whose dates, which YAML has without quotes, are texts."""
    if not isinstance(content, list):
        return content
    return [
        {
            key: str(value) if isinstance(value, datetime.date) else value
            for key, value in entry.items()
        }
        if isinstance(entry, dict)
        else entry
        for entry in content
    ]
