# SPDX-License-Identifier: Apache-2.0
"""The store of baselines: a directory of JSON documents, one per name."""

import collections
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
from rally_vmperf import json_schema
from rally_vmperf.baseline import document

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: The value of an option for guests without bare metal.
NONE = "none"
#: The rule of ``NAME``, for messages.
NAME_RULE = (
    "use letters, digits, '.', '_' and '-', at most 64, starting with a "
    "letter or digit"
)


def parse_reference(option: t.Any) -> t.Any:
    """Return the name or the class that an option of a task refers to.

    :param option: The mapping ``{name: ...}`` or ``{class: ...}``, or a name;
        an empty one and ``none`` mean guests without bare metal.
    :returns: The mapping; None without bare metal.
    """
    if option in (*json_schema.EMPTY, NONE):
        return None
    return {"name": option} if isinstance(option, str) else option


class Store:
    """A store of baselines by name.

    :param folder: The directory of the documents, created when one is saved.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)

    def names(self) -> list[str]:
        """Return the names of all registered baselines, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def load(self, name: str) -> document.Baseline:
        """Return the document of a baseline; reject a damaged one.

        :raises BaselineError: If it does not exist, or the file is damaged or
            not a baseline.
        """
        path = self._get_path(name)
        try:
            content = documents.read_json(path)
        except documents.NoDocumentError:
            raise document.BaselineError(
                f"{self._describe_missing(name)}; record one with: "
                f"{document.format_record_command(name)}"
            ) from None
        except documents.DocumentError as error:
            raise document.BaselineError(f"baseline {error}") from None
        baseline = document.decode(content, f"baseline {path}")
        if baseline.name != name:
            raise document.BaselineError(
                f"baseline {path} contains the name "
                f"{baseline.name!r}; rename the file or record it again"
            )
        return baseline

    def find(self, reference: documents.Arguments) -> document.Baseline:
        """Return the document of the baseline to which a task refers.

        :param reference: The ``name`` of the baseline, or the ``class`` of its
            machine; of several, the newest is used.
        :raises BaselineError: If it does not exist or cannot be read.
        """
        if "class" not in reference:
            return self.load(reference["name"])
        by_class = collections.defaultdict(list)
        for name in self.names():
            with contextlib.suppress(document.BaselineError):
                baseline = self.load(name)
                by_class[baseline.machine_class].append(baseline)
        by_class.pop("", None)
        machine_class = reference["class"]
        if machine_class not in by_class:
            raise document.BaselineError(
                f"no baseline of class {machine_class!r} in {self.folder} "
                f"(classes: {', '.join(sorted(by_class)) or 'none'}); record "
                "one with: "
                + document.format_record_command(
                    options=f" --class {machine_class}"
                )
            )
        return max(
            by_class[machine_class],
            key=lambda baseline: baseline.recording_time,
        )

    @contextlib.contextmanager
    def reserve(
        self, name: str, *, replace: bool = False
    ) -> collections.abc.Iterator[None]:
        """Reserve a name in the block, so that ``save`` accepts it there.

        No other process can use the name meanwhile.

        :raises BaselineError: If the name cannot be used.
        """
        path = self._get_path(name)
        if path.exists() and not replace:
            raise self._create_exists_error(name)
        lock = self.folder / f".{name}.lock"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            stream = lock.open("w")
        except OSError as error:
            raise document.BaselineError(
                f"baseline directory {self.folder}: "
                f"{error.strerror or error}; set [vmperf] baseline_dir to a "
                "writable directory"
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

    def save(
        self, baseline: document.Baseline, *, replace: bool = False
    ) -> None:
        """Register a baseline atomically.

        :param replace: Whether to overwrite a baseline of the same name.
        :raises BaselineError: If the name exists and must not be replaced.
        """
        content = document.FORMAT.encode(baseline)
        document.decode(content, "the new baseline")
        path = self._get_path(baseline.name)
        text = json.dumps(content, indent=1)
        try:
            atomic.write(path, text, replace=replace)
        except FileExistsError:
            raise self._create_exists_error(path.stem) from None
        except OSError as error:
            raise document.BaselineError(
                f"baseline {path}: {error.strerror or error}; "
                f"{_rescue(path, text)}"
            ) from None

    def delete(self, name: str) -> None:
        """Remove a baseline, even if it is damaged.

        :raises BaselineError: If it does not exist.
        """
        try:
            self._get_path(name).unlink()
        except FileNotFoundError:
            raise document.BaselineError(
                self._describe_missing(name)
            ) from None
        except OSError as error:
            raise document.BaselineError(
                f"baseline {error.filename}: {error.strerror}"
            ) from None

    def _describe_missing(self, name: str) -> str:
        """Return a message without solution that a name is not registered."""
        registered = ", ".join(self.names()) or "none"
        return (
            f"no baseline {name!r} in {self.folder} (registered: {registered})"
        )

    def _create_exists_error(self, name: str) -> document.BaselineError:
        """Return the error that a baseline of this name exists."""
        return document.BaselineError(
            f"baseline {name!r} exists in {self.folder}; choose another "
            "name, or add --replace"
        )

    def _get_path(self, name: str) -> pathlib.Path:
        """Return the path of a baseline's file; reject an invalid name."""
        if not NAME.fullmatch(name):
            raise document.BaselineError(
                f"baseline name {name!r}: {NAME_RULE}"
            )
        return self.folder / f"{name}.json"


def _rescue(path: pathlib.Path, text: str) -> str:
    """Save measurements in another file; return a sentence with its path."""
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
