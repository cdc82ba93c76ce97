# SPDX-License-Identifier: Apache-2.0
"""Another user of a machine, who tries to access the files of jobs.

It is run as a program: PARENT ROUNDS. It drops its privileges, and repeats its
attempts until its standard input ends, for at least that many rounds. It
prints the number of attempts of each kind, and of successful ones.
"""

import collections
import contextlib
import json
import os
import re
import select
import stat
import sys

#: The user "nobody", or at least nobody who has anything.
UID = 65534
_NAMES = (
    *("alive", "begun", "end_load", "gate", "ready"),
    *("stdout", "stdout.pipe"),
)
_TAKE = os.O_RDWR | os.O_NONBLOCK


class Intruder:
    """Knows a folder that all users share, and reads our command lines."""

    def __init__(self, parent):
        self.parent = parent
        self.tried = collections.Counter()
        self.won = collections.Counter()
        self._path = re.compile(rf"{re.escape(parent)}/[\w./-]+")

    def attack(self):
        """Try everything once at every path that can be known."""
        for path in sorted(self._paths()):
            first = "/".join(path.split("/")[: self.parent.count("/") + 2])
            self._try("make", os.mkdir, first, 0o777)
            self._try("make", os.mkdir, path, 0o777)
            self._try("rename", os.rename, first, f"{self.parent}/taken")
            self._try("list", os.listdir, first)
            self._try("program", self._write, f"{path}/echo/script")
            for name in _NAMES:
                self._try("open", self._open, f"{path}/{name}")

    def _paths(self):
        paths = {f"{self.parent}/{name}" for name in os.listdir(self.parent)}
        for process in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{process}/cmdline", "rb") as stream:
                    line = stream.read().decode(errors="replace")
                paths.update(self._path.findall(line))
        return {path for path in paths if "rally-vmperf" in path}

    def _try(self, what, act, *arguments):
        self.tried[what] += 1
        with contextlib.suppress(OSError):
            act(*arguments)
            self.won[what] += 1

    def _write(self, path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))

    def _open(self, path):
        descriptor = os.open(path, _TAKE)
        try:
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.write(descriptor, b"0\n")
        finally:
            os.close(descriptor)


def main():
    """Attack until the end of the input, and print the results."""
    os.setgroups([])
    os.setgid(UID)
    os.setuid(UID)
    intruder = Intruder(sys.argv[1])
    print("begun", flush=True)
    rounds = int(sys.argv[2])
    while rounds > 0 or not select.select([sys.stdin], [], [], 0)[0]:
        intruder.attack()
        rounds -= 1
    print(json.dumps({"tried": intruder.tried, "won": intruder.won}))


if __name__ == "__main__":
    main()
