"""What the tools printed in a repetition: on disk as it comes."""

import collections.abc
import contextlib
import io
import json
import pathlib
import typing as t
import zlib

#: Makes zlib write a file that gzip reads.
_GZIP = 31


class RawOutputs:
    """A compressed file, one JSON document once it is closed.

    Each output is in it, as a line of its own, when ``add`` returns: a killed
    controller leaves what came until then, and zcat reads it.  A full disk
    costs all outputs, so that no half a file takes the room of a record.

    :param path: of the file
    :param failed: called once, with one line, when the disk takes no more;
        nothing here raises
    """

    def __init__(
        self, path: pathlib.Path, failed: t.Callable[[str], None]
    ) -> None:
        self._path = path
        self._failed = failed
        self._packer = zlib.compressobj(wbits=_GZIP)
        self._stream: io.FileIO | None = None
        self._between = "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = io.FileIO(path, "w")
        except OSError as error:
            self._give_up(error)
        self._put('{"outputs": [')

    def add(self, output: collections.abc.Mapping[str, t.Any]) -> None:
        """Write what a command printed, and where."""
        self._put(self._between + json.dumps(output))
        self._between = ",\n"

    def close(self) -> str:
        """End the document; return the file's name, or "" without a file."""
        self._put("\n]}\n", zlib.Z_FINISH)
        return "" if self._stream is None else self._path.name

    def _put(self, text: str, mode: int = zlib.Z_SYNC_FLUSH) -> None:
        if self._stream is None:
            return
        packed = self._packer.compress(text.encode())
        content = memoryview(packed + self._packer.flush(mode))
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
        self._failed(
            f"raw outputs {self._path}: {error.strerror or error}; make room "
            "or set [vmperf] journal_dir to another folder"
        )
