"""Unexpected errors, reported to Rally without anything that could run."""

import collections.abc
import contextlib
import traceback

from rally import exceptions
from rally.common import logging

from rally_vmperf import errors
from rally_vmperf import sanitize

LOG = logging.getLogger(__name__)

#: Characters of an error's own words that Rally keeps.
LONGEST = 500


class Defect(exceptions.RallyException):
    """A context or a repetition failed with an unexpected error."""

    msg_fmt = "%(message)s"
    error_code = 934


@contextlib.contextmanager
def told() -> collections.abc.Iterator[None]:
    """Have Rally keep the message of an unexpected error, made harmless.

    Rally puts errors and their whole trace into a script of its report, and
    what an unforeseen error quotes may be a guest's, or a name's in the cloud.
    The trace goes to the log, for whoever mends the defect.

    :raises Defect: in place of whatever is neither ours nor Rally's own
    """
    try:
        yield
    except exceptions.RallyException:
        raise
    except errors.VMPerfError as error:
        # What led to it is quoted in the trace, which Rally keeps.
        raise error from None
    except Exception as error:
        log()
        raise Defect(one_line(error)) from None


def log() -> None:
    """Log the trace of the error that is handled."""
    LOG.error(sanitize.text(traceback.format_exc()))


def one_line(error: Exception) -> sanitize.Sanitized:
    """Return an error's kind and its own words in one line."""
    told_so = " ".join(f"{type(error).__name__}: {error}".split())
    return sanitize.text(told_so[:LONGEST])
