# SPDX-License-Identifier: Apache-2.0
"""Connect to an OpenStack cloud; report its errors in one line.

Requests have a timeout and are repeated only if that is safe.
"""

import collections.abc
import contextlib
import functools
import logging
import os
import re
import time
import typing as t

import openstack
from keystoneauth1 import exceptions as auth_errors
from keystoneauth1 import session
from openstack import config as sdk_config
from openstack import exceptions as sdk_errors
from openstack.compute.v2 import server

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors

#: The type of a connection to a cloud.
Connection: t.TypeAlias = openstack.connection.Connection

#: The tag of temporary images, by which Glance lists them.
IMAGE_TAG = "rally-vmperf"

#: Seconds without a response after which a request fails.
TIMEOUT = 60
#: The number of retries of a read request, after 0.5 s and after 1 s.
_RETRIES = 2
#: Status codes of an overloaded cloud, or of a proxy in front of it.
_RETRIED_STATUSES = (429, 500, 502, 503, 504)
_UNAVAILABLE = 503
#: Seconds between the requests to a service that restarts, 30 together.
_RESTART_PAUSES = (1, 2, 3, 4, 5, 7, 8)
#: Status codes of requests that are accepted without a document.
_EMPTY_STATUSES = (202, 204)


class InvalidResponse(auth_errors.ConnectionError):
    """A response that is not from the API of the cloud."""


class _Document(dict[str, t.Any]):
    """A JSON object of an API, of which the SDK reads objects and lists.

    The SDK does not check their types.

    :param content: The JSON object.
    :param request: The method and the URL, for the message.
    """

    def __init__(self, content: documents.Json, request: str) -> None:
        super().__init__(content)
        self._request = request

    def __getitem__(self, key: str) -> t.Any:
        """Return an object or a list of objects.

        :raises InvalidResponse: If the value is missing or of another type.
        """
        member = self.get(key)
        records = member if isinstance(member, list) else [member]
        if not all(isinstance(record, dict) for record in records):
            raise InvalidResponse(
                f"the response to {self._request} has {key}={member!r:.60}: "
                "must be an object or a list of objects"
            )
        return member


class CloudSession(session.Session):
    """A session that repeats requests where this is safe.

    Read requests are repeated, also the request for a token, which has no side
    effect. Other requests are not: a request that seems to have failed may
    have been executed, and a guest that is created twice disturbs its twin. A
    refused connection has executed nothing. In a cloud that has answered, it
    and an unavailable service are often those of a restart, which takes longer
    than the usual repetitions.

    A response that is not a JSON object with content is rejected here, because
    the SDK interprets it as an empty object; only Nova's actions on servers
    may have an empty response, and a streamed response has the data of an
    image.
    """

    #: Whether a request has been answered, so that the addresses are right.
    has_answered = False

    def request(  # type: ignore[override]
        self, url: str, method: str, **options: t.Any
    ) -> t.Any:
        """Send an HTTP request, as keystoneauth does; return the response."""
        is_repeatable = method in ("GET", "HEAD") or url.endswith(
            "/auth/tokens"
        )
        options["connect_retries"] = _RETRIES if is_repeatable else 0
        options["status_code_retries"] = _RETRIES if is_repeatable else 0
        options["retriable_status_codes"] = list(_RETRIED_STATUSES)
        response = self._request_during_restart(
            functools.partial(super().request, url, method, **options),
            is_repeatable=is_repeatable,
        )
        is_document = method in ("GET", "POST") and not options.get("stream")
        if is_document and not _is_valid_response(response):
            raise InvalidResponse(
                f"the response to {method} {url} is not a JSON object: "
                f"{response.text[:60]!r}"
            )
        # Without this key, keystoneauth reads the response, and checks it.
        if is_document and response.content and "endpoint_filter" in options:
            read = response.json
            response.json = lambda: _Document(read(), f"{method} {url}")
        return response

    def _request_during_restart(
        self, send: collections.abc.Callable[[], t.Any], *, is_repeatable: bool
    ) -> t.Any:
        """Return a response, also of a service that restarts.

        :param send: A function that sends the request, and can be repeated.
        :param is_repeatable: Whether the request may be executed twice.
        """
        for pause in _RESTART_PAUSES if self.has_answered else ():
            try:
                response = send()
            except auth_errors.ConnectFailure as error:
                if not _is_refused(error):
                    raise
            except auth_errors.ServiceUnavailable:
                if not is_repeatable:
                    raise
            else:
                if not (is_repeatable and _is_unavailable(response)):
                    return response
            time.sleep(pause)
        response = send()
        self.has_answered = True
        return response


def _is_refused(error: Exception) -> bool:
    """Return whether no server listens at the address of a request."""
    return "Connection refused" in str(error)


