# SPDX-License-Identifier: Apache-2.0
"""The login of a cloud in clouds.yaml, in the form that Rally accepts."""

import collections.abc
import dataclasses
import logging
import os
import pathlib
import ssl
import typing as t
import urllib.parse

import yaml
from keystoneauth1 import exceptions as auth_errors
from keystoneauth1 import loading
from openstack import config as sdk_config
from openstack import exceptions as sdk_errors

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors

_ADMIN = "admin"
Region: t.TypeAlias = sdk_config.cloud_region.CloudRegion
#: The types of authentication with a user and a password.
_PASSWORD_TYPES = ("password", "v3password")
_RULE = (
    "Rally accepts only a user with a password; an administrator creates one "
    "with: openstack user create --project PROJECT --password-prompt vmperf; "
    "openstack role add --user vmperf --project PROJECT member"
)
#: The keys that files have in place of those that the SDK reads.
_WRONG_KEYS = {
    "region": "region_name",
    "ca_cert": "cacert",
    "ca_file": "cacert",
    "cafile": "cacert",
    "https_cacert": "cacert",
    "https_insecure": "insecure",
}
#: The keys with the path of a file.
_FILES = ("cacert", "cert", "key")


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
    region = read_region(name)
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
    check_catalog(region, access.service_catalog.catalog)
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
    spec = {**describe_endpoint(region), "users": [user]}
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


def read_region(name: str | None) -> Region:
    """Return the configuration of a cloud; reject an unknown one.

    :param name: The name of the cloud; None for OS_CLOUD, for the variables
        OS_AUTH_URL and so on, or for the only cloud in the file.
    :raises GuestError: If the file or the cloud is not valid.
    """
    try:
        config = sdk_config.OpenStackConfig(
            app_name="rally-vmperf", session_constructor=cloud.CloudSession
        )
        entries = config.cloud_config["clouds"]
        names = [key for key in entries if key != "defaults"]
    except (
        sdk_errors.ConfigException,
        AttributeError,
        TypeError,
        ValueError,
    ) as error:
        raise errors.GuestError(_describe_file(error)) from error
    chosen = name or config.default_cloud
    if not names:
        raise errors.GuestError(_describe_file())
    if not chosen or chosen not in names:
        reason = f"cloud {chosen!r} is not in clouds.yaml"
        if not chosen:
            reason = "clouds.yaml has several clouds"
        raise errors.GuestError(
            f"{reason}; choose one with --cloud or OS_CLOUD: "
            f"{', '.join(sorted(map(str, names)))}"
        )
    where = f"cloud {chosen!r} in {config.config_filename or 'OS_* variables'}"
    region_name = _check_entry(where, entries[chosen])
    options = {"api_timeout": cloud.TIMEOUT, "region_name": region_name}
    try:
        unchecked = config.get_one(cloud=chosen, validate=False, **options)
        _check_auth_type(where, unchecked)
        _check_files(where, unchecked)
        region = config.get_one(cloud=chosen, **options)
    except KeyError as error:
        # The SDK formats all texts.
        raise errors.GuestError(
            f"{where}: {{{error.args[0]}}} is a placeholder; replace it by "
            "the value"
        ) from error
    except (
        sdk_errors.ConfigException,
        auth_errors.ClientException,
        AttributeError,
        TypeError,
        ValueError,
    ) as error:
        raise errors.GuestError(f"{where}: {cloud.one_line(error)}") from error
    _check_user(where, region.config["auth"])
    return region


def _describe_file(error: Exception | None = None) -> str:
    """Return why no cloud is described.

    :param error: The error of the SDK, if there is one.
    """
    candidates = filter(
        None,
        [
            os.environ.get("OS_CLIENT_CONFIG_FILE"),
            *sdk_config.loader.CONFIG_FILES,
        ],
    )
    path = next(filter(os.path.exists, candidates), None)
    if path is None:
        return (
            "no cloud is described: write clouds.yaml to ~/.config/openstack, "
            "or set OS_CLIENT_CONFIG_FILE to its path"
        )
    reason = "must have clouds: with the description of each cloud by its name"
    try:
        yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as os_error:
        reason = os_error.strerror or str(os_error)
    except ValueError:
        reason = "is not a text file in UTF-8"
    except yaml.YAMLError as yaml_error:
        reason = f"is not valid YAML: {_describe_yaml_error(yaml_error)}"
    else:
        if isinstance(error, sdk_errors.ConfigException):
            reason = cloud.one_line(error)
    return f"{path}: {reason}"


