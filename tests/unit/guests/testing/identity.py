# SPDX-License-Identifier: Apache-2.0
"""Keystone, in memory."""

import typing as t
from urllib import parse

from openstack.identity.v3 import _proxy

from tests.unit.guests.testing import calls


class FakeIdentity:
    """Keystone: users and projects, for administrators."""

    proxy = _proxy.Proxy

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.all_users: calls.Things = {}
        self.all_projects: calls.Things = {}
        #: Whether it takes the beginning of a name for a filter.
        self.inexact = True

    @calls.call
    def get(self, path: str) -> calls.Thing:
        """Answer what the SDK has no word for."""
        where, _, query = path.partition("?")
        things = {"/users": self.all_users, "/projects": self.all_projects}
        (beginning,) = parse.parse_qs(query)["name__startswith"]
        resources = [
            vars(resource)
            for resource in things[where].values()
            if resource.name.startswith(beginning)
        ]
        self.cloud.listed += len(resources)
        return calls.Thing(
            status_code=200 if self.inexact else 400,
            json=lambda: {where[1:]: resources, "links": {"next": None}},
        )

    @calls.call
    def users(self, **query: str) -> list[calls.Thing]:
        return calls.matching(self.all_users.values(), query)

    @calls.call
    def projects(self, **query: str) -> list[calls.Thing]:
        return calls.matching(self.all_projects.values(), query)

    @calls.call
    def delete_user(self, identifier: str, ignore_missing: bool) -> None:
        self.all_users.pop(identifier, None)

    @calls.call
    def delete_project(self, identifier: str, ignore_missing: bool) -> None:
        self.all_projects.pop(identifier, None)
