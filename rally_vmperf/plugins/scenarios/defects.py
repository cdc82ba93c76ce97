"""Defects of ours, told without letting guests speak through them.

Rally puts the whole trace of an error into a script of its report, and what
an unforeseen error quotes may be a guest's.
"""

import contextlib
import traceback
import typing as t

from rally import exceptions
from rally.common import logging

from rally_vmperf.plugins import harmless

LOG = logging.getLogger(__name__)

#: Characters of an error's own words that Rally keeps.
_LONGEST = 500


class Defect(exceptions.RallyException):
    """A repetition met an error that nobody foresaw."""

    msg_fmt = "%(message)s"
    error_code = 934


@contextlib.contextmanager
def told() -> t.Iterator[None]:
    """Have Rally keep the words of an unforeseen error, made harmless.

    The trace goes to the log, for whoever mends the defect.

    :raises Defect: in place of whatever is not an error of Rally's own kind
    """
    try:
        yield
    except exceptions.RallyException:
        raise
    except Exception as error:
        LOG.error(harmless.harmless(traceback.format_exc()))
        words = f"{type(error).__name__}: {error}"[:_LONGEST]
        raise Defect(harmless.harmless(words)) from None
