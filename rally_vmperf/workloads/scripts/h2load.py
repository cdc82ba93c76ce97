# SPDX-License-Identifier: Apache-2.0
"""Run h2load and summarise its log of requests.

Arguments: the arguments of h2load.  It runs on the measured machine with
Python 3.6 or later.  The log has a line for each request: its start in
microseconds since the epoch, its status, and its duration in microseconds.
The script prints counts of durations with three digits, and for each second
the sum of the durations of its pages and their 95th percentile.
"""

import array
import collections
import json
import os
import resource
import subprocess
import sys
import typing as t

#: The log file, which is removed at the end.
LOG = "h2load.log"
#: Maximum size of the printed output of a failed h2load in bytes.
ERROR_LIMIT = 400


def summary(log: t.Iterable[str]) -> t.Dict[str, t.Any]:
    """Return counts of a log by response time and second, as a dict."""
    rows, begun = 0, sys.maxsize
    # The end and the duration of each successful request; a log may have
    # millions.
    ends, times = array.array("q"), array.array("q")
    latencies: t.Counter[str] = collections.Counter()
    for line in log:
        start, status, time = map(int, line.split()[:3])
        rows += 1
        begun = min(begun, start)
        if status == 200:
            ends.append(start + time)
            times.append(time)
            latencies[f"{time:.3g}"] += 1
    by_second: t.Dict[int, array.array[int]] = {}
    for row, end in enumerate(ends):
        second = (end - begun) // 1000000
        by_second.setdefault(second, array.array("q")).append(times[row])
    return {
        "rows": rows,
        "microseconds": max(ends) - begun if ends else 0,
        "response_microseconds": sum(times),
        "response_times": {
            f"{float(word):.0f}": count for word, count in latencies.items()
        },
        "per_second": [
            len(by_second.get(second, ()))
            for second in range(max(by_second, default=-1) + 1)
        ],
        "response_times_per_second": {
            str(second): [
                sum(pages),
                sorted(pages)[-(-95 * len(pages) // 100) - 1],
            ]
            for second, pages in by_second.items()
        },
    }


def remove_log() -> None:
    """Remove the log file if it exists."""
    if os.path.exists(LOG):
        os.remove(LOG)


def main() -> int:
    """Run h2load, print a JSON object and return an exit status."""
    # Each user has a connection.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    remove_log()
    try:
        result = subprocess.run(
            ["h2load", f"--log-file={LOG}", *sys.argv[1:]],
            stdout=subprocess.PIPE,
            check=False,
        )
        if result.returncode:
            sys.stderr.buffer.write(result.stdout[-ERROR_LIMIT:])
            return result.returncode
        with open(LOG) as log:
            report = summary(log)
    finally:
        remove_log()
    lines = result.stdout.decode("ascii", "replace").splitlines()
    report["h2load"] = [
        line for line in lines if line.startswith("requests: ")
    ]
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
