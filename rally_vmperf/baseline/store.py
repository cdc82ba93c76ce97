"""The registry of baselines: a folder of JSON documents, one per name."""

import contextlib
import json
import os
import pathlib
import re
import tempfile

from rally_vmperf.baseline import document

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Store:
    """Baselines by name.

    :param folder: where the documents lie, created when one is saved
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)

    def names(self) -> list[str]:
        """Return the names of all registered baselines, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def load(self, name: str) -> document.Json:
        """Return a baseline.

        :raises BaselineError: when there is none of that name, or the file
            is damaged or no baseline
        """
        path = self._path(name)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            known = ", ".join(self.names()) or "none"
            raise document.BaselineError(
                f"no baseline {name!r} in {self.folder} (registered: "
                f"{known}); record one with: rally-vmperf baseline record "
                f"{name} --task FILE --local (or --host USER@ADDRESS)"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise document.BaselineError(f"baseline {path}: {error}") from None
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise document.BaselineError(
                f"baseline {path} is damaged: line {error.lineno} column "
                f"{error.colno}: {error.msg}"
            ) from None
        checked = document.check(content, f"baseline {path}")
        if checked["name"] != name:
            raise document.BaselineError(
                f"baseline {path} says that its name is "
                f"{checked['name']!r}; rename the file or record it again"
            )
        return checked

    def reserve(self, name: str, *, replace: bool = False) -> None:
        """Refuse at once what ``save`` would refuse after long work.

        :raises BaselineError: when the name cannot be used
        """
        path = self._path(name)
        if path.exists() and not replace:
            raise document.BaselineError(
                f"baseline {name!r} exists in {self.folder}; choose another "
                "name, or add --replace"
            )

    def save(self, content: document.Json, *, replace: bool = False) -> None:
        """Register a baseline, whole or not at all.

        :param replace: overwrite one of the same name
        :raises BaselineError: when the name is taken and not to be replaced
        """
        document.check(content, "the new baseline")
        path = self._path(content["name"])
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=self.folder, prefix=".", delete=False, encoding="utf-8"
        ) as stream:
            try:
                json.dump(content, stream, indent=1, sort_keys=True)
                stream.flush()
                os.fsync(stream.fileno())
                if replace:
                    os.replace(stream.name, path)
                else:
                    os.link(stream.name, path)
            except FileExistsError:
                raise document.BaselineError(
                    f"baseline {path.stem!r} exists in {self.folder}; choose "
                    "another name, or add --replace"
                ) from None
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(stream.name)

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

    def _path(self, name: str) -> pathlib.Path:
        if not NAME.fullmatch(name):
            raise document.BaselineError(
                f"baseline name {name!r}: use letters, digits, '.', '_' and "
                "'-', at most 64, starting with a letter or digit"
            )
        return self.folder / f"{name}.json"