def _describe_yaml_error(error: yaml.YAMLError) -> str:
    """Return the line of an error in YAML and its reason."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None)
    if mark is None or problem is None:
        return cloud.one_line(error)
    return f"line {mark.line + 1}: {problem}"


def _check_entry(where: str, entry: t.Any) -> str | None:
    """Reject an entry with wrong keys or several regions.

    :param where: The cloud and the file, for messages.
    :returns: The name of the region; None without one.
    """
    if not isinstance(entry, collections.abc.Mapping):
        raise errors.GuestError(
            f"{where}: is empty; add auth with auth_url, username, password "
            "and project_name"
        )
    for key in entry:
        if key in _WRONG_KEYS and _WRONG_KEYS[key] not in entry:
            raise errors.GuestError(
                f"{where}: {key} is not a key of clouds.yaml; rename it to "
                f"{_WRONG_KEYS[key]}"
            )
    if not isinstance(entry.get("auth", {}), collections.abc.Mapping):
        raise errors.GuestError(
            f"{where}: auth has no keys; add auth_url, username, password and "
            "project_name below it"
        )
    _check_texts(where, entry)
    _check_flags(where, entry)
    return _choose_region(where, entry)


def _check_texts(where: str, entry: documents.Arguments) -> None:
    """Reject numbers, dates and so on, which Keystone rejects with the value.

    YAML reads a password such as 12345 or 2026-01-01 as one of them.
    """
    options = loading.get_plugin_loader("password").get_options()
    names = {option.dest for option in options}
    login = {key: entry[key] for key in entry if key in names}
    for key, value in {**login, **(entry.get("auth") or {})}.items():
        if value is not None and not isinstance(value, str):
            raise errors.GuestError(
                f"{where}: {key}: must be text; write it in quotation marks"
            )


def _check_flags(where: str, entry: documents.Arguments) -> None:
    """Reject a flag that the SDK reads as another value, such as "yes".

    The path of certificates is a value of ``verify``, too.
    """
    for key in ("insecure", "verify"):
        flag = entry.get(key)
        if flag is None or isinstance(flag, bool):
            continue
        text = str(flag)
        if key == "verify":
            is_valid = pathlib.Path(text).expanduser().exists()
        else:
            is_valid = text.lower() in ("true", "false")
        if not is_valid:
            raise errors.GuestError(
                f"{where}: {key}={text:.200}: must be true or false, without "
                "quotation marks"
            )


def _choose_region(where: str, entry: documents.Arguments) -> str | None:
    """Return the name of the region; reject several without a choice."""
    region_name = entry.get("region_name")
    listed = entry.get("regions") or region_name or []
    if isinstance(listed, str):
        listed = listed.split(",")
    if not isinstance(listed, list):
        listed = [listed]
    names = [
        str(region.get("name") if isinstance(region, dict) else region).strip()
        for region in listed
    ]
    if len(names) < 2:
        return names[0] if names else None
    chosen = region_name
    if chosen not in names:
        chosen = os.environ.get("OS_REGION_NAME")
    if chosen not in names:
        raise errors.GuestError(
            f"{where}: has several regions ({', '.join(names)}), of which one "
            "is measured; set region_name to one of them, or OS_REGION_NAME"
        )
    return str(chosen)


def _check_auth_type(where: str, region: Region) -> None:
    """Reject a login without a user and a password, which Rally requires."""
    auth = dict(region.config.get("auth") or {})
    auth_type = region.config.get("auth_type") or "password"
    if auth_type not in _PASSWORD_TYPES:
        raise errors.GuestError(f"{where}: has auth_type {auth_type}: {_RULE}")
    if any(key.startswith("application_credential") for key in auth):
        raise errors.GuestError(
            f"{where}: has an application credential, for which auth_type "
            f"v3applicationcredential is missing; {_RULE}"
        )
    options = loading.get_plugin_loader(auth_type).get_options()
    names = {option.dest for option in options}
    old_names = {old.dest for option in options for old in option.deprecated}
    if unknown := sorted(auth.keys() - names - old_names):
        raise errors.GuestError(
            f"{where}: {unknown[0]} is not a key of auth; its keys are "
            f"{', '.join(sorted(names))}"
        )


def _check_user(where: str, auth: documents.Arguments) -> None:
    """Reject a login without user or password, or with an invalid URL."""
    if not (auth.get("username") or auth.get("user_id")):
        raise errors.GuestError(f"{where}: has no username; add it to auth")
    if not auth.get("password"):
        raise errors.GuestError(
            f"{where}: has no password in clouds.yaml or secure.yaml; add it, "
            "or set OS_PASSWORD"
        )
    _check_url(where, auth["auth_url"])


def _check_url(where: str, url: str) -> None:
    """Reject an address of Keystone that no request can have."""
    try:
        parts = urllib.parse.urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and parts.port != 0
        host = parts.hostname or ""
    except ValueError:
        is_valid, host = False, ""
    if is_valid and (parts.username or parts.password):
        raise errors.GuestError(
            f"{where}: auth_url: must not have a user or a password; set "
            "username and password in auth"
        )
    if not is_valid or not host or " " in host:
        raise errors.GuestError(
            f"{where}: auth_url={url!r:.200}: must be a URL such as "
            "https://keystone.example.org:5000/v3"
        )


def _check_files(where: str, region: Region) -> None:
    """Reject the content of a file in place of its path, or a missing file."""
    verify, _ = region.get_requests_verify_args()
    for key in _FILES:
        content = str(region.config.get(key) or "")
        if "-----BEGIN" in content:
            raise errors.GuestError(
                f"{where}: {key} is the path of a file, and not its content; "
                "write the content to a file, and set the path"
            )
        if not content or (key == "cacert" and verify is False):
            continue
        path = pathlib.Path(content).expanduser()
        if not path.exists():
            raise errors.GuestError(
                f"{where}: {key}={content}: the file does not exist on this "
                "machine"
            )
        if key == "cacert" and path.is_file():
            _check_certificates(where, path)


def _check_certificates(where: str, path: pathlib.Path) -> None:
    """Reject a file without certificates of authorities."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError as error:
        reason = "the file has no certificate in PEM"
        if not isinstance(error, ssl.SSLError):
            reason = error.strerror or reason
        raise errors.GuestError(f"{where}: cacert={path}: {reason}") from error


