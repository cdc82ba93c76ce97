"""The registry of baselines: a folder of JSON documents, one per name."""

import collections.abc
import contextlib
import fcntl
import json
import os
import pathlib
import re
import tempfile
import typing as t

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf.baseline import document

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: What ``NAME`` asks for, for messages.
NAME_RULE = (
    "use letters, digits, '.', '_' and '-', at most 64, starting with a "
    "letter or digit"
)


class Store:
    """Baselines by name.

    :param folder: of the documents, created when one is saved
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)

    def names(self) -> list[str]:
        """Return the names of all registered baselines, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def load(self, name: str) -> document.Json:
        """Return a baseline.

        :raises BaselineError: when there is none of that name, or the file
            is damaged or not a baseline
        """
        path = self._path(name)
        try:
            content = documents.read_json(path)
        except documents.NoDocumentError:
            known = ", ".join(self.names()) or "none"
            raise document.BaselineError(
                f"no baseline {name!r} in {self.folder} (registered: "
                f"{known}); record one with: rally-vmperf baseline record "
                f"{name} --task FILE --local (or --host USER@ADDRESS)"
            ) from None
        except documents.DocumentError as error:
            raise document.BaselineError(f"baseline {error}") from None
        checked = document.check(content, f"baseline {path}")
        if checked["name"] != name:
            raise document.BaselineError(
                f"baseline {path} says that its name is "
                f"{checked['name']!r}; rename the file or record it again"
            )
        return checked

    def find(
        self, wanted: collections.abc.Mapping[str, t.Any]
    ) -> document.Json:
        """Return the baseline that a task means.

        :param wanted: its ``name``, or the ``class`` of machines that it
            stands for: of several the one that was recorded last
        :raises BaselineError: when there is none, or it cannot be read
        """
        if "class" not in wanted:
            return self.load(wanted["name"])
        readable = []
        for name in self.names():
            with contextlib.suppress(document.BaselineError):
                readable.append(self.load(name))
        of_class = [
            one for one in readable if one.get("class") == wanted["class"]
        ]
        if not of_class:
            known = {one["class"] for one in readable if "class" in one}
            raise document.BaselineError(
                f"no baseline of class {wanted['class']!r} in {self.folder} "
                f"(classes: {', '.join(sorted(known)) or 'none'}); record one "
                "with: rally-vmperf baseline record NAME --class "
                f"{wanted['class']} --task FILE --host USER@ADDRESS"
            )
        return max(of_class, key=document.recorded_at)

    @contextlib.contextmanager
    def reserve(
        self, name: str, *, replace: bool = False
    ) -> collections.abc.Iterator[None]:
        """Reserve a name that ``save`` must not refuse after a recording.

        No other process can take the name meanwhile.

        :raises BaselineError: when the name cannot be used
        """
        path = self._path(name)
        if path.exists() and not replace:
            raise self._exists(name)
        lock = self.folder / f".{name}.lock"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            stream = lock.open("w")
        except OSError as error:
            raise document.BaselineError(
                f"baseline folder {self.folder}: {error.strerror or error}; "
                "set [vmperf] baseline_dir to a folder that can be written"
            ) from None
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise document.BaselineError(
                    f"baseline {name!r} is being recorded by another process; "
                    "wait for its end, or choose another name"
                ) from None
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)

    def save(self, content: document.Json, *, replace: bool = False) -> None:
        """Register a baseline, whole or not at all.

        :param replace: overwrite one of the same name
        :raises BaselineError: when the name is taken and not to be replaced
        """
        document.check(content, "the new baseline")
        path = self._path(content["name"])
        text = json.dumps(content, indent=1, sort_keys=True)
        try:
            atomic.write(path, text, replace=replace)
        except FileExistsError:
            raise self._exists(path.stem) from None
        except OSError as error:
            raise document.BaselineError(
                f"baseline {path}: {error.strerror or error}; "
                f"{_rescue(path, text)}"
            ) from None

    def delete(self, name: str) -> None:
        """Remove a baseline, readable or not.

        :raises BaselineError: when there is none of that name
        """
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            known = ", ".join(self.names()) or "none"
            raise document.BaselineError(
                f"no baseline {name!r} in {self.folder} (registered: {known})"
            ) from None
        except OSError as error:
            raise document.BaselineError(
                f"baseline {error.filename}: {error.strerror}"
            ) from None

    def _exists(self, name: str) -> document.BaselineError:
        return document.BaselineError(
            f"baseline {name!r} exists in {self.folder}; choose another "
            "name, or add --replace"
        )

    def _path(self, name: str) -> pathlib.Path:
        if not NAME.fullmatch(name):
            raise document.BaselineError(
                f"baseline name {name!r}: {NAME_RULE}"
            )
        return self.folder / f"{name}.json"


def _rescue(path: pathlib.Path, text: str) -> str:
    """Save the measurements elsewhere, and return a sentence on where."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix=f"{path.stem}-", suffix=".json", delete=False
        ) as stream:
            stream.write(text)
    except OSError as error:
        return (
            f"the recording is lost: {tempfile.gettempdir()}: "
            f"{error.strerror or error}"
        )
    return f"make room, then register it with: mv {stream.name} {path}"
