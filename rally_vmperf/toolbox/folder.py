"""A folder of packages on Rally's machine, to be sent to guests."""

import collections.abc
import dataclasses
import hashlib
import json
import os
import pathlib

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf.toolbox import manifest


@dataclasses.dataclass(frozen=True)
class Toolbox:
    """Sets of packages, and where their files are."""

    path: pathlib.Path
    sets: tuple[manifest.Set, ...]

    def find(
        self,
        names: collections.abc.Collection[str],
        architecture: str,
        whose: str,
    ) -> manifest.Set:
        """Return the packages for a machine.

        :param names: of the machine's distribution, any of which will do
        :param whose: what messages call the machine
        :raises ToolboxError: listing what the folder has
        """
        for one in self.sets:
            if one.distribution in names and one.architecture == architecture:
                return one
        known = ", ".join(str(one) for one in self.sets) or "nothing"
        own = " or ".join(sorted(names)) or "of no known release"
        raise manifest.ToolboxError(
            f"folder {self.path} has packages for {known}, and {whose} is "
            f"{own} ({architecture}); add what it needs with: rally-vmperf "
            "tools fetch, or tools index"
        )

    def file(self, one: manifest.File) -> pathlib.Path:
        """Return the path of a file."""
        return self.path / one.path


def load(path: str | os.PathLike[str]) -> Toolbox:
    """Return a folder's content, every file of which has been verified.

    :raises ToolboxError: without a manifest, or with a file that is missing
        or not the one that the manifest means
    """
    folder = pathlib.Path(path).expanduser()
    toolbox = Toolbox(folder, read(folder))
    for one in toolbox.sets:
        for file in (*one.index, *one.packages):
            _verify(toolbox.file(file), file)
    return toolbox


def read(folder: pathlib.Path) -> tuple[manifest.Set, ...]:
    """Return the sets that a folder's manifest names, unverified.

    :raises ToolboxError: when there is none, or it is damaged
    """
    path = folder / manifest.NAME
    try:
        content = documents.read_json(path)
    except documents.NoDocumentError:
        raise manifest.ToolboxError(
            f"folder {folder} has no {manifest.NAME}; fill it with: "
            f"rally-vmperf tools fetch {folder}"
        ) from None
    except documents.DocumentError as error:
        raise manifest.ToolboxError(error) from None
    return manifest.decode(content, str(path))


def add(folder: pathlib.Path, new: manifest.Set) -> None:
    """Put a set into the manifest, in place of an older one of its kind."""
    known = read(folder) if (folder / manifest.NAME).exists() else ()
    kept = [one for one in known if str(one) != str(new)]
    text = json.dumps(manifest.encode([*kept, new]), indent=1) + "\n"
    atomic.write(folder / manifest.NAME, text, mode=0o644)


def describe(path: pathlib.Path) -> tuple[int, str]:
    """Return size and SHA-256 of a file."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return path.stat().st_size, digest


def _verify(path: pathlib.Path, wanted: manifest.File) -> None:
    try:
        found = describe(path)
    except OSError as error:
        raise manifest.ToolboxError(
            f"{path}: {error.strerror}; fetch or index the folder again"
        ) from None
    if found != (wanted.size, wanted.sha256):
        raise manifest.ToolboxError(
            f"{path} is not the file that {manifest.NAME} lists: SHA-256 "
            f"{found[1][:12]}... instead of {wanted.sha256[:12]}...; fetch "
            "or index the folder again"
        )
