"""Validator: whether guests and peer can be reached as a task says."""

import collections.abc
import os
import typing as t

from rally.common import validation

from rally_vmperf import documents
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.machines import base
from rally_vmperf.plugins.validators import task as validators
from rally_vmperf.questions.common import task

Config = dict[str, t.Any]

_FILES = ("key_file", "known_hosts", "password_file")


@validation.configure(name="vmperf_reach")
class Reach(validators.Checking):
    """Check jump hosts, namespace, login and host key of a task."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Check files and routes on this machine."""
        try:
            asked = task.of_rally(config, scenario.get_name())
        except task.Refused:
            return  # The validator vmperf_task says what is wrong.
        guests, peer = asked.guest_options, asked.peer or {}
        request.group_options(guests)
        request.sources(guests)
        places = [("vmperf_guests", guests)]
        for number, group in enumerate(guests.get("groups", ())):
            places.append((f"vmperf_guests groups[{number}]", group))
        for where, options in places:
            for key in ("jump", "login", "host_key"):
                self._check_keys(where, key, options.get(key))
            self._check_files(where, options)
        self._check_one_way(guests)
        self._check_files("peer", peer)
        for where, options in places:
            try:
                _check_secrets(where, options)
            except base.MachineError as error:
                self.fail(str(error))

    def _check_keys(self, where: str, key: str, value: t.Any) -> None:
        """List the allowed keys, which Rally's own check of a schema does not.

        :param value: None when the option is not given
        """
        rule = schema.PROPERTIES[key]
        error = None if value is None else documents.first_error(rule, value)
        if error is not None:
            only = "exactly one of" if "maxProperties" in rule else "keys"
            self.fail(
                f"{where} {key}: {error.message}; allowed: {only} "
                + ", ".join(rule["properties"])
            )

    def _check_one_way(self, guests: Config) -> None:
        if guests.get("jump") and guests.get("namespace"):
            self.fail(
                "vmperf_guests: jump and namespace exclude one another; give "
                "the one by which guests are reached"
            )

    def _check_files(self, where: str, value: t.Any) -> None:
        for path, name in _named(where, value):
            if not os.path.isfile(os.path.expanduser(name)):
                self.fail(
                    f"{path}: {name!r} is no file on this machine; name one "
                    "that is, or leave it out"
                )


def _named(
    where: str, value: t.Any
) -> collections.abc.Iterator[tuple[str, str]]:
    """Yield the files that options name, each with the option."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _named(f"{where}[{number}]", one)
    elif isinstance(value, dict):
        for key, one in value.items():
            path = f"{where} {key}"
            if key in _FILES and isinstance(one, str):
                yield path, one
            elif key in ("jump", "login"):
                yield from _named(path, one)


def _check_secrets(where: str, guests: Config) -> None:
    """Open the password file, host key and namespace that are named.

    :param guests: options of the run, or of one group
    :raises MachineError: for what cannot be used
    """
    from rally_vmperf.machines.remote import endpoint
    from rally_vmperf.machines.remote import hostkey
    from rally_vmperf.machines.remote import routes

    login, host_key = guests.get("login"), guests.get("host_key")
    if login and "password_file" in login:
        endpoint.password(f"{where} login", login["password_file"])
    if host_key and "public_key" in host_key:
        hostkey.pinned(host_key["public_key"])
    if guests.get("namespace"):
        routes.open_socket(guests["namespace"]).close()
