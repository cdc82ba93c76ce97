# SPDX-License-Identifier: Apache-2.0
"""Sanitisation of unexpected errors for reports of Rally."""

import collections.abc
import contextlib
import traceback

from rally import exceptions
from rally.common import logging

from rally_vmperf import errors
from rally_vmperf import sanitize

LOG = logging.getLogger(__name__)

#: The maximum length of an error message in Rally.
MAX_MESSAGE_CHARACTERS = 500


class Defect(exceptions.RallyException):
    """An unexpected error in a context or a repetition."""

    msg_fmt = "%(message)s"
    error_code = 934


@contextlib.contextmanager
def sanitise_errors() -> collections.abc.Iterator[None]:
    """Replace an unexpected error in the block by one with safe text.

    Rally writes errors with their tracebacks into a script in its report, and
    an unexpected error may quote a guest or a name from the cloud. The
    traceback is written to the log for developers.

    :raises Defect: If an error is raised that belongs neither to
        rally_vmperf nor to Rally.
    """
    try:
        yield
    except exceptions.RallyException:
        raise
    except errors.VMPerfError as error:
        # Rally stores the traceback, which quotes the cause.
        raise error from None
    except Exception as error:
        log_traceback()
        raise Defect(format_error(error)) from None


def log_traceback() -> None:
    """Log the traceback of the current error."""
    LOG.error(sanitize.text(traceback.format_exc()))


def format_error(error: Exception) -> sanitize.Sanitized:
    """Return the class and the message of an error in one line."""
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return sanitize.text(message[:MAX_MESSAGE_CHARACTERS])
