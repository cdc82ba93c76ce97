"""Keystone's keys for tokens and credentials."""

import base64
import binascii
import pathlib

from rally_vmperf import removal
from rally_vmperf.cloud.system import layout

REPOSITORIES = ("fernet", "credential")
LENGTH = 32


def broken(folders: layout.Layout) -> list[str]:
    """Return the folders of keys that Keystone cannot use.

    :param folders: the state root's folders
    """
    folder = folders.data / "keystone"
    return [name for name in REPOSITORIES if not whole(folder / name)]


def whole(folder: pathlib.Path) -> bool:
    """Return whether all keys in a folder can be used.

    :param folder: files with one key each, the first of them called 0
    """
    if not (folder / "0").is_file():
        return False
    return all(is_key(path) for path in folder.iterdir())


def is_key(path: pathlib.Path) -> bool:
    """Return whether a file holds a key."""
    try:
        return len(base64.urlsafe_b64decode(path.read_bytes())) == LENGTH
    except (OSError, binascii.Error):
        return False


def forget(folders: layout.Layout, names: list[str]) -> None:
    """Remove folders of keys; Keystone's set-up makes new ones.

    :param folders: the state root's folders
    :param names: the folders
    """
    for name in names:
        removal.remove(folders.data / "keystone" / name, folders.root)