def _is_unavailable(response: t.Any) -> bool:
    """Return whether a proxy reports that its service does not answer."""
    return bool(response.status_code == _UNAVAILABLE)


def _is_valid_response(response: t.Any) -> bool:
    """Return whether a response is an error or contains valid content."""
    if not response.ok:
        return True
    if response.status_code in _EMPTY_STATUSES and not response.content:
        return bool(response.url.endswith("/action"))
    try:
        content = response.json()
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and bool(content)


def parse_document(
    response: t.Any, schema: documents.Schema
) -> dict[str, t.Any]:
    """Return the JSON object in a response; reject an invalid one.

    :param schema: The JSON Schema of the members that are read.
    :raises InvalidResponse: If the object does not match the schema.
    """
    content = dict(response.json())
    error = documents.first_error(schema, content)
    if error is not None:
        raise InvalidResponse(
            f"the response of the API is invalid: {error.json_path}: "
            f"{error.message[:200]}"
        )
    return content


def create_list_schema(key: str, *names: str) -> documents.Schema:
    """Return the JSON Schema of a response with a list of objects.

    :param key: The key of the list.
    :param names: The keys of the required texts of each object.
    """
    texts = {name: json_schema.text() for name in names}
    records = json_schema.array(json_schema.mapping(texts, *names))
    links = {"type": ["object", "null"]}
    return json_schema.mapping({key: records, "links": links}, key)


Credential = credentials.Credential

#: Exceptions of the SDK for rejected and unanswered requests.
CLOUD_ERRORS = (sdk_errors.SDKException, auth_errors.ClientException)

#: Status codes of temporary failures; from the second number on, of an
#: overloaded cloud.
_TEMPORARY_STATUSES, _OVERLOADED = (409, 413, 429), 500


class CloudBusy(sdk_errors.SDKException):
    """A failure of a busy cloud; the request must be repeated later."""


def _has_no_secrets(record: logging.LogRecord) -> bool:
    """Return whether a log record has no private keys and passwords."""
    message = record.getMessage()
    return "user_data" not in message and "adminPass" not in message


def _is_not_about_volumes(record: logging.LogRecord) -> bool:
    """Return whether a log record is not about missing block storage."""
    return "service_type=block-storage" not in record.getMessage()


def connect(credential: Credential) -> Connection:
    """Return a connection for one of Rally's credentials.

    ``clouds.yaml`` and the environment are ignored.

    :param credential: A mapping with the keys of ``OpenStackCredential``.
    """
    logging.getLogger("keystoneauth.session").addFilter(_has_no_secrets)
    logging.getLogger("openstack.config").addFilter(_is_not_about_volumes)
    config = sdk_config.OpenStackConfig(
        load_yaml_config=False,
        load_envvars=False,
        app_name="rally-vmperf",
        session_constructor=CloudSession,
    )
    region = config.get_one(
        auth=_convert_auth(credential),
        api_timeout=TIMEOUT,
        region_name=credential.get("region_name"),
        interface=credential.get("endpoint_type") or "public",
        verify=not credential.get("https_insecure"),
        cacert=credential.get("https_cacert"),
        **_convert_certificate(credential.get("https_cert")),
    )
    return Connection(config=region)


def _convert_auth(credential: Credential) -> documents.Arguments:
    """Return Rally's credential as keystoneauth's password arguments."""
    auth = {
        "auth_url": credential["auth_url"],
        "username": credential["username"],
        "password": credential["password"],
        "user_domain_name": credential.get("user_domain_name") or "Default",
    }
    project = credential.get("tenant_name")
    if project:
        domain = credential.get("project_domain_name")
        auth["project_name"] = project
        auth["project_domain_name"] = domain or "Default"
    else:
        auth["domain_name"] = credential.get("domain_name")
    return auth


def _convert_certificate(cert: t.Any) -> dict[str, str]:
    """Return a client certificate and its key as SDK options, or {}."""
    if not cert:
        return {}
    if isinstance(cert, str):
        return {"cert": cert}
    return {"cert": cert[0], "key": cert[1]}


def check_login(connection: Connection, credential: Credential) -> None:
    """Reject a credential that Keystone does not accept.

    :param credential: The credential of the connection.
    :raises GuestError: If Keystone rejects it; the line names the user.
    """
    project = credential.get("tenant_name")
    scope = f"project {project}" if project else "a domain"
    try:
        with convert_errors("log in to the cloud"):
            _ = connection.current_project_id
    except errors.GuestError as error:
        if not isinstance(error.__cause__, auth_errors.Unauthorized):
            raise
        raise errors.GuestError(
            f"Keystone at {credential['auth_url']} rejects user "
            f"{credential['username']!r} of {scope} (HTTP 401): the password "
            "in Rally's environment is wrong or expired, or the user is "
            "disabled; create an environment with the right one, then select "
            "it: rally env create, rally env use"
        ) from error


