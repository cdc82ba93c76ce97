"""What grows with guests and commands: files beside the journal.

A record names them with their checksums. All are gzip around one JSON
document.
"""

import collections.abc
import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import tempfile
import typing as t
import zlib

Json = collections.abc.Mapping[str, t.Any]
#: Called once, with one line, when the disk takes no more.
Failed = t.Callable[[str], None]

#: Makes zlib write a file that gzip reads.
_GZIP = 31


class FileError(Exception):
    """A file beside the journal cannot be read; one line."""


class RawOutputs:
    """What the tools printed in a repetition, and when they ran.

    Each output is in the file, as a line of its own, when ``add`` returns: a
    killed controller leaves what came until then, and zcat reads it.  A full
    disk costs all outputs, so that no half a file takes the room of a record.

    :param path: of the file
    :param failed: nothing here raises
    """

    def __init__(self, path: pathlib.Path, failed: Failed) -> None:
        self._path = path
        self._failed = failed
        self._packer = zlib.compressobj(wbits=_GZIP)
        self._sum = hashlib.sha256()
        self._stream: io.FileIO | None = None
        self._between = "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = io.FileIO(path, "w")
        except OSError as error:
            self._give_up(error)
        self._put('{"outputs": [')

    def add(self, output: Json) -> None:
        """Write what a command printed, and where."""
        self._put(self._between + json.dumps(output))
        self._between = ",\n"

    def close(
        self, runs: collections.abc.Iterable[Json] = ()
    ) -> dict[str, str] | None:
        """End the document; return the file's entry for the record.

        :param runs: every command that ran, by its machine's own clock
        :returns: None where there is no file
        """
        lines = ",\n".join(json.dumps(one) for one in runs)
        self._put(f'\n], "runs": [\n{lines}\n]}}\n', zlib.Z_FINISH)
        if self._stream is None:
            return None
        return _entry(self._path, self._sum.hexdigest())

    def _put(self, text: str, mode: int = zlib.Z_SYNC_FLUSH) -> None:
        if self._stream is None:
            return
        packed = self._packer.compress(text.encode())
        content = memoryview(packed + self._packer.flush(mode))
        self._sum.update(content)
        try:
            while content:
                content = content[self._stream.write(content) :]
            if mode == zlib.Z_FINISH:
                self._stream.close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        with contextlib.suppress(OSError):
            if self._stream is not None:
                self._stream.close()
        self._stream = None
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._failed(_full("raw outputs", self._path, error))


def write_machines(
    folder: pathlib.Path, details: Json, failed: Failed
) -> dict[str, str] | None:
    """Write what is known of each machine; return the entry for the record.

    The file is named after its content, so that a run with the same machines
    has one, however many repetitions name it.

    :returns: None where the disk does not take it
    """
    text = json.dumps({"machines": details}, sort_keys=True)
    content = gzip.compress(text.encode(), mtime=0)
    digest = hashlib.sha256(content).hexdigest()
    path = folder / f"machines-{digest[:16]}.json.gz"
    try:
        if not path.exists() or path.read_bytes() != content:
            _replace(path, content)
    except OSError as error:
        failed(_full("machines", path, error))
        return None
    return _entry(path, digest)


def read(folder: pathlib.Path | None, entry: Json | None) -> Json:
    """Return the document of a file that a record names.

    :param folder: of the journal, None where it is not known
    :raises FileError: where it is not there, or not what was written
    """
    if entry is None:
        raise FileError("it could not be written during the run")
    if folder is None:
        raise FileError(f"{entry['name']}: the journal's folder is not known")
    path = folder / pathlib.PurePath(entry["name"]).name
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise FileError(
                f"{path} is not what the run wrote: its checksum differs"
            )
        return t.cast(Json, json.loads(gzip.decompress(content)))
    except (EOFError, ValueError, gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error


def _entry(path: pathlib.Path, digest: str) -> dict[str, str]:
    return {"name": path.name, "sha256": digest}


def _replace(path: pathlib.Path, content: bytes) -> None:
    """Write a file whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=".", delete=False
    ) as stream:
        try:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            os.replace(stream.name, path)
        except BaseException:
            pathlib.Path(stream.name).unlink(missing_ok=True)
            raise


def _full(what: str, path: pathlib.Path, error: OSError) -> str:
    return (
        f"{what} {path}: {error.strerror or error}; make room or set "
        "[vmperf] journal_dir to another folder"
    )
