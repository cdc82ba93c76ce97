# SPDX-License-Identifier: Apache-2.0
"""Run the command init with a fake cloud, in a process of its own.

The first argument is the home directory of the user. PREPARED_LOGIN has
other options of the login in JSON. The command lines of
the process and of each program that it starts are printed, as a list of
processes shows them; the first program is one of this module.
"""

import json
import os
import pathlib
import subprocess
import sys
from unittest import mock

from rally_vmperf.cmd import main
from rally_vmperf.guests.setup import login
from tests.unit.guests import testing
from tests.unit.guests.setup import test_login


def create_login():
    """Return the login of a member to a fake cloud."""
    auth = {
        **test_login.AUTH,
        **json.loads(os.environ.get("PREPARED_LOGIN", "{}")),
    }
    return login.Login(
        cloud_name="mine",
        connection=testing.FakeCloud(),
        user="vmperf",
        project="demo",
        roles=("member",),
        spec={
            "auth_url": auth["auth_url"],
            "users": [
                {
                    key: value
                    for key, value in auth.items()
                    if key != "auth_url"
                }
            ],
        },
    )


def show_program(event, arguments):
    """Print the command line of a program that is started."""
    if event in ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system"):
        print(f"program: {arguments!r}", file=sys.stderr)


if __name__ == "__main__":
    sys.addaudithook(show_program)
    subprocess.run(["true", "first program"], check=True)
    os.environ["HOME"] = sys.argv[1]
    with mock.patch.object(
        login, "log_in", autospec=True, return_value=create_login()
    ):
        code = main.main(sys.argv[2:])
    print(pathlib.Path("/proc/self/cmdline").read_text(), file=sys.stderr)
    sys.exit(code)