@contextlib.contextmanager
def convert_errors(what: str) -> collections.abc.Iterator[None]:
    """Convert SDK exceptions in the block to GuestError of one line.

    :param what: The action, such as ``create server c_rally_1``.
    :raises GuestError: If the SDK raises an exception.
    """
    try:
        yield
    except CLOUD_ERRORS as error:
        raise errors.GuestError(f"{what}: {one_line(error)}") from error


@contextlib.contextmanager
def skip_if_forbidden() -> collections.abc.Iterator[None]:
    """Leave the block without an error if a policy forbids a request."""
    try:
        yield
    except CLOUD_ERRORS as error:
        if is_temporary(error):
            raise


def is_temporary(error: Exception) -> bool:
    """Return whether an error is temporary: resource in use, or busy cloud."""
    if isinstance(error, auth_errors.SSLError):
        return False
    if isinstance(error, (auth_errors.ConnectionError, CloudBusy)):
        return True
    status = getattr(error, "status_code", None) or getattr(
        error, "http_status", None
    )
    return status is not None and (
        status in _TEMPORARY_STATUSES or status >= _OVERLOADED
    )


def is_unanswered(error: Exception) -> bool:
    """Return whether an API did not answer a request at all."""
    return isinstance(error, auth_errors.ConnectionError) and not isinstance(
        error, InvalidResponse
    )


def one_line(error: Exception) -> str:
    """Return the message of an error, without its URL and line ends."""
    if reason := describe_silence(error):
        return (
            f"{reason}; check that the API of the cloud is running and "
            "reachable: rally env check"
        )
    if reason := describe_tls(error):
        return reason
    text = getattr(error, "details", None) or str(error)
    return " ".join(str(text).split())[:500]


#: The reason in the text of a failed connection, in the forms of the system
#: and of urllib3.
_FAILURE = re.compile(
    r"\[Errno -?[0-9]{1,5}\] ([\w ]{1,80})|"
    r"(?:Reset|Disconnected)\w{0,20}\((?:[0-9]{1,5}, )?'([\w ]{1,80})'|"
    r"(Read timed out|timed out)"
)


def describe_silence(error: Exception) -> str:
    """Return which API does not answer, and the reason, or ""."""
    if not isinstance(error, auth_errors.ConnectFailure):
        return ""
    address = _find_address(error)
    reason = _FAILURE.search(str(error))
    if not (address and reason):
        return ""
    text = reason[1] or reason[2] or "it timed out"
    return f"{address} does not answer: {text}"


def _find_address(error: Exception) -> str:
    """Return the scheme, host and port in the text of an error, or ""."""
    address = re.search(r"https?://[^\s/:]{1,255}(?::[0-9]{1,5})?", str(error))
    return address[0] if address else ""


def describe_tls(error: Exception) -> str:
    """Return why a connection cannot be encrypted, and the way out, or ""."""
    if not isinstance(error, auth_errors.SSLError):
        return ""
    address, text = _find_address(error), str(error)
    if "WRONG_VERSION_NUMBER" in text or "UNKNOWN_PROTOCOL" in text:
        return (
            f"{address} does not use TLS; its address must begin with http://"
        )
    reason = re.search(r"certificate verify failed: ([^(]{1,120})", text)
    if reason is None:
        reason = re.search(r"\[[A-Z0-9]{1,9}: \w{1,60}\] ([^(]{1,120})", text)
        return f"{address}: TLS fails: {reason[1].strip() if reason else text}"
    detail = reason[1].strip().rstrip(".")
    if "mismatch" in detail.lower():
        return (
            f"{address} has a certificate for another name ({detail}); use "
            "the name in the certificate"
        )
    return (
        f"the certificate of {address} is not trusted ({detail}); set cacert "
        "in clouds.yaml (https_cacert in Rally's environment) to the path of "
        "the certificate of its authority"
    )


def list_servers(
    connection: Connection, names: collections.abc.Iterable[str]
) -> dict[str, server.Server]:
    """Return servers by identifier, with one request.

    :param names: The names of the servers; others with the same prefix may be
        listed as well.
    """
    listed = connection.compute.servers(name=create_prefix_pattern(names))
    return {sdk_server.id: sdk_server for sdk_server in listed}


def create_prefix_pattern(names: collections.abc.Iterable[str]) -> str:
    """Return the regular expression of a common prefix, for Nova's filter."""
    shared = os.path.commonprefix(list(names))  # noqa: RUF071  no paths
    return "^" + re.escape(shared).replace(r"\-", "-")
