# SPDX-License-Identifier: Apache-2.0
"""The APIs of a cloud, whose responses requests-mock gives to the SDK."""

import collections.abc
import typing as t
import unittest

import requests_mock
from keystoneauth1 import fixture
from keystoneauth1.fixture import discovery

from rally_vmperf.guests import cloud

KEYSTONE = "http://identity.example.org/v3"
NOVA = "http://compute.example.org/v2.1"
CINDER = "http://volume.example.org/v3"
NEUTRON = "http://network.example.org"
PLACEMENT = "http://placement.example.org"
#: The server whose actions are requested.
SERVER = f"{NOVA}/servers/s1"


class ApiTestCase(unittest.TestCase):
    """A test of the HTTP requests of the SDK; all others are rejected."""

    def setUp(self):
        """Mock the requests, until the end of the test."""
        super().setUp()
        self.mocker = self.enterContext(
            requests_mock.Mocker(case_sensitive=True)
        )

    def connect(
        self, services: collections.abc.Mapping[str, str], **credential: t.Any
    ) -> cloud.Connection:
        """Return a connection to a cloud with a mock of Keystone.

        :param services: The catalogue: the types and URLs of the services.
        :param credential: Additional keys of the credential.
        """
        mock_keystone(self.mocker, services)
        connection = cloud.connect({**create_credential(), **credential})
        self.addCleanup(connection.close)
        return connection

    def connect_nova(
        self, newest: str = "2.93", **credential: t.Any
    ) -> cloud.Connection:
        """Return a connection to a cloud with a version document of Nova.

        :param newest: The newest microversion.
        :param credential: Additional keys of the credential.
        """
        mock_microversions(self.mocker, NOVA, "v2.1", newest)
        return self.connect({"compute": NOVA}, **credential)


class ServerActionCase(ApiTestCase):
    """A test of actions that are requested of Nova for a server."""

    def mock_nova(self, *states: tuple[str, str | None]) -> None:
        """Mock Nova, which shows a server in statuses with task states."""
        self.mocker.get(
            SERVER,
            [
                {
                    "json": {
                        "server": {
                            "id": "s1",
                            "status": status,
                            "OS-EXT-STS:task_state": task_state,
                            "fault": {"message": "No valid host"},
                        }
                    }
                }
                for status, task_state in states
            ],
        )
        self.posted = self.mocker.post(
            f"{SERVER}/action",
            status_code=202,
            headers={"x-openstack-request-id": "req-1"},
        )

    def bodies(self) -> list[t.Any]:
        """Return the bodies of all requests."""
        return [request.json() for request in self.posted.request_history]


def mock_keystone(
    mocker: requests_mock.Mocker,
    services: collections.abc.Mapping[str, str],
    roles: collections.abc.Iterable[str] = ("member",),
    **scope: str | None,
) -> t.Any:
    """Mock the version document of Keystone; return the mock of tokens.

    :param services: The catalogue: the types and URLs of the services.
    :param roles: The names of the roles of the user.
    :param scope: Additional fields of the token.
    """
    token = fixture.V3Token(
        **{
            "user_name": "member",
            "user_domain_name": "Default",
            "project_id": "p1",
            "project_name": "demo",
            "project_domain_name": "Default",
            **scope,
        }
    )
    for role in roles:
        token.add_role(name=role)
    for kind, url in services.items():
        service = token.add_service(kind)
        service.add_standard_endpoints(public=url, region="RegionOne")
    mock_version(mocker, KEYSTONE, fixture.V3Discovery(KEYSTONE))
    return mocker.post(
        f"{KEYSTONE}/auth/tokens",
        json=token,
        headers={"X-Subject-Token": "secret"},
    )


def mock_version(
    mocker: requests_mock.Mocker, url: str, version: discovery.DiscoveryBase
) -> None:
    """Mock the version document of a service, with and without a slash."""
    for address in (url, f"{url}/"):
        mocker.get(address, json={"version": version})


def mock_unversioned(
    mocker: requests_mock.Mocker, url: str, identifier: str
) -> None:
    """Mock the version documents of a service, whose URL has no version.

    :param identifier: The version of the API, such as ``v2.0``.
    """
    versioned = f"{url}/{identifier}"
    version = discovery.VersionDiscovery(f"{versioned}/", identifier)
    mock_version(mocker, url, version)
    mock_version(mocker, versioned, version)


def mock_microversions(
    mocker: requests_mock.Mocker, url: str, identifier: str, newest: str
) -> None:
    """Mock the version document of a service with microversions.

    :param identifier: The version of the API, such as ``v2.1``.
    :param newest: The newest microversion.
    """
    version = discovery.NovaMicroversionDiscovery(
        f"{url}/", identifier, min_version=identifier[1:], version=newest
    )
    mock_version(mocker, url, version)


def create_credential(auth_url: str = KEYSTONE) -> dict[str, str]:
    """Return the credential of a user.

    :param auth_url: The address of Keystone.
    """
    return {
        "auth_url": auth_url,
        "username": "member",
        "password": "secret",
        "tenant_name": "demo",
        "region_name": "RegionOne",
    }


def get_request(matcher: t.Any) -> t.Any:
    """Return the only request to a mock of a method and a URL."""
    (request,) = matcher.request_history
    return request
