# SPDX-License-Identifier: Apache-2.0
"""The flow of a network workload, with its hosts and path."""

import dataclasses
import typing as t

from rally_vmperf import formats

#: The descriptions of the properties of a flow; unknown ones are omitted.
_KIND_TEXTS = {
    "peer": "to the peer",
    "partner": "to the partner guest",
    "same": "on the same host",
    "other": "on another host",
    "link": "in a network of its own",
    "router": "through a router",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flow:
    """A flow between machines of a condition.

    :param target: The other end: ``peer`` or ``partner``.
    :param hosts: Whether both ends are on the ``same`` host or on ``other``
        hosts.
    :param path: Whether it uses a common ``link`` or a ``router``.
    :param machines: The number of machines with this flow.
    """

    target: t.Annotated[str, formats.one_of("peer", "partner")]
    hosts: t.Annotated[str, formats.one_of("same", "other", "unknown")]
    path: t.Annotated[str, formats.one_of("link", "router", "unknown")]
    floating_ip: bool
    machines: formats.Positive = 1

    def describe(self) -> str:
        """Return the flow as text, as far as it is known."""
        phrases = [
            _KIND_TEXTS[text]
            for text in (self.target, self.hosts, self.path)
            if text in _KIND_TEXTS
        ]
        if self.floating_ip:
            phrases.append("from a floating IP")
        return ", ".join(phrases)
