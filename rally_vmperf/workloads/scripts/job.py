# SPDX-License-Identifier: Apache-2.0
"""Run concurrent copies of a command and print the duration of each copy.

It runs on the measured machine with Python 3.6 or later.  Each copy has its
own directory, which is removed at the end, with links to the files in the
directory of this script.  The end of the output of each copy is printed.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import typing as t

#: Maximum size of the printed standard output of all copies in bytes.
OUTPUT_LIMIT = 128 * 1024
#: Maximum size of the printed standard error of a failed copy in bytes.
ERROR_LIMIT = 400


class Copy:
    """A copy of the command, which waits until all copies are ready."""

    def __init__(self, folder: str, argv: t.Sequence[str]) -> None:
        self.folder = folder
        self.argv = argv
        self.report: t.MutableMapping[str, t.Any] = {}
        self.error = ""

    def run(self, ready: threading.Barrier, max_output: int) -> None:
        """Run the command; store its times or its error in the object."""
        path = os.path.join(self.folder, ".")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            ready.wait()
            begun = time.monotonic()
            try:
                child = subprocess.Popen(
                    self.argv,
                    cwd=path,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                )
            except OSError as error:
                self.error = f"{self.argv[0]}: {error.strerror}"
                return
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.monotonic() - begun
            child.returncode = status  # The process has been reaped.
            if status:
                reason = f"exit status {os.WEXITSTATUS(status)}"
                if os.WIFSIGNALED(status):
                    reason = f"signal {os.WTERMSIG(status)}"
                self.error = f"{reason}: {tail(err, ERROR_LIMIT).strip()}"
            self.report = {
                "seconds": seconds,
                "user": usage.ru_utime,
                "system": usage.ru_stime,
                "stdout": tail(out, max_output),
            }


def tail(stream: t.IO[bytes], length: int) -> str:
    """Return the end of a stream as text that starts with a line."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - length))
    text = stream.read().decode("utf-8", "replace")
    if size > length and "\n" in text:
        text = text[text.index("\n") + 1 :]
    return text


def main() -> int:
    """Run the copies and print a JSON object; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("argv", nargs="+")
    arguments = parser.parse_args()
    files = [name for name in os.listdir(".") if os.path.isfile(name)]
    copies = []
    try:
        for number in range(1, arguments.copies + 1):
            folder = os.path.abspath(f"copy-{number}")
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
            for name in files:
                os.symlink(os.path.abspath(name), os.path.join(folder, name))
            copies.append(Copy(folder, arguments.argv))
        ready = threading.Barrier(len(copies))
        max_output = OUTPUT_LIMIT // len(copies)
        threads = [
            threading.Thread(target=copy.run, args=(ready, max_output))
            for copy in copies
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for copy in copies:
            shutil.rmtree(copy.folder, ignore_errors=True)
    print(json.dumps({"copies": [copy.report for copy in copies]}))
    failed = [
        f"copy {number}: {copy.error}"
        for number, copy in enumerate(copies, 1)
        if copy.error
    ]
    if failed:
        os.write(2, (failed[0] + "\n").encode("utf-8", "replace"))
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
