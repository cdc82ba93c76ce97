"""Keystone's keys for tokens and credentials."""

import base64
import binascii
import pathlib

from rally_vmperf import removal
from rally_vmperf.cloud import layout

REPOSITORIES = ("fernet", "credential")
LENGTH = 32


def broken(place: layout.Layout) -> list[str]:
    """Return the folders of keys that Keystone cannot use.

    :param place: the state root's folders
    """
    folder = place.data / "keystone"
    return [name for name in REPOSITORIES if not whole(folder / name)]


def whole(folder: pathlib.Path) -> bool:
    """Tell whether all keys in a folder can be used.

    :param folder: files with one key each, the first of them called 0
    """
    if not (folder / "0").is_file():
        return False
    return all(is_key(path) for path in folder.iterdir())


def is_key(path: pathlib.Path) -> bool:
    """Tell whether a file holds a key."""
    try:
        return len(base64.urlsafe_b64decode(path.read_bytes())) == LENGTH
    except (OSError, binascii.Error):
        return False


def forget(place: layout.Layout, names: list[str]) -> None:
    """Remove folders of keys, for Keystone's set-up to make anew.

    :param place: the state root's folders
    :param names: the folders
    """
    for name in names:
        removal.remove(place.data / "keystone" / name, place.root)
