# SPDX-License-Identifier: Apache-2.0
"""The load and the lag of the controller, the machine that runs Rally.

The controller releases start barriers, and clock offsets are relative to its
clock.  A controller that is busy delays the one and widens the other.
"""

import collections.abc
import dataclasses
import os
import threading
import time

from rally_vmperf.measurement import finding

#: Processes per processor, by the load average, above which processes wait.
LOAD_LIMIT = 1.0
#: Seconds of lag. A barrier releases a start at least 0.1 s in advance, so
#: that a start which is released later is late.
LAG_LIMIT = 0.1
#: The share of samples with a longer lag, and so of starts that are at risk.
LATE_LIMIT = 0.01
#: Seconds between two samples.
_INTERVAL = 0.1


@dataclasses.dataclass(kw_only=True)
class ControllerLoad:
    """The samples of a period.

    :param late: The number of samples with a lag beyond the limit.
    :param longest: The longest lag in seconds.
    :param load: The sum of the load averages.
    """

    samples: int = 0
    late: int = 0
    longest: float = 0.0
    load: float = 0.0

    def add(self, lag: float, load: float) -> None:
        """Add the lag in seconds and the load average of a sample."""
        self.samples += 1
        self.late += lag > LAG_LIMIT
        self.longest = max(self.longest, lag)
        self.load += load

    def create_findings(self, processors: int) -> tuple[finding.Finding, ...]:
        """Return a finding if the load or the lag is beyond its limit.

        :param processors: The number of processors of the controller.
        """
        number = self.samples
        details = []
        if self.load > LOAD_LIMIT * processors * number:
            details.append(
                f"load average {self.load / number:.1f} with {processors} "
                f"processors, limit {LOAD_LIMIT * processors:g}"
            )
        if self.late > LATE_LIMIT * number:
            details.append(
                f"{self.late} of {number} samples lagged by more than "
                f"{LAG_LIMIT * 1000:g} ms, the longest by "
                f"{self.longest * 1000:.0f} ms, limit {LATE_LIMIT:.0%}"
            )
        if not details:
            return ()
        return (
            finding.Finding(
                "controller_busy", "controller", "; ".join(details)
            ),
        )


class LoadSampler:
    """A thread that samples the load, and how late it is woken up.

    The lag includes the time in which other threads of this process hold the
    interpreter, because it delays starts, too.

    :param clock: The function that returns the monotonic seconds.
    :param read_load: The function that returns the load averages.
    """

    def __init__(
        self,
        interval: float = _INTERVAL,
        clock: collections.abc.Callable[[], float] = time.monotonic,
        read_load: collections.abc.Callable[
            [], tuple[float, ...]
        ] = os.getloadavg,
    ) -> None:
        self._interval = interval
        self._clock = clock
        self._read_load = read_load
        self._load = ControllerLoad()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> ControllerLoad:
        """End the thread; return its samples."""
        self._ended.set()
        self._thread.join()
        return self._load

    def _run(self) -> None:
        """Add a sample after each interval."""
        started_at = self._clock()
        while not self._ended.wait(self._interval):
            lag = self._clock() - started_at - self._interval
            self._load.add(lag, self._read_load()[0])
            started_at = self._clock()
