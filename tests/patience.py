# SPDX-License-Identifier: Apache-2.0
"""Time limits of tests: longer where a machine is slow or busy."""

import hashlib
import os
import time

#: Cores, and wall seconds of the work, of the machine whose waits are written
#: down: emulated guests boot on it.
CORES = 2
WORK_SECONDS = 0.03
#: A wait for what never comes ends all the same.
MOST = 10.0


def seconds(usual: float) -> float:
    """Return how long to wait here, now, for what usually takes less."""
    cores = len(os.sched_getaffinity(0))
    began = time.perf_counter()
    # What is done beside it makes it longer, as it will what is waited for.
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 40_000)
    took = time.perf_counter() - began
    return usual * factor(took, os.getloadavg()[0], cores)


def factor(work_seconds: float, load: float, cores: int) -> float:
    """Return how many times slower a machine may be than the usual one.

    :param work_seconds: The wall time of the work on it.
    :param load: The number of processes that wanted a core in the last minute.
    :param cores: The number of its cores.
    """
    busy = max(1.0, work_seconds / WORK_SECONDS, load / cores)
    return min(MOST, busy * max(1.0, CORES / cores))
