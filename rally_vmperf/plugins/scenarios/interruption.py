"""Ctrl-C in a repetition: Rally would swallow it, so it is passed on here.

Rally returns from inside ``finally`` after every iteration, which discards a
KeyboardInterrupt: the run would go on with the next iteration as if nothing
had happened, and end with exit code 0.
"""

import time
import typing as t

from rally import consts
from rally import exceptions
from rally.common import logging
from rally.common import objects

LOG = logging.getLogger(__name__)

_interrupted: set[str] = set()


class Interrupted(exceptions.RallyException):
    """A repetition was interrupted by its user."""

    msg_fmt = "%(message)s"
    error_code = 931


def abort(task: t.Any, owner: str, patience: float = 10.0) -> None:
    """Have Rally abort the task, and wait until it has understood.

    :param task: the running task
    :param owner: identifier of the workload
    :param patience: seconds; the engine looks every two seconds
    """
    _interrupted.add(owner)
    LOG.warning("Interrupted: no further repetition is started")
    uuid = task["uuid"]
    objects.Task.get(uuid).abort()
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if objects.Task.get_status(uuid) == consts.TaskStatus.ABORTED:
            return
        time.sleep(0.1)


def refuse_if_interrupted(owner: str) -> None:
    """Start no repetition after an interrupted one.

    :raises Interrupted: when an earlier repetition was interrupted
    """
    if owner in _interrupted:
        raise Interrupted("not started: an earlier one was interrupted")