def describe_endpoint(region: Region) -> documents.Arguments:
    """Return the options of Rally's platform that concern the connection."""
    verify, cert = region.get_requests_verify_args()
    certificate, key = cert if isinstance(cert, tuple) else (cert, None)
    spec = {
        "auth_url": region.config["auth"]["auth_url"],
        "region_name": region.region_name or None,
        "endpoint_type": region.config.get("interface"),
        "https_cacert": _get_path(verify if isinstance(verify, str) else None),
        "https_cert": _get_path(certificate),
        "https_key": _get_path(key),
    }
    if verify is False:
        spec["https_insecure"] = True
    return {key: option for key, option in spec.items() if option}


def _get_path(path: str | None) -> str | None:
    """Return an absolute path, which is valid in any directory."""
    return os.path.abspath(path) if path else None


def check_catalog(
    region: Region, catalog: collections.abc.Iterable[documents.Arguments]
) -> None:
    """Reject a login without a choice between the regions of a catalog.

    :param catalog: The service catalog in the token.
    """
    names = sorted(
        {
            str(endpoint.get("region_id") or endpoint.get("region"))
            for service in catalog
            if service.get("type") == "compute"
            for endpoint in service.get("endpoints") or ()
            if endpoint.get("region_id") or endpoint.get("region")
        }
    )
    if not names or region.region_name in names:
        return
    if not region.region_name and len(names) == 1:
        return
    reason = "several regions, of which one is measured"
    if region.region_name:
        reason = f"no region {region.region_name!r}"
    raise errors.GuestError(
        f"cloud {region.name!r}: its catalog has {reason}; set region_name in "
        f"clouds.yaml to one of: {', '.join(names)}"
    )
