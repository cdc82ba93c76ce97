# SPDX-License-Identifier: Apache-2.0
"""Search for the maximum requests per second within a latency limit.

Arguments: the limit on the 99th percentile in nanoseconds, and the command
line of fio without a depth.  It runs on the measured machine with Python 3.6
or later.  The JSON of fio for each step is printed unchanged.
"""

import json
import subprocess
import sys
import typing as t

#: Maximum depth, and number of steps between two powers of two.
DEEPEST, REFINED = 256, 2
PERCENTILE = "99.000000"


def next_depth(steps: t.Sequence[t.Tuple[int, bool]]) -> t.Optional[int]:
    """Return the depth of the next step, or None if the search has ended.

    The depth doubles until a step exceeds the limit, and is then bisected.

    :param steps: The depth of each step, and whether it was within the limit.
    """
    within = [depth for depth, is_within in steps if is_within]
    beyond = [depth for depth, is_within in steps if not is_within]
    if not beyond:
        depth = 2 * max(within) if within else 1
        return depth if depth <= DEEPEST else None
    if not within:
        return None
    first = [is_within for _, is_within in steps].index(False)
    low, high = max(within), min(beyond)
    if len(steps) - first > REFINED or high - low < 2:
        return None
    return (low + high) // 2


def main() -> int:
    """Run all steps; return the exit status of a failed fio, or 0."""
    limit = int(sys.argv[1])
    steps = []  # type: t.List[t.Tuple[int, bool]]
    depth = next_depth(steps)
    while depth is not None:
        process = subprocess.run(
            [*sys.argv[2:], f"--iodepth={depth}"],
            stdout=subprocess.PIPE,
            check=False,
        )
        sys.stdout.buffer.write(process.stdout)
        sys.stdout.flush()
        if process.returncode:
            return process.returncode
        text = process.stdout.decode("utf-8", "replace")
        report = json.loads(text[text.index("{") :])
        latencies = report["jobs"][0]["read"]["clat_ns"]["percentile"]
        steps.append((depth, latencies[PERCENTILE] <= limit))
        depth = next_depth(steps)
    return 0


if __name__ == "__main__":
    sys.exit(main())
