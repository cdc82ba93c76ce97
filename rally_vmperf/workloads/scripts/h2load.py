"""Run h2load and summarise its log of requests.

Arguments: the arguments of h2load; after ``--`` the arguments of a second,
concurrent h2load as a control.  It runs on the measured machine with Python
3.6 or later.  The log has a line for each request: its start in microseconds
since the epoch, its status, and its duration in microseconds.  The script
prints counts of durations with three digits.
"""

import collections
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import typing as t

#: The log files, which are removed at the end.
LOG, CONTROL_LOG = "h2load.log", "control.log"
#: Maximum size of the printed output of a failed h2load in bytes.
ERROR_LIMIT = 400


def summary(log: t.Iterable[str]) -> t.Dict[str, t.Any]:
    """Return counts of a log by response time and second, as a dict."""
    rows = [tuple(map(int, line.split()[:3])) for line in log]
    begun = min(start for start, _, _ in rows) if rows else 0
    successful = [
        (start, time) for start, status, time in rows if status == 200
    ]
    ends = [start - begun + time for start, time in successful]
    seconds = collections.Counter(end // 1000000 for end in ends)
    latencies = collections.Counter(f"{time:.3g}" for _, time in successful)
    return {
        "rows": len(rows),
        "begun": begun,
        "microseconds": max(ends, default=0),
        "response_microseconds": sum(time for _, time in successful),
        "response_times": {
            f"{float(word):.0f}": count for word, count in latencies.items()
        },
        "per_second": [
            seconds[second] for second in range(max(seconds, default=-1) + 1)
        ],
    }


class Load:
    """A running h2load."""

    def __init__(self, argv: t.Sequence[str], log: str) -> None:
        self.log = log
        self.remove()
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - see end()
        self.process = subprocess.Popen(
            ["h2load", f"--log-file={log}", *argv], stdout=self.output
        )

    def printed(self) -> bytes:
        """Return the standard output of h2load as bytes."""
        self.output.seek(0)
        return self.output.read()

    def report(self) -> t.Dict[str, t.Any]:
        """Return the counts of its log and of its output as a dict."""
        with open(self.log) as log:
            report = summary(log)
        lines = self.printed().decode("ascii", "replace").splitlines()
        report["h2load"] = [
            line for line in lines if line.startswith("requests: ")
        ]
        return report

    def remove(self) -> None:
        """Remove its log file if it exists."""
        if os.path.exists(self.log):
            os.remove(self.log)

    def end(self) -> None:
        """Kill the process if it is running, and remove its log."""
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.remove()


def failed(loads: t.Sequence[Load]) -> t.Optional[Load]:
    """Wait for all loads; return the first one that fails, or None."""
    while True:
        running = False
        for load in loads:
            status = load.process.poll()
            if status:
                return load
            running = running or status is None
        if not running:
            return None
        time.sleep(0.1)


def main() -> int:
    """Run h2load, print a JSON object and return an exit status."""
    # Each user has a connection.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    argv = sys.argv[1:]
    end = argv.index("--") if "--" in argv else len(argv)
    loads = []  # type: t.List[Load]
    try:
        loads.append(Load(argv[:end], LOG))
        if argv[end:]:
            loads.append(Load(argv[end + 1 :], CONTROL_LOG))
        failed_load = failed(loads)
        if failed_load:
            sys.stderr.buffer.write(failed_load.printed()[-ERROR_LIMIT:])
            return t.cast(int, failed_load.process.returncode)
        report, *control = [load.report() for load in loads]
        if control:
            report["control"] = control[0]
    finally:
        for load in loads:
            load.end()
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
