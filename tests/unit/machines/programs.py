# SPDX-License-Identifier: Apache-2.0
"""A folder of programs in place of the machine's own."""

import os
import pathlib
import shutil
import tempfile
from unittest import mock

from tests.unit.machines import folders

#: What our scripts use of coreutils and their like.
_REAL = (
    *("bash", "cat", "chmod", "cut", "dirname", "env", "grep", "head", "ls"),
    *("mkdir", "mktemp", "mv", "rm", "sed", "sh", "sha256sum", "stat"),
    *("timeout", "uname"),
)


class Programs:
    """The only programs that a test's machine has; fakes note their calls."""

    def __init__(self, case):
        folder = tempfile.TemporaryDirectory(dir=folders.PLAIN)
        case.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self._log = self.folder / "calls"
        self._proxies = self.folder / "proxies"
        for name in _REAL:
            (self.folder / name).symlink_to(shutil.which(name))
        self.fake("id", "echo 0")
        patch = mock.patch.dict(os.environ, {"PATH": str(self.folder)})
        patch.start()
        case.addCleanup(patch.stop)

    def fake(self, name, body="", *, stderr="", exit_status=0):
        """Put a program there.

        :param body: The commands of the program, for the shell.
        :param stderr: The text that it writes to stderr before it ends.
        """
        stderr_file = self.folder / f"{name}.stderr"
        stderr_file.write_text(stderr)
        path = self.folder / name
        path.write_text(
            f"#!{self.folder}/sh\n"
            f"printf '%s\\037' {name} \"$@\" >>{self._log}\n"
            f"echo >>{self._log}\n"
            f'echo "${{http_proxy-}} ${{https_proxy-}}" >>{self._proxies}\n'
            f"{body}\ncat {stderr_file} >&2\nexit {exit_status}\n"
        )
        path.chmod(0o755)

    @property
    def calls(self):
        """Return the command lines of the fakes, without ``id``."""
        lines = self._log.read_text().splitlines()
        calls = [line.split("\037")[:-1] for line in lines]
        return [call for call in calls if call[0] != "id"]

    @property
    def proxies(self):
        """Return the proxies that the fakes saw in their environment."""
        return set(self._proxies.read_text().split())


def create_before(case, directory):
    """Let another command create a directory just before mkdir does."""
    folder = pathlib.Path(
        case.enterContext(tempfile.TemporaryDirectory(dir=folders.PLAIN))
    )
    real = shutil.which("mkdir")
    script = f"""#!/bin/sh
[ "$2" != "{directory}" ] || {real} "$@"
exec {real} "$@"
"""
    (folder / "mkdir").write_text(script)
    (folder / "mkdir").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    case.enterContext(mock.patch.dict(os.environ, {"PATH": path}))
