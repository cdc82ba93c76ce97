# SPDX-License-Identifier: Apache-2.0
"""The login of a cloud in clouds.yaml, in the form that Rally accepts."""

import dataclasses
import logging

from keystoneauth1 import exceptions as auth_errors

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests.setup import clouds_file

_ADMIN = "admin"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Login:
    """A login that the cloud has accepted.

    :param cloud_name: The name in clouds.yaml.
    :param connection: The connection with this login.
    :param user: The name of the user.
    :param project: The name of the project.
    :param roles: The names of the roles of the user in the project.
    :param spec: The options of Rally's platform ``existing@openstack``, with
        the password.
    """

    cloud_name: str
    connection: cloud.Connection
    user: str
    project: str
    roles: tuple[str, ...]
    spec: documents.Arguments = dataclasses.field(repr=False)

    @property
    def is_admin(self) -> bool:
        """Whether the user is an administrator."""
        return _ADMIN in self.roles


def log_in(name: str | None) -> Login:
    """Log in to a cloud of clouds.yaml, and return the login.

    :param name: The name of the cloud; None for OS_CLOUD, for the variables
        OS_AUTH_URL and so on, or for the only cloud in the file.
    :raises GuestError: If the cloud is not described, has no password, or
        rejects the login; the line has the solution.
    """
    # The final error contains the warnings of the attempts.
    logging.getLogger("keystoneauth").setLevel(logging.ERROR)
    region = clouds_file.read_region(name)
    auth = dict(region.config.get("auth") or {})
    connection = cloud.Connection(config=region)
    try:
        session = connection.session
        access = session.auth.get_access(session)
    except auth_errors.Unauthorized as error:
        raise errors.GuestError(
            f"Keystone at {auth.get('auth_url')} rejects the user of cloud "
            f"{region.name!r} (HTTP 401); check username, password, "
            "project_name and the domains in clouds.yaml"
        ) from error
    except cloud.CLOUD_ERRORS as error:
        raise errors.GuestError(
            f"log in to cloud {region.name!r}: "
            f"{_describe_failure(error, auth['auth_url'])}"
        ) from error
    clouds_file.check_catalog(region, access.service_catalog.catalog)
    if not access.project_name:
        raise errors.GuestError(
            f"cloud {region.name!r}: the login has no project; set "
            "project_name in clouds.yaml"
        )
    roles = tuple(sorted(access.role_names))
    user = {
        "username": access.username,
        "password": auth["password"],
        "project_name": access.project_name,
        "user_domain_name": access.user_domain_name,
        "project_domain_name": access.project_domain_name,
    }
    spec = {**clouds_file.describe_endpoint(region), "users": [user]}
    if _ADMIN in roles:
        spec["admin"] = dict(user)
    return Login(
        cloud_name=region.name,
        connection=connection,
        user=access.username,
        project=access.project_name,
        roles=roles,
        spec=spec,
    )


def _describe_failure(error: Exception, auth_url: str) -> str:
    """Return why Keystone did not accept a login, and the way out.

    :param auth_url: The address of Keystone.
    """
    cause = error
    # Without a version in auth_url, this error hides the first one.
    while isinstance(cause, auth_errors.DiscoveryFailure) and isinstance(
        cause.__context__, cloud.CLOUD_ERRORS
    ):
        cause = cause.__context__
    if reason := cloud.describe_tls(cause):
        return reason
    if silence := cloud.describe_silence(cause):
        return (
            f"{silence}; check auth_url in clouds.yaml, and that this machine "
            "reaches it"
        )
    if isinstance(cause, (auth_errors.NotFound, auth_errors.DiscoveryFailure)):
        return (
            f"no Keystone answers at auth_url={auth_url}; check it in "
            "clouds.yaml: it ends with /v3 in most clouds"
        )
    if isinstance(cause, auth_errors.BadRequest):
        return (
            f"{cloud.one_line(cause)}; check user_domain_name and "
            "project_domain_name in clouds.yaml"
        )
    return cloud.one_line(cause)
