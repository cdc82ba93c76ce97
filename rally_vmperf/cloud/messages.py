"""RabbitMQ's files, in which nothing is that services would miss."""

import collections.abc

from rally_vmperf import removal
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import services
from rally_vmperf.cloud import supervisor

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
    if made_with.exists() and made_with.read_text() != digest:
        keeper.stop(service.name)
        forget(place)
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
        found(f"RabbitMQ does not start with its files ({failed})", LOST)
        trouble = keeper.ensure(service)
    credentials.write_private(made_with, digest)
    return trouble


def forget(place: layout.Layout) -> None:
    """Remove RabbitMQ's files."""
    removal.remove(place.data / "rabbitmq", place.root)
    place.make_folders()
