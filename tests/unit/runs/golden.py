# SPDX-License-Identifier: Apache-2.0
"""Machines on which tools print what real ones printed."""

import hashlib
import math
import pathlib
import re
import signal
import time

from rally_vmperf.machines import testing

DATA = pathlib.Path(__file__).parent.parent / "workloads" / "data"
SYSBENCH = (DATA / "sysbench-1.0.20-cpu.txt").read_text()
#: Tools that the machines have, with their versions.
TOOLS = {"sysbench": "1.0.20", "fio": "3.33"}
#: What the machines' clocks say that a command takes.
SECONDS = 2.0

_FINGERPRINT = """@@ kernel
6.1.0-18-amd64
@@ machine_id
{name}
@@ detect_virt
{virtualisation}
@@ cpuinfo
model name : Some CPU
"""
_ALONE = """machine hz=100 cpus=4 own=7
counters up={before:.2f} sectors=0 bytes=0
counters up={up:.2f} sectors=0 bytes={bytes}
process 1 0 10 100 9000 init
process 7 1 9000 1 0 sh
process 9 1 9000 {burnt} 0 {name}
"""
_SHAPE = """allowed=0-3
memory_kib=8388608
# CPU,CORE,NODE
0,0,0
1,1,0
2,2,0
3,3,0"""


def interrupt():
    """Do what Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)


def sysbench(rate, threads=2, seconds=2, max_prime=10000):
    """Return what sysbench prints of a rate, in agreement with itself."""
    events, total = _events(rate, seconds)
    # As in the recorded one, where threads are fast enough for that.
    mean = min(0.22, 998 * threads / rate)
    spent = mean * events
    figures = {
        "Number of threads": f"{threads}",
        "Prime numbers limit": f"{max_prime}",
        "events per second": f"{rate:.2f}",
        "total time": f"{total:.4f}s",
        "total number of events": f"{events}",
        "min": f"{mean:.2f}",
        "avg": f"{mean:.2f}",
        "max": f"{mean + 2.61:.2f}",
        "95th percentile": f"{_class_of(1.08 * mean):.2f}",
        "sum": f"{spent:.2f}",
        "events (avg/stddev)": f"{events / threads:.4f}/0.00",
        "execution time (avg/stddev)": f"{spent / threads / 1000:.4f}/0.00",
    }
    text = SYSBENCH
    for label, figure in figures.items():
        line = re.compile(rf"^( *{re.escape(label)}: +)\S+$", re.M)
        text, count = line.subn(rf"\g<1>{figure}", text)
        assert count == 1, label
    return text


def _events(rate, seconds):
    """Return a number of events, and seconds of four digits, of a rate."""
    longest = math.floor(rate * (seconds + 0.04))
    numbers = range(math.ceil(rate * 0.97 * seconds), longest + 1)
    return min(
        (
            (events, round(events / rate, 4))
            for events in numbers or [max(1, round(rate * seconds))]
        ),
        key=lambda pair: abs(pair[0] / pair[1] - rate),
    )


def _class_of(latency):
    """Return the middle of sysbench's class of a latency in ms."""
    width = math.log(1e8) / 1023
    return 1e-3 * math.exp(round(math.log(latency / 1e-3) / width) * width)


def adapt_output(text, argv):
    """Return an output of sysbench as one of another command line.

    A text without a rate, or of another program, is returned unchanged.
    """
    rate = re.search(r"events per second: +([0-9.]+)$", text, re.M)
    options = dict(re.findall(r"--([a-z-]+)=(\S+)", " ".join(argv)))
    if rate is None or "cpu-max-prime" not in options:
        return text
    offered = options.get("rate", "0")
    achieved = float(rate[1])
    if float(offered):
        achieved = min(achieved, float(offered))
    text = sysbench(
        achieved,
        int(options["threads"]),
        int(options["time"]),
        options["cpu-max-prime"],
    )
    if not float(offered):
        return text
    threads = f"Number of threads: {options['threads']}\n"
    return text.replace(
        threads, f"{threads}Target transaction rate: {offered}/sec\n"
    )


