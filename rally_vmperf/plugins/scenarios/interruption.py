"""Ctrl-C in a repetition: Rally would swallow it, so it is passed on here.

Rally returns from inside ``finally`` after every iteration, which discards a
KeyboardInterrupt: the run would go on with the next iteration as if nothing
had happened, and end with exit code 0.
"""

import contextlib
import time
import typing as t

from rally import consts
from rally import exceptions
from rally.common import logging
from rally.common import objects

LOG = logging.getLogger(__name__)

#: Seconds until the engine, which looks every two, has surely understood.
_PATIENCE = 10.0

_interrupted: set[str] = set()


class Interrupted(exceptions.RallyException):
    """A repetition was interrupted by its user."""

    msg_fmt = "%(message)s"
    error_code = 931


@contextlib.contextmanager
def passed_on(task: t.Any, owner: str) -> t.Iterator[None]:
    """Have Rally abort the task when its user interrupts what is within.

    :param task: the running task
    :param owner: identifier of the workload
    :raises Interrupted: in place of KeyboardInterrupt, and at once when an
        earlier repetition was interrupted
    """
    if owner in _interrupted:
        raise Interrupted("not started: an earlier one was interrupted")
    try:
        yield
    except KeyboardInterrupt:
        _interrupted.add(owner)
        LOG.warning("Interrupted: no further repetition is started")
        _abort(task["uuid"])
        raise Interrupted(
            "interrupted by its user; what was measured is in the journal"
        ) from None


def _abort(uuid: str) -> None:
    """Abort a task, and wait until the engine has understood."""
    objects.Task.get(uuid).abort()
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if objects.Task.get_status(uuid) == consts.TaskStatus.ABORTED:
            return
        time.sleep(0.1)
