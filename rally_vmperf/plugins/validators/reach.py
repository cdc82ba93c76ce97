"""A validator for the SSH options of guests and peer."""

import collections.abc
import os
import typing as t

from rally.common import validation

from rally_vmperf import documents
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.machines import base
from rally_vmperf.plugins.validators import task as validators
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task

#: The configuration or context that Rally validates.
Config = documents.Arguments

_FILES = ("key_file", "known_hosts", "password_file")


@validation.configure(name="vmperf_reach")
class Reach(validators.TaskValidator):
    """Check jump hosts, namespace, login and host key of a task."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Reject a task whose files or routes do not exist on this machine."""
        try:
            question = table.scenarios()[scenario.get_name()]
            workload = question.create_task(config)
        except task.InvalidTask:
            return  # The validator vmperf_task reports the error.
        guests, peer = workload.guests, workload.peer or {}
        request.parse_sources(guests)
        for key in ("jump", "login", "host_key"):
            self._check_keys(key, guests.get(key))
        self._check_files("vmperf_guests", guests)
        self._check_route(guests)
        self._check_files("peer", peer)
        self._check_files("control", workload.control or {})
        try:
            _open_secrets(guests)
        except base.MachineError as error:
            self.fail(str(error))

    def _check_keys(self, key: str, value: t.Any) -> None:
        """Reject an option that does not match its schema; name its keys.

        Rally's check of the schema does not name the allowed keys.

        :param key: The name of the option.
        :param value: The value of the option; None if it is not set.
        """
        rule = schema.PROPERTIES[key]
        error = None if value is None else documents.first_error(rule, value)
        if error is not None:
            quantity = "exactly one of" if "maxProperties" in rule else "keys"
            self.fail(
                f"vmperf_guests {key}: {error.message}; allowed: {quantity} "
                + ", ".join(rule["properties"])
            )

    def _check_route(self, guests: Config) -> None:
        """Reject options that have both a jump host and a namespace."""
        if guests.get("jump") and guests.get("namespace"):
            self.fail(
                "vmperf_guests: jump and namespace are mutually exclusive; "
                "remove one of them"
            )

    def _check_files(self, section: str, options: t.Any) -> None:
        """Reject options that name files which do not exist."""
        for path, name in _list_files(section, options):
            if not os.path.isfile(os.path.expanduser(name)):
                self.fail(
                    f"{path}: file {name!r} does not exist on this machine; "
                    "fix the path or remove the option"
                )


def _list_files(
    parent: str, options: t.Any
) -> collections.abc.Iterator[tuple[str, str]]:
    """Yield the paths of options that name files, with the file names."""
    if isinstance(options, list):
        for number, element in enumerate(options):
            yield from _list_files(f"{parent}[{number}]", element)
    elif isinstance(options, dict):
        for key, option in options.items():
            path = f"{parent} {key}"
            if key in _FILES and isinstance(option, str):
                yield path, option
            elif key in ("jump", "login"):
                yield from _list_files(path, option)


def _open_secrets(guests: Config) -> None:
    """Reject secret files or a namespace that cannot be opened.

    :param guests: The options of the guests.
    :raises MachineError: If one of them cannot be used.
    """
    from rally_vmperf.machines.remote import endpoint
    from rally_vmperf.machines.remote import hostkey
    from rally_vmperf.machines.remote import routes

    login, host_key = guests.get("login"), guests.get("host_key")
    if login and "password_file" in login:
        endpoint.password("vmperf_guests login", login["password_file"])
    if host_key and "public_key" in host_key:
        hostkey.parse_host_keys(host_key["public_key"])
    if guests.get("namespace"):
        routes.open_socket(guests["namespace"]).close()
