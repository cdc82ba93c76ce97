"""Run h2load and sum up its log of requests.

Arguments: those of h2load; after ``--`` those of a second one that runs
beside it, as a control.  It runs on the measured machine, with any Python from
3.6 on.  The log has a line for each request: when it was sent, in
microseconds since the epoch, its status, and microseconds until its answer
had ended.  It prints their counts, by three digits.
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

#: They are written here, and removed in the end.
LOG, CONTROL_LOG = "h2load.log", "control.log"
#: Bytes of the output that are told of an h2load that failed.
SAID = 400


def summary(log: t.Iterable[str]) -> t.Dict[str, t.Any]:
    """Return counts of a log: by response time, and by second."""
    rows = [tuple(map(int, line.split()[:3])) for line in log]
    begun = min(start for start, _, _ in rows) if rows else 0
    taken = [(start, time) for start, status, time in rows if status == 200]
    ends = [start - begun + time for start, time in taken]
    seconds = collections.Counter(end // 1000000 for end in ends)
    latencies = collections.Counter(f"{time:.3g}" for _, time in taken)
    return {
        "rows": len(rows),
        "begun": begun,
        "microseconds": max(ends, default=0),
        "response_microseconds": sum(time for _, time in taken),
        "response_times": {
            f"{float(word):.0f}": count for word, count in latencies.items()
        },
        "per_second": [
            seconds[second] for second in range(max(seconds, default=-1) + 1)
        ],
    }


class Load:
    """One h2load, running."""

    def __init__(self, argv: t.Sequence[str], log: str) -> None:
        self.log = log
        self.remove()
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - see end()
        self.process = subprocess.Popen(
            ["h2load", f"--log-file={log}", *argv], stdout=self.output
        )

    def printed(self) -> bytes:
        """Return what it printed."""
        self.output.seek(0)
        return self.output.read()

    def report(self) -> t.Dict[str, t.Any]:
        """Return counts of its log, and its own line of counts."""
        with open(self.log) as log:
            found = summary(log)
        told = self.printed().decode("ascii", "replace").splitlines()
        found["h2load"] = [
            line for line in told if line.startswith("requests: ")
        ]
        return found

    def remove(self) -> None:
        """Remove its log."""
        if os.path.exists(self.log):
            os.remove(self.log)

    def end(self) -> None:
        """End it, where it still runs, and remove its log."""
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.remove()


def failed(loads: t.Sequence[Load]) -> t.Optional[Load]:
    """Wait for all; return the first that fails, without waiting for more."""
    while True:
        running = False
        for one in loads:
            status = one.process.poll()
            if status:
                return one
            running = running or status is None
        if not running:
            return None
        time.sleep(0.1)


def main() -> int:
    """Run h2load with the arguments, print a JSON object."""
    # Each user is a connection.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    argv = sys.argv[1:]
    end = argv.index("--") if "--" in argv else len(argv)
    loads = []  # type: t.List[Load]
    try:
        loads.append(Load(argv[:end], LOG))
        if argv[end:]:
            loads.append(Load(argv[end + 1 :], CONTROL_LOG))
        wrong = failed(loads)
        if wrong:
            sys.stderr.buffer.write(wrong.printed()[-SAID:])
            return t.cast(int, wrong.process.returncode)
        found, *control = [one.report() for one in loads]
        if control:
            found["control"] = control[0]
    finally:
        for one in loads:
            one.end()
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
