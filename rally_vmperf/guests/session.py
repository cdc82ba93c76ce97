"""Requests to a cloud: bounded in time, repeated only where that is safe."""

import typing as t

from keystoneauth1 import exceptions as auth_errors
from keystoneauth1 import session

#: Seconds without a sign of life after which a request is given up.
TIMEOUT = 60
#: How often a question is repeated, after half a second and after one.
_REPEATED = 2
#: Answers of a cloud, or of a proxy before it, that is in need.
_IN_NEED = (429, 500, 502, 503, 504)
_ACCEPTED, _NO_CONTENT = 202, 204


class Garbled(auth_errors.ConnectionError):
    """Whatever answered, it was not the cloud's API."""


class Session(session.Session):
    """A session for an unsteady cloud.

    Questions are repeated; so is the request for a token, which changes
    nothing. Nothing else is: what seems to have failed may have been done,
    and a guest that is made twice would disturb its twin. An answer that is
    no JSON object is refused here, for the SDK takes it for an empty one. Only
    Nova's actions on servers are accepted without a word.
    """

    def request(  # type: ignore[override]
        self, url: str, method: str, **options: t.Any
    ) -> t.Any:
        """Send a request, as ``keystoneauth1.session.Session`` does."""
        asks = method in ("GET", "HEAD") or url.endswith("/auth/tokens")
        options["connect_retries"] = _REPEATED if asks else 0
        options["status_code_retries"] = _REPEATED if asks else 0
        options["retriable_status_codes"] = list(_IN_NEED)
        answer = super().request(url, method, **options)
        if method in ("GET", "POST") and not _readable(answer):
            raise Garbled(
                f"the answer to {method} {url} is no JSON object but "
                f"{answer.text[:60]!r}"
            )
        return answer


def _readable(answer: t.Any) -> bool:
    """Tell whether an answer holds what a success must hold."""
    if not answer.ok or answer.status_code == _NO_CONTENT:
        return True
    if answer.status_code == _ACCEPTED and not answer.content:
        return bool(answer.url.endswith("/action"))
    try:
        return isinstance(answer.json(), dict)
    except ValueError:
        return False
