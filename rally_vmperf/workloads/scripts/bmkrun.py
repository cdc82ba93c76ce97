# SPDX-License-Identifier: Apache-2.0
"""Run a benchmark of the HEP Benchmark Suite, and print its result.

Arguments: the name of the benchmark, and the number of loaded cores; 0 means
all cores that this process may use.  It runs on the measured machine with
Python 3.6 or later; the configuration of the suite is bmkrun.yml.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

#: The directory for the output of the suite, which is removed at the end.
FOLDER = os.path.abspath("suite")


def main() -> int:
    """Run the suite, print a JSON object and return an exit status."""
    benchmark, cores = sys.argv[1], int(sys.argv[2])
    # By default the suite loads all CPUs, even if the machine is limited.
    cores = cores or len(os.sched_getaffinity(0))
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.mkdir(FOLDER)
    log = os.path.join(FOLDER, "log")
    with open(log, "wb") as log_stream:
        done = subprocess.run(
            [
                *("bmkrun", "-c", "bmkrun.yml", "-b", benchmark),
                *("-d", FOLDER, "-n", str(cores)),
            ],
            stdout=log_stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    reports = glob.glob(os.path.join(FOLDER, "*", "bmkrun_report.json"))
    if done.returncode or len(reports) != 1:
        with open(log, "rb") as log_file:
            sys.stderr.buffer.write(log_file.read()[-400:])
        return done.returncode or 1
    with open(reports[0]) as report:
        profiles = json.load(report)["profiles"]
    print(json.dumps({"cores": cores, "profiles": profiles}))
    shutil.rmtree(FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
