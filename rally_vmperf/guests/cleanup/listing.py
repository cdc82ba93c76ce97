# SPDX-License-Identifier: Apache-2.0
"""Listings of resources by several requests, some of which may fail."""

import collections.abc
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.measurement.samples import units

Resources = list[t.Any]


class IncompleteError(errors.GuestError):
    """Some kinds of resources cannot be listed; the message names them.

    :param failures: The reasons by kind.
    :param resources: The resources of the other kinds.
    """

    def __init__(
        self,
        failures: collections.abc.Mapping[str, str],
        resources: Resources,
    ) -> None:
        kinds: dict[str, str] = {}
        for kind, reason in failures.items():
            kinds.setdefault(reason, kind)
        super().__init__(
            "; ".join(
                f"cannot list {units.plural(kind)}: {reason}"
                for reason, kind in kinds.items()
            )
        )
        self.failures = dict(failures)
        self.resources = resources


class Listing:
    """The resources of all requests, and the requests that failed.

    A cloud that does not answer is not asked again.
    """

    def __init__(self) -> None:
        self.resources: Resources = []
        self._failures: dict[str, str] = {}
        self._unanswered = ""

    def add(
        self,
        kind: str,
        list_resources: t.Callable[..., collections.abc.Iterable[t.Any]],
        *arguments: t.Any,
        **query: t.Any,
    ) -> Resources:
        """Add the resources of one kind, and return them.

        :param list_resources: The function that lists them.
        """
        if self._unanswered:
            self._failures.setdefault(kind, self._unanswered)
            return []
        try:
            resources = list(list_resources(*arguments, **query))
        except cloud.CLOUD_ERRORS as error:
            self._failures.setdefault(kind, cloud.one_line(error))
            if cloud.is_unanswered(error):
                self._unanswered = self._failures[kind]
            return []
        self.resources += resources
        return resources

    def check(self) -> Resources:
        """Return all resources.

        :raises IncompleteError: If a request failed.
        """
        if self._failures:
            raise IncompleteError(self._failures, self.resources)
        return self.resources
