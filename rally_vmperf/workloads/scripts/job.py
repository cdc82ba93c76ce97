"""Run copies of a command at once and print how long each of them took.

It runs on the measured machine, with any Python from 3.6 on.  Each copy has a
folder of its own, which is removed in the end, with links to the files beside
this program.  The end of each copy's output is printed.
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

#: Bytes of standard output that are told, of all copies.
TOLD = 128 * 1024
#: Bytes of standard error that are told of a copy that failed.
SAID = 400


class Copy:
    """One copy of the command, which waits until all are ready."""

    def __init__(self, folder: str, argv: t.Sequence[str]) -> None:
        self.folder = folder
        self.argv = argv
        self.report: t.MutableMapping[str, t.Any] = {}
        self.error = ""

    def run(self, ready: threading.Barrier, told: int) -> None:
        """Run it to its end and keep its times."""
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
            child.returncode = status  # It is waited for.
            if status:
                what = f"exit status {os.WEXITSTATUS(status)}"
                if os.WIFSIGNALED(status):
                    what = f"signal {os.WTERMSIG(status)}"
                self.error = f"{what}: {tail(err, SAID).strip()}"
            self.report = {
                "seconds": seconds,
                "user": usage.ru_utime,
                "system": usage.ru_stime,
                "stdout": tail(out, told),
            }


def tail(stream: t.IO[bytes], length: int) -> str:
    """Return the end of what was written, from the start of a line."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - length))
    text = stream.read().decode("utf-8", "replace")
    if size > length and "\n" in text:
        text = text[text.index("\n") + 1 :]
    return text


def main() -> int:
    """Run the copies, print a JSON object, fail where one of them failed."""
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
        told = TOLD // len(copies)
        threads = [
            threading.Thread(target=one.run, args=(ready, told))
            for one in copies
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for one in copies:
            shutil.rmtree(one.folder, ignore_errors=True)
    print(json.dumps({"copies": [one.report for one in copies]}))
    failed = [
        f"copy {number}: {one.error}"
        for number, one in enumerate(copies, 1)
        if one.error
    ]
    if failed:
        os.write(2, (failed[0] + "\n").encode("utf-8", "replace"))
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
