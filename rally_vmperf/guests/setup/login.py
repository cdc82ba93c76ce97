"""The login of a cloud in clouds.yaml, in the form that Rally accepts."""

import dataclasses
import logging

from keystoneauth1 import exceptions as auth_errors
from openstack import config as sdk_config
from openstack import exceptions as sdk_errors

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors

#: The types of authentication with a user and a password.
_PASSWORD_TYPES = ("password", "v3password")
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
    region = _read_region(name)
    auth = dict(region.config.get("auth") or {})
    _check_auth_type(region, auth)
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
        reason = cloud.one_line(error)
        if silence := cloud.describe_silence(error):
            reason = (
                f"{silence}; check auth_url in clouds.yaml, and that this "
                "machine reaches it"
            )
        raise errors.GuestError(
            f"log in to cloud {region.name!r}: {reason}"
        ) from error
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
    spec = {**_describe_endpoint(region), "users": [user]}
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


def _read_region(name: str | None) -> sdk_config.cloud_region.CloudRegion:
    """Return the configuration of a cloud; reject an unknown one."""
    try:
        config = sdk_config.OpenStackConfig(
            app_name="rally-vmperf", session_constructor=cloud.CloudSession
        )
        names = [
            known for known in config.get_cloud_names() if known != "defaults"
        ]
        chosen = name or config.default_cloud
        if not names:
            raise errors.GuestError(
                "no cloud is described: write clouds.yaml to "
                "~/.config/openstack, or set OS_CLIENT_CONFIG_FILE to its path"
            )
        if not chosen or chosen not in names:
            reason = f"cloud {chosen!r} is not in clouds.yaml"
            if not chosen:
                reason = "clouds.yaml has several clouds"
            raise errors.GuestError(
                f"{reason}; choose one with --cloud or OS_CLOUD: "
                f"{', '.join(sorted(names))}"
            )
        return config.get_one(cloud=chosen, api_timeout=cloud.TIMEOUT)
    except (
        sdk_errors.ConfigException,
        auth_errors.ClientException,
    ) as error:
        which = f"cloud {name!r} in " if name else ""
        raise errors.GuestError(
            f"{which}clouds.yaml: {cloud.one_line(error)}"
        ) from error


def _check_auth_type(
    region: sdk_config.cloud_region.CloudRegion, auth: documents.Arguments
) -> None:
    """Reject a login without a user and a password, which Rally requires."""
    auth_type = region.config.get("auth_type") or "password"
    if auth_type not in _PASSWORD_TYPES:
        raise errors.GuestError(
            f"cloud {region.name!r} has auth_type {auth_type}: Rally accepts "
            "only a user with a password; an administrator creates one with: "
            "openstack user create --project PROJECT --password-prompt "
            "vmperf; openstack role add --user vmperf --project PROJECT member"
        )
    if not auth.get("password"):
        raise errors.GuestError(
            f"cloud {region.name!r} has no password in clouds.yaml or "
            "secure.yaml; add it, or set OS_PASSWORD"
        )


def _describe_endpoint(
    region: sdk_config.cloud_region.CloudRegion,
) -> documents.Arguments:
    """Return the options of Rally's platform that concern the connection."""
    spec = {
        "auth_url": region.config["auth"]["auth_url"],
        "region_name": region.region_name or None,
        "endpoint_type": region.config.get("interface"),
        "https_cacert": region.config.get("cacert"),
        "https_cert": region.config.get("cert"),
        "https_key": region.config.get("key"),
    }
    if region.config.get("verify") is False:
        spec["https_insecure"] = True
    return {key: option for key, option in spec.items() if option}
