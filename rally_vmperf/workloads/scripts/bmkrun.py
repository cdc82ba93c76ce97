"""Run a benchmark of the HEP Benchmark Suite, and print its result.

Arguments: the name of the benchmark, and how many cores it is to load, 0 for
as many as this process may use.  It runs on the measured machine, with any
Python from 3.6 on; the suite's configuration is bmkrun.yml.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

#: All that the suite writes goes here, and is removed in the end.
FOLDER = os.path.abspath("suite")


def main() -> int:
    """Run the suite, print a JSON object."""
    benchmark, cores = sys.argv[1], int(sys.argv[2])
    # The suite would load all CPUs of a machine that is held to some.
    cores = cores or len(os.sched_getaffinity(0))
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.mkdir(FOLDER)
    log = os.path.join(FOLDER, "log")
    with open(log, "wb") as stream:
        done = subprocess.run(
            [
                *("bmkrun", "-c", "bmkrun.yml", "-b", benchmark),
                *("-d", FOLDER, "-n", str(cores)),
            ],
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    reports = glob.glob(os.path.join(FOLDER, "*", "bmkrun_report.json"))
    if done.returncode or len(reports) != 1:
        with open(log, "rb") as told:
            sys.stderr.buffer.write(told.read()[-400:])
        return done.returncode or 1
    with open(reports[0]) as report:
        profiles = json.load(report)["profiles"]
    print(json.dumps({"cores": cores, "profiles": profiles}))
    shutil.rmtree(FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
