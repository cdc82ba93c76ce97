# SPDX-License-Identifier: Apache-2.0
"""The files next to the journal: raw outputs, and machines of a run.

A record has their names and checksums. Each is a compressed JSON document.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import gzip
import hashlib
import io
import json
import pathlib
import typing as t
import zlib

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import facts
from rally_vmperf import formats
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import model

if t.TYPE_CHECKING:
    import pydantic

Json = collections.abc.Mapping[str, t.Any]
#: Called once, with one line, when writing fails.
Failed = t.Callable[[str], None]

#: The maximum size of a file in bytes, and of its values.
_MAX_BYTES, MAX_VALUES = 8 << 20, 2_000_000
#: Makes zlib write a file that gzip reads.
_GZIP = 31
#: The fields of a ``CommandResult`` in the list of runs.
_TIMES = ("started", "ended", "seconds", "exit_status", "user", "system")
#: The fields of a ``CommandRun`` that follow them.
_CONTEXT = ("work", "work_unit", "clock_offset", "clock_error")


class RawOutputs:
    """The outputs of the tools in a repetition, with their times.

    When ``add`` returns, the output is a line in the file, so that zcat can
    read it even after the controller is killed. If the disk is full, the file
    is removed to free space for the records.

    :param path: The path of the file.
    :param failed: A function that is called with one line if writing fails.
    """

    def __init__(self, path: pathlib.Path, failed: Failed) -> None:
        self._path = path
        self._failed = failed
        self._packer = zlib.compressobj(wbits=_GZIP)
        self._sum = hashlib.sha256()
        self._stream: io.FileIO | None = None
        self._between = "\n"
        self._results: dict[str, list[Json]] = {"runs": [], "readings": []}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = io.FileIO(path, "w")
        except OSError as error:
            self._abandon(error)
        self._write_text('{"outputs": [')

    def add(self, output: Json) -> None:
        """Write the output of one command to the file."""
        self._write_text(self._between + json.dumps(output))
        self._between = ",\n"

    def add_output(
        self, axes: repetition.Axes, run: command_result.CommandRun
    ) -> None:
        """Write the output of a command in a condition to the file."""
        self.add(_encode_result(axes, run, ("stdout", "stderr")))

    def add_results(
        self,
        axes: repetition.Axes,
        runs: collections.abc.Iterable[command_result.CommandRun],
        readings: merged.Readings,
    ) -> None:
        """Add the results of a condition, which ``close`` writes.

        :param runs: The commands that ran, with the times of their machines.
        :param readings: The distributions and series of each machine.
        """
        self._results["runs"] += [
            {
                **_encode_result(axes, run, _TIMES),
                **{field: getattr(run, field) for field in _CONTEXT},
            }
            for run in runs
        ]
        self._results["readings"] += [
            _encode_reading(axes, machine, reading)
            for machine, reading in readings
        ]

    def close(self) -> model.FileReference | None:
        """Complete the file; return its name and checksum, or None.

        Outputs that arrive later, such as after an interrupt, are discarded.
        """
        text = "\n]"
        for name, results in self._results.items():
            lines = ",\n".join(json.dumps(document) for document in results)
            text += f', "{name}": [\n{lines}\n]'
        self._write_text(f"{text}}}\n", zlib.Z_FINISH)
        if self._stream is None:
            return None
        self._stream = None
        return _file_reference(self._path, self._sum.hexdigest())

    def _write_text(self, text: str, mode: int = zlib.Z_SYNC_FLUSH) -> None:
        """Append compressed text to the file; give up on an OS error."""
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
            self._abandon(error)

    def _abandon(self, error: OSError) -> None:
        """Close and remove the file, and report the error."""
        with contextlib.suppress(OSError):
            if self._stream is not None:
                self._stream.close()
        self._stream = None
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._failed(_describe_failure("raw outputs", self._path, error))


def _encode_result(
    axes: repetition.Axes,
    run: command_result.CommandRun,
    fields: tuple[str, ...],
) -> dict[str, t.Any]:
    """Return the origin and some fields of a result as a JSON document."""
    return {
        "axes": dict(axes),
        "workload": run.workload,
        "command": run.result.name,
        "machine": run.machine,
        **{field: getattr(run.result, field) for field in fields},
    }


def _encode_reading(
    axes: repetition.Axes,
    machine: str,
    reading: sample.Distribution | sample.Series,
) -> dict[str, t.Any]:
    """Return a distribution or series of a machine as a JSON document."""
    return {
        "axes": dict(axes),
        "machine": machine,
        "metric": reading.metric.name,
        "unit": reading.metric.unit,
        **(
            {"histogram": reading.histogram.plain()}
            if isinstance(reading, sample.Distribution)
            else {"points": reading.points}
        ),
    }


def write_machines(
    folder: pathlib.Path,
    details: collections.abc.Mapping[str, documents.Facts],
    failed: Failed,
) -> model.FileReference | None:
    """Write the facts of machines; return name and checksum, or None.

    The name of the file depends on its content, so that all repetitions with
    the same machines share one file.

    :returns: The name and checksum of the file; None if it cannot be written.
    """
    text = json.dumps({"machines": details}, sort_keys=True)
    content = gzip.compress(text.encode(), mtime=0)
    digest = hashlib.sha256(content).hexdigest()
    path = folder / f"machines-{digest[:16]}.json.gz"
    try:
        if not path.is_file() or path.read_bytes() != content:
            atomic.write(path, content)
    except OSError as error:
        failed(_describe_failure("machines", path, error))
        return None
    return _file_reference(path, digest)


def read(
    folder: pathlib.Path | None, file_reference: model.FileReference | None
) -> Json:
    """Return the JSON document in a file that a record refers to.

    :param folder: The directory of the journal; None if it is unknown.
    :raises DocumentError: If the file is missing or has another checksum.
    """
    if file_reference is None:
        raise documents.DocumentError("it could not be written during the run")
    if folder is None:
        raise documents.DocumentError(
            f"{file_reference.name}: unknown directory of the journal"
        )
    path = folder / pathlib.PurePath(file_reference.name).name
    try:
        with documents.open_file(path) as stream:
            content = stream.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise documents.DocumentError(
                f"{path} has more than {_MAX_BYTES} bytes"
            )
        if hashlib.sha256(content).hexdigest() != file_reference.sha256:
            raise documents.DocumentError(
                f"{path} was changed after the run: its checksum differs"
            )
        with gzip.open(io.BytesIO(content)) as unpacked:
            text = unpacked.read(documents.LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise documents.DocumentError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise documents.DocumentError(
            f"{path}: {error.strerror or error}"
        ) from error
    if len(text) > documents.LARGEST:
        raise documents.DocumentError(
            f"{path} unpacks to more than {documents.LARGEST} B"
        )
    document = documents.parse_json(text, str(path), MAX_VALUES)
    try:
        with formats.describe_errors():
            return _create_adapter().validate_python(document)
    except formats.FormatError as error:
        raise documents.DocumentError(f"{path} is damaged: {error}") from None


@functools.cache
def _create_adapter() -> "pydantic.TypeAdapter[Json]":
    """Return the reader of a file with machines or outputs."""
    return formats.create_adapter(facts.File)


def describe_machines(
    folder: pathlib.Path | None, record: model.Record
) -> tuple[tuple[model.DescribedMachine, ...], str]:
    """Return a record's machines with facts, and the error or "".

    The error is empty if the file with the facts can be read.
    """
    details: collections.abc.Mapping[str, documents.Facts] = {}
    error_message = ""
    try:
        details = read(folder, record.machines_file).get("machines", {})
    except documents.DocumentError as error:
        error_message = str(error)
    described = []
    for machine in record.machines:
        facts = details.get(machine.name, {})
        described.append(
            model.DescribedMachine(
                **dataclasses.asdict(machine),
                nova=facts.get("nova", {}),
                fingerprint=facts.get("fingerprint", {}),
                tools=facts.get("tools", {}),
            )
        )
    return tuple(described), error_message


def _file_reference(path: pathlib.Path, digest: str) -> model.FileReference:
    """Return the name and checksum of a file."""
    return model.FileReference(name=path.name, sha256=digest)


def _describe_failure(
    description: str, path: pathlib.Path, error: OSError
) -> str:
    """Return a message on a file that could not be written, with advice."""
    return (
        f"{description} {path}: {error.strerror or error}; make room or set "
        "[vmperf] journal_dir to another directory"
    )
