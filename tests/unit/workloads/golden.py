"""Real outputs of stated tool versions, as outcomes of commands."""

import pathlib

from rally_vmperf.workloads import base

_DATA = pathlib.Path(__file__).parent / "data"


def text(name: str) -> str:
    """Return a file of data/."""
    return (_DATA / name).read_text()


def outcome(
    name: str,
    stdout: str = "",
    *,
    seconds: float = 1.0,
    exit_status: int = 0,
    stderr: str = "",
) -> base.Outcome:
    """Return what a command of that name left."""
    return base.Outcome(
        name=name,
        exit_status=exit_status,
        seconds=seconds,
        started=0.0,
        ended=seconds,
        stdout=stdout,
        stderr=stderr,
    )


def outcomes(files: dict[str, str]) -> dict[str, base.Outcome]:
    """Return outcomes by the names of their commands.

    :param files: command -> file of data/
    """
    return {name: outcome(name, text(file)) for name, file in files.items()}


#: Workload, with a variant of it after a dash -> arguments of the recorded
#: runs, and their outputs.
RUNS: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "fio": (
        {"size_mib": 64, "runtime": 2, "ramp": 1},
        {
            pattern: f"fio-3.33-{pattern}.json"
            for pattern in ("read", "write", "randread", "randwrite")
        },
    ),
    "iperf3": (
        {"directions": ["to_peer", "from_peer", "guest_to_guest"], "time": 2},
        {
            direction: f"iperf3-3.12-{direction}.json"
            for direction in ("to_peer", "from_peer", "guest_to_guest")
        },
    ),
    "iperf3-udp": (
        {
            "directions": ["to_peer", "from_peer", "guest_to_guest"],
            "protocol": "udp",
            "time": 2,
            "bitrate": 10000000,
        },
        {
            f"{direction}-udp": f"iperf3-3.12-udp-{direction}.json"
            for direction in ("to_peer", "from_peer", "guest_to_guest")
        },
    ),
    "mbw": ({"size_mib": 16, "runs": 3}, {"mbw": "mbw-1.2.2.txt"}),
    "sysbench": (
        {"threads": 2, "time": 2},
        {"sysbench": "sysbench-1.0.20-cpu.txt"},
    ),
}
