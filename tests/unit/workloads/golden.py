# SPDX-License-Identifier: Apache-2.0
"""Real outputs of stated tool versions, as outcomes of commands."""

import io
import pathlib
import tarfile
import typing as t

import yaml

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry

Stream = t.Literal["stdout", "stderr"]

#: Outputs, and what they are outputs of.
DATA = pathlib.Path(__file__).parent / "data"
#: The names of the workloads that have metrics; others are loads only.
MEASURED = [
    name
    for name in registry.workload_names()
    for workload in [registry.get_workload(name)]
    if workload.metrics(workload.complete({}))
]


def text(name: str) -> str:
    """Return a file of data/."""
    return (DATA / name).read_text()


def unixbench_source(
    cap: int = 0, name: str = "unix-5/UnixBench/Run"
) -> bytes:
    """Return a tarball with a script that runs so many copies at most."""
    script = (
        "my $testCats = {\n"
        f"    'system' => {{ 'name' => \"System\", 'maxCopies' => {cap} }},\n"
        "    '2d' => { 'name' => \"2D\", 'maxCopies' => 1 },\n};\n"
    ).encode()
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tarball:
        member = tarfile.TarInfo(name)
        member.size = len(script)
        tarball.addfile(member, io.BytesIO(script))
    return content.getvalue()


def last(text: str) -> str:
    """Return the last object of a tool that prints one after another."""
    return text[text.rfind("\n{") + 1 :]


def values(readings: t.Iterable[sample.Reading]) -> list[sample.Sample]:
    """Return values and percentiles, as a record has them."""
    samples: list[sample.Sample] = []
    for reading in readings:
        if isinstance(reading, sample.Sample):
            samples.append(reading)
        elif isinstance(reading, sample.Distribution):
            samples += reading.samples()
    return samples


def outcome(
    name: str,
    stdout: str = "",
    *,
    seconds: float = 1.0,
    exit_status: int = 0,
    stderr: str = "",
) -> base.CommandResult:
    """Return the result of a command of that name."""
    return base.CommandResult(
        name=name,
        exit_status=exit_status,
        seconds=seconds,
        started=0.0,
        ended=seconds,
        stdout=stdout,
        stderr=stderr,
    )


def outcomes(
    files: dict[str, str], stream: Stream = "stdout"
) -> dict[str, base.CommandResult]:
    """Return outcomes by the names of their commands, of a minute each.

    :param files: command -> file of data/
    """
    return {
        name: outcome(name, seconds=60.0, **{stream: text(file)})
        for name, file in files.items()
    }


class Run(t.NamedTuple):
    """A recorded run from a YAML file in data/.

    :param arguments: The arguments of the run.
    :param files: command -> file of data/ with its output
    :param stream: The stream of the output.
    """

    arguments: dict[str, t.Any]
    files: dict[str, str]
    stream: Stream = "stdout"

    @classmethod
    def load(cls, path: pathlib.Path) -> "Run":
        """Return the run in a file."""
        document = yaml.safe_load(path.read_text())
        return cls(
            document["arguments"],
            document["outputs"],
            document.get("stream", "stdout"),
        )

    def outcomes(self) -> dict[str, base.CommandResult]:
        """Return the results of its commands."""
        return outcomes(self.files, self.stream)


#: Workload, with a variant of it after a dash -> a recorded run.
RUNS = {path.stem: Run.load(path) for path in sorted(DATA.glob("*.yaml"))}


def workload(run: str) -> base.Workload:
    """Return the workload of a recorded run."""
    return registry.get_workload(run.partition("-")[0])
