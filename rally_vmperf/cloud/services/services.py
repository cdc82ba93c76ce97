"""The services of the embedded cloud, as its data file describes them."""

import collections.abc
import dataclasses
import hashlib
import json
import os
import pathlib
import typing as t
import urllib.parse

from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.system import layout


@dataclasses.dataclass(frozen=True, kw_only=True)
class Service:
    """A long-running process: how to start it and when it is ready.

    :param name: what it is called in records, logs and tables
    :param argv: program and arguments
    :param environment: variables beside those that all services get
    :param config: configuration files it is restarted for
    :param needs: services and steps that must be ready before
    :param follows: services that it must be restarted with
    :param ground: files and folders whose replacement restarts it
    :param mounts: mount points that it must see
    :param listens: addresses that it listens on, beside that of its probe
    :param ready: its readiness probe
    :param patience: seconds until the probe must succeed
    :param address: where it is reached
    """

    name: str
    argv: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    config: list[str] = dataclasses.field(default_factory=list)
    needs: list[str] = dataclasses.field(default_factory=list)
    follows: list[str] = dataclasses.field(default_factory=list)
    ground: list[str] = dataclasses.field(default_factory=list)
    mounts: list[str] = dataclasses.field(default_factory=list)
    listens: list[str] = dataclasses.field(default_factory=list)
    ready: dict[str, str] = dataclasses.field(default_factory=dict)
    patience: int = 120
    address: str = ""

    def digest(
        self, etc: pathlib.Path, leaders: collections.abc.Iterable[str] = ()
    ) -> str:
        """Return a digest that changes when the service has to be restarted.

        :param etc: folder of the configuration files
        :param leaders: what identifies the processes it follows
        """
        parts = [json.dumps([self.argv, self.environment]), *leaders]
        parts += [text(etc / name) for name in self.config]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return "+".join([digest, *map(identity, self.ground)])

    def addresses(self) -> list[str]:
        """Return the addresses HOST:PORT that no other process may use."""
        if self.argv[:2] == ["ip", "netns"]:
            # nobody else is in that namespace
            return []
        taken = [self.ready["tcp"]] if "tcp" in self.ready else []
        if "http" in self.ready:
            taken.append(urllib.parse.urlsplit(self.ready["http"]).netloc)
        return taken + self.listens


def text(path: pathlib.Path) -> str:
    """Return the content of a configuration file; empty without one."""
    return path.read_text() if path.exists() else ""


def identity(path: str) -> str:
    """Return an identifier of a file or device, not only of its name."""
    try:
        found = os.stat(path)
    except OSError:
        return "none"
    return f"{found.st_dev}:{found.st_ino}"


def parse(described: list[dict[str, t.Any]]) -> list[Service]:
    """Return the services of a data file, in its order.

    :param described: its entries
    """
    return [Service(**entry) for entry in described]


def shipped(folders: layout.Layout) -> list[Service]:
    """Return the services of the embedded cloud.

    :param folders: the state root's folders
    """
    return parse(templates.Templates(folders, {}).data("services.yaml.j2"))
