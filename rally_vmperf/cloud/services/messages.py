"""RabbitMQ and its files, which can be recreated without loss."""

import collections.abc
import pathlib
import secrets
import stat

from rally_vmperf import atomic
from rally_vmperf import removal
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.state import credentials
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

COOKIE_LENGTH = 64
LOST = "recreated; services send again what they had not been answered"


def ensure(
    folders: layout.Layout,
    keeper: supervisor.Supervisor,
    service: services.Service,
    password: str,
    found: collections.abc.Callable[[str, str], None],
) -> str | None:
    """Start RabbitMQ unless it runs; recreate its files if it fails with them.

    :param folders: the state root's folders
    :param keeper: starts the service
    :param service: RabbitMQ
    :param password: of its user
    :param found: called with what was wrong and what was done
    :return: what was wrong with it, when it was restarted
    """
    made_with = folders.data / "done" / "rabbitmq"
    digest = credentials.digest([password])
    outdated = made_with.exists() and made_with.read_text() != digest
    if outdated or not closed(folders):
        keeper.stop(service.name)
    if outdated:
        forget(folders)
    if not closed(folders):
        make_cookie(folders)
    fresh = not any((folders.data / "rabbitmq").glob("vmperf@*"))
    try:
        trouble = keeper.ensure(service)
    except errors.AddressError:
        raise
    except errors.CloudError as failed:
        if fresh:
            raise
        keeper.stop(service.name)
        forget(folders)
        make_cookie(folders)
        found(f"RabbitMQ does not start with its files ({failed})", LOST)
        trouble = keeper.ensure(service)
    atomic.write(made_with, digest)
    return trouble


def closed(folders: layout.Layout) -> bool:
    """Return whether Erlang's cookie is one of ours, which only root can read.

    Erlang's own is of 36 bits.
    """
    try:
        found = cookie(folders).lstat()
    except FileNotFoundError:
        return False
    mode = stat.S_IMODE(found.st_mode)
    return mode == 0o400 and found.st_size == COOKIE_LENGTH


def make_cookie(folders: layout.Layout) -> None:
    """Make the cookie by which Erlang nodes trust each other."""
    text = secrets.token_hex(COOKIE_LENGTH // 2)
    atomic.write(cookie(folders), text, mode=0o400)


def cookie(folders: layout.Layout) -> pathlib.Path:
    """Return the file that Erlang reads in the service's home."""
    return folders.data / "rabbitmq" / ".erlang.cookie"


def forget(folders: layout.Layout) -> None:
    """Remove RabbitMQ's files."""
    removal.remove(folders.data / "rabbitmq", folders.root)
    folders.make_folders()
