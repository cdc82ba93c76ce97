"""The cloud's passwords, and whether its users still have them."""

import collections.abc
import pathlib

from rally_vmperf.cloud import client_credentials
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import schema


def load(
    place: layout.Layout, found: collections.abc.Callable[[str, str], None]
) -> dict[str, str]:
    """Return the secrets by purpose, with new ones for those that are lost.

    :param place: the state root's folders
    :param found: called with what was wrong and what was done
    """
    path = place.etc / "secrets.json"
    lost = len(credentials.PURPOSES) - len(credentials.known(path))
    if not lost or not schema.any_filled(place):
        return credentials.load(path)
    handed_over = client_credentials.passwords(place)
    kept = (
        "those of admin and member, in clouds.yaml, are as before"
        if len(handed_over) == 2
        else "clouds.yaml has new ones: make Rally's environments anew"
    )
    # Before they are: what is written here is no digest of any secrets.
    credentials.write_private(_note(place), "lost")
    found(f"{lost} secrets are lost from {path.name}", f"made anew; {kept}")
    return credentials.load(path, handed_over)


def changed(place: layout.Layout, secrets: dict[str, str]) -> bool:
    """Tell whether users in Keystone may have other passwords than these.

    :param place: the state root's folders
    :param secrets: passwords by purpose
    """
    written = _note(place)
    return written.exists() and written.read_text() != _digest(secrets)


def note(place: layout.Layout, secrets: dict[str, str]) -> None:
    """Write down that users in Keystone have these passwords.

    :param place: the state root's folders
    :param secrets: passwords by purpose
    """
    credentials.write_private(_note(place), _digest(secrets))


def _digest(secrets: dict[str, str]) -> str:
    return credentials.digest(secrets[name] for name in credentials.PURPOSES)


def _note(place: layout.Layout) -> pathlib.Path:
    return place.data / "done" / "passwords"
