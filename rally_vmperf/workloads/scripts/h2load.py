"""Run h2load and sum up its log of requests.

Arguments: those of h2load.  It runs on the measured machine, with any Python
from 3.6 on.  The log has a line for each request: when it was sent, in
microseconds since the epoch, its status, and microseconds until its answer
had ended.  It prints their counts, by three digits.
"""

import collections
import json
import os
import resource
import subprocess
import sys
import typing as t

#: It is written here, and removed in the end.
LOG = "h2load.log"


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
        "microseconds": max(ends, default=0),
        "response_microseconds": sum(time for _, time in taken),
        "response_times": {
            f"{float(word):.0f}": count for word, count in latencies.items()
        },
        "per_second": [
            seconds[second] for second in range(max(seconds, default=-1) + 1)
        ],
    }


def main() -> int:
    """Run h2load with the arguments, print a JSON object."""
    # Each user is a connection.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if os.path.exists(LOG):
        os.remove(LOG)
    done = subprocess.run(
        ["h2load", f"--log-file={LOG}", *sys.argv[1:]],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        sys.stderr.buffer.write(done.stdout[-400:])
        return done.returncode
    told = done.stdout.decode("ascii", "replace").splitlines()
    with open(LOG) as log:
        found = summary(log)
    os.remove(LOG)
    found["h2load"] = [line for line in told if line.startswith("requests: ")]
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
