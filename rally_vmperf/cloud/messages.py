"""RabbitMQ's files, in which nothing is that services would miss."""

import collections.abc
import pathlib
import secrets
import stat

from rally_vmperf import removal
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import services
from rally_vmperf.cloud import supervisor

COOKIE_LENGTH = 64
LOST = "made anew; services send again what they had not been answered"


def ensure(
    place: layout.Layout,
    keeper: supervisor.Supervisor,
    service: services.Service,
    password: str,
    found: collections.abc.Callable[[str, str], None],
) -> str | None:
    """Have RabbitMQ running, with files made anew if it does not like its own.

    :param place: the state root's folders
    :param keeper: starts the service
    :param service: RabbitMQ
    :param password: what its user must be made with
    :param found: called with what was wrong and what was done
    :return: what was wrong with it, when it was restarted
    """
    made_with = place.data / "done" / "rabbitmq"
    digest = credentials.digest([password])
    outdated = made_with.exists() and made_with.read_text() != digest
    if outdated or not closed(place):
        keeper.stop(service.name)
    if outdated:
        forget(place)
    if not closed(place):
        make_cookie(place)
    fresh = not any((place.data / "rabbitmq").glob("vmperf@*"))
    try:
        trouble = keeper.ensure(service)
    except errors.AddressError:
        raise
    except errors.CloudError as failed:
        if fresh:
            raise
        keeper.stop(service.name)
        forget(place)
        make_cookie(place)
        found(f"RabbitMQ does not start with its files ({failed})", LOST)
        trouble = keeper.ensure(service)
    credentials.write_private(made_with, digest)
    return trouble


def closed(place: layout.Layout) -> bool:
    """Tell whether Erlang's cookie is one of ours, for root only.

    Erlang's own is of 36 bits.
    """
    try:
        found = cookie(place).lstat()
    except FileNotFoundError:
        return False
    mode = stat.S_IMODE(found.st_mode)
    return mode == 0o400 and found.st_size == COOKIE_LENGTH


def make_cookie(place: layout.Layout) -> None:
    """Make the password of RabbitMQ's node towards other nodes."""
    text = secrets.token_hex(COOKIE_LENGTH // 2)
    credentials.write_private(cookie(place), text, 0o400)


def cookie(place: layout.Layout) -> pathlib.Path:
    """Return the file that Erlang reads in the service's home."""
    return place.data / "rabbitmq" / ".erlang.cookie"


def forget(place: layout.Layout) -> None:
    """Remove RabbitMQ's files."""
    removal.remove(place.data / "rabbitmq", place.root)
    place.make_folders()
