"""Run the command init with a fake cloud, in a process of its own.

The first argument is the home directory of the user.
"""

import os
import sys
from unittest import mock

from rally_vmperf.cmd import main
from rally_vmperf.guests.setup import login
from tests.unit.guests import testing
from tests.unit.guests.setup import test_login


def create_login():
    """Return the login of a member to a fake cloud."""
    return login.Login(
        cloud_name="mine",
        connection=testing.FakeCloud(),
        user="vmperf",
        project="demo",
        roles=("member",),
        spec={
            "auth_url": test_login.AUTH["auth_url"],
            "users": [
                {
                    key: value
                    for key, value in test_login.AUTH.items()
                    if key != "auth_url"
                }
            ],
        },
    )


if __name__ == "__main__":
    os.environ["HOME"] = sys.argv[1]
    with mock.patch.object(
        login, "log_in", autospec=True, return_value=create_login()
    ):
        sys.exit(main.main(sys.argv[2:]))
