# SPDX-License-Identifier: Apache-2.0
"""The cost of a machine for the controller, by the number of machines."""

import json
import resource
import subprocess
import sys

from tests.bench.density import servers

HEADER = (
    *("machines", "CPU", "connect", "measure", "memory", "connect"),
    *("measure", "raw", "skew", "give or take", "wall"),
)
#: Open files beside the connections.
_OTHERS = 100


def rows(counts, processes):
    """Yield a row for each number of machines.

    :param processes: among which the machines are shared out
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with servers.started("simulated", processes) as descriptions:
        for count in counts:
            if count + _OTHERS > most:
                yield (str(count), f"needs ulimit -n {count + _OTHERS}")
                continue
            yield _row(_take(descriptions, count))


def _take(descriptions, count):
    process = subprocess.run(
        [
            *(sys.executable, "-m", "tests.bench.density.controller"),
            *(str(count), json.dumps(descriptions)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return json.loads(process.stdout)


def _row(cost):
    count = cost["machines"]
    cpu = [cost["connecting_cpu"], cost["measuring_cpu"]]
    kib = [cost["connecting_kib"], cost["measuring_kib"]]
    return (
        str(count),
        *(f"{total / count * 1000:.2f} ms" for total in (sum(cpu), *cpu)),
        *(f"{total / count:.0f} KiB" for total in (sum(kib), *kib)),
        f"{cost['raw_kib'] / count:.1f} KiB",
        f"{cost['skew'] * 1000:.1f} ms",
        f"{cost['uncertainty'] * 1000:.1f} ms",
        f"{cost['measuring_wall']:.1f} s",
    )