class Machine(testing.FakeMachine):
    """A machine that runs jobs in no time.

    :param outputs: The outputs of sysbench, one after the other; the last one
        is repeated, and a function is called first
    """

    def __init__(self, name, outputs=(SYSBENCH,), virtualisation="kvm"):
        super().__init__(
            name,
            {
                "bash": self._bash,
                "sh": self._sh,
                "cat": "b-1\ncpu 1 0 1 1 0 0 0 0\n",
                "rm": "",
                "uname": "compute1\n",
                "mkdir": "",
            },
        )
        self.outputs = list(outputs)
        self.jobs = []
        self.virtualisation = virtualisation
        #: Ticks of another process per second; None where nobody tells.
        self.burning = 0
        #: The name of that process.
        self.process_name = "burner"
        #: Bytes that the links move between two readings of their counters.
        self.link_bytes = 0
        self._up = 100.0
        self._armed = {}

    async def wait_ready(self, seconds, find_obstacle=None):
        """Be ready at once."""

    def _sh(self, arguments):
        text = {
            "fingerprint.sh": _FINGERPRINT.format(
                name=hashlib.sha256(self.name.encode()).hexdigest(),
                virtualisation=self.virtualisation,
            ),
            "background_load.sh": self._others(),
            "settle.sh": "",
            "shape.sh": _SHAPE,
        }[arguments[3]]
        return testing.completed(text)

    def _others(self):
        if self.burning is None:
            return "I tell nothing"
        self._up += 1
        return _ALONE.format(
            before=self._up - 1,
            up=self._up,
            bytes=self.link_bytes,
            burnt=int(self._up * self.burning),
            name=self.process_name,
        )

    def _bash(self, arguments):
        script, *rest = arguments[3:]
        if script == "folder.bash":
            return testing.completed(
                "/var/tmp/rally-vmperf-0123456789\navailable 99999999999\n"
            )
        if script == "clock.bash":
            return testing.completed(f"{time.time():.6f}\n")
        if script == "folder.bash":
            return testing.completed(
                "/srv/rally-vmperf-0123456789\navailable 99999999999\n"
            )
        if script == "tools.bash":
            return testing.completed(
                "".join(
                    f"tool {tool}\npath /usr/bin/{tool}\n"
                    f"version {tool} {version}\nsha256 {'0' * 64}\n"
                    for tool, version in TOOLS.items()
                    if tool in rest
                )
            )
        return self._job(*rest)

    def _job(self, verb, *arguments):
        if verb == "run":
            arguments = arguments[2 + int(arguments[1]) :]
            return self._result(_argv(arguments), time.time())
        if verb == "start":
            arguments = arguments[1 + int(arguments[0]) :]
            self._armed[arguments[0]] = _argv(arguments)
        elif verb == "release":
            place, at, _ = arguments
            return self._result(self._armed.pop(place), float(at))
        elif verb == "end_load":
            until = time.time() + SECONDS
            return testing.completed(f"kept_up_until={until:.6f}")
        return testing.completed()

    def _result(self, argv, started):
        self.jobs.append(argv)
        output = self.outputs[0]
        if len(self.outputs) > 1:
            del self.outputs[0]
        if callable(output):
            output = output() or SYSBENCH
        output = adapt_output(output, argv)
        seconds_option = re.search("--time=([0-9]+)", " ".join(argv))
        seconds = max(
            SECONDS, float(seconds_option[1]) if seconds_option else 0
        )
        ended = started + seconds
        header = (
            f"exit=0 before={started:.6f} started={started:.6f} "
            f"ended={ended:.6f} after={ended:.6f} up=100.0 "
            f"up_ended={100 + seconds} user=1.0 system=0.1"
        )
        return testing.completed(f"{header}\n\n{output}")


def _argv(arguments):
    """Return the command in the arguments of a job."""
    return arguments[7 + int(arguments[6]) :]


#: The argument of scenarios.
NEIGHBOURS = {
    "guests": 1,
    "workload": {"name": "sysbench", "arguments": {"time": 1}},
}


class Noisy(Machine):
    """A neighbour whose job goes on until it is ended, or has ended.

    :ivar verbs: The requests to its jobs.
    :ivar status: The exit status of await: 75 while a job is at work.
    """

    def __init__(self, name):
        super().__init__(name)
        self.verbs, self.status = [], 75

    def _job(self, verb, *arguments):
        self.verbs.append(verb)
        if verb == "await":
            return testing.completed(exit_status=self.status)
        return super()._job(verb, *arguments)
