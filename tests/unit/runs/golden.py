"""Machines on which tools print what real ones printed."""

import hashlib
import pathlib
import re
import signal
import time

from rally_vmperf.machines import testing

DATA = pathlib.Path(__file__).parent.parent / "workloads" / "data"
SYSBENCH = (DATA / "sysbench-1.0.20-cpu.txt").read_text()
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


def sysbench(rate):
    """Return what sysbench prints, with another rate."""
    return re.sub(r"8958\.23", f"{rate:.2f}", SYSBENCH)


class Machine(testing.FakeMachine):
    """A machine that runs jobs in no time.

    :param outputs: what sysbench prints, one after the other; the last stays;
        a function is called first
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
        self._armed = {}

    async def wait_ready(self, seconds):
        """Be ready at once."""

    def _sh(self, words):
        text = {
            "fingerprint.sh": _FINGERPRINT.format(
                name=hashlib.sha256(self.name.encode()).hexdigest(),
                virtualisation=self.virtualisation,
            ),
            "settle.sh": "",
            "shape.sh": _SHAPE,
        }[words[3]]
        return testing.completed(text)

    def _bash(self, words):
        script, *rest = words[3:]
        if script == "folder.bash":
            return testing.completed("/var/tmp/rally-vmperf-0123456789\n")
        if script == "clock.bash":
            return testing.completed(f"{time.time():.6f}\n")
        if script == "folder.bash":
            return testing.completed("/srv/rally-vmperf-0123456789\n")
        if script == "tools.bash":
            return testing.completed(
                "tool sysbench\npath /usr/bin/sysbench\n"
                "version sysbench 1.0.20\nsha256 " + "0" * 64 + "\n"
            )
        return self._job(*rest)

    def _job(self, verb, *words):
        if verb == "run":
            words = words[2 + int(words[1]) :]
            return self._result(_argv(words), time.time())
        if verb == "arm":
            words = words[1 + int(words[0]) :]
            self._armed[words[0]] = _argv(words)
        elif verb == "release":
            place, at, _ = words
            return self._result(self._armed.pop(place), float(at))
        elif verb == "enough":
            return testing.completed(f"kept={time.time() + SECONDS:.6f}")
        return testing.completed()

    def _result(self, argv, started):
        self.jobs.append(argv)
        output = self.outputs[0]
        if len(self.outputs) > 1:
            del self.outputs[0]
        if callable(output):
            output = output() or SYSBENCH
        ended = started + SECONDS
        header = (
            f"exit=0 before={started:.6f} started={started:.6f} "
            f"ended={ended:.6f} after={ended:.6f} up=100.0 "
            f"up_ended={100 + SECONDS} user=1.0 system=0.1"
        )
        return testing.completed(f"{header}\n\n{output}")


def _argv(words):
    """Return the command of a job's words."""
    return words[7 + int(words[6]) :]
