"""Search for the most requests per second within a limit on their latency.

Arguments: the limit on the 99th percentile in nanoseconds, then the command
line of fio without a depth.  It runs on the measured machine, with any Python
from 3.6 on.  fio's JSON of each step is printed as it is.
"""

import json
import subprocess
import sys
import typing as t

#: Requests in flight of the last step, and steps between two that differ.
DEEPEST, REFINED = 256, 2
PERCENTILE = "99.000000"


def next_depth(steps: t.Sequence[t.Tuple[int, bool]]) -> t.Optional[int]:
    """Return the depth of the next step, None where the search has ended.

    It doubles until a step is beyond the limit, and then goes between.

    :param steps: depth and whether it was within the limit, in their order
    """
    within = [depth for depth, kept in steps if kept]
    beyond = [depth for depth, kept in steps if not kept]
    if not beyond:
        depth = 2 * max(within) if within else 1
        return depth if depth <= DEEPEST else None
    if not within:
        return None
    first = [kept for _, kept in steps].index(False)
    low, high = max(within), min(beyond)
    if len(steps) - first > REFINED or high - low < 2:
        return None
    return (low + high) // 2


def main() -> int:
    """Run the steps; return fio's exit status where it is not 0."""
    limit = int(sys.argv[1])
    steps = []  # type: t.List[t.Tuple[int, bool]]
    depth = next_depth(steps)
    while depth is not None:
        done = subprocess.run(
            [*sys.argv[2:], f"--iodepth={depth}"],
            stdout=subprocess.PIPE,
            check=False,
        )
        sys.stdout.buffer.write(done.stdout)
        sys.stdout.flush()
        if done.returncode:
            return done.returncode
        text = done.stdout.decode("utf-8", "replace")
        told = json.loads(text[text.index("{") :])
        latencies = told["jobs"][0]["read"]["clat_ns"]["percentile"]
        steps.append((depth, latencies[PERCENTILE] <= limit))
        depth = next_depth(steps)
    return 0


if __name__ == "__main__":
    sys.exit(main())
