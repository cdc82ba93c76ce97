# SPDX-License-Identifier: Apache-2.0
"""Unit tests kept to the checkout, the system and temporary folders.

Files in the home of a developer, and files that an earlier run left on the
machine, must not decide whether a test passes.  The same applies to the
programs that happen to be installed.
"""

import atexit
import functools
import os
import pathlib
import pwd
import re
import shutil
import site
import sys
import sysconfig
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).parents[2]
#: Audited events -> which of their arguments are paths.  What a link leads to
#: is not used by making it.
EVENTS = {
    "open": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.link": (0, 1),
    "os.listdir": (0,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.scandir": (0,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.utime": (0,),
    "sqlite3.connect": (0,),
}
#: Questions about a path that Python does not audit.
QUESTIONS = ("access", "lstat", "readlink", "stat")
SYSTEM = (
    *("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin"),
    *("/sys", "/usr"),
)
#: Folders that a machine has by itself; what is in them decides nothing.
STANDARD = (
    *(
        os.path.join(folder, name)
        for folder in ("/", "/var")
        for name in os.listdir(folder)
    ),
    *(user.pw_dir for user in pwd.getpwall()),
)
#: What would send programs past the home folder, to one of somebody's own.
FOLDERS = (
    *("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
)
#: The directories that contain the programs of Debian's packages.
PROGRAMS = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
#: The state of Debian's package manager.
DPKG = pathlib.Path("/var/lib/dpkg")
#: Packages that the README requires, that ``make`` installs for ``.venv``, and
#: gawk, which many machines have as the awk that every Debian system has.
BASE = ("apt", "gawk", "git", "make", "python3-minimal")


class OutsideError(AssertionError):
    """A test went where it has no business."""


class Confinement:
    """Folders that may be used, and the uses of other paths.

    :param folders: The folders that may be used, with their content.
    :param bare: The folders that may be looked at, without their content.
    """

    def __init__(self, folders, bare=STANDARD):
        paths = {os.path.abspath(folder) for folder in folders}
        paths |= {os.path.realpath(folder) for folder in paths}
        self._exact = {*paths, *bare} | {
            str(parent)
            for path in paths
            for parent in pathlib.PurePath(path).parents
        }
        self._below = tuple(f"{path}/" for path in paths if path != "/")
        self.broken = []

    def allows(self, path) -> bool:
        """Return whether a path is in a folder, or leads to one."""
        if not isinstance(path, str | bytes | os.PathLike):
            # A descriptor was opened before, under its name.
            return True
        name = os.path.abspath(os.fsdecode(path))
        return name in self._exact or name.startswith(self._below)

    def check(self, event, path) -> None:
        """Refuse a path that is outside, and keep the refusal.

        :raises OutsideError: with the path
        """
        if self.allows(path):
            return
        name = os.path.abspath(os.fsdecode(path))
        error = OutsideError(
            f"{event} of {name!r}: unit tests use the checkout, the system's "
            "and temporary folders only; make there what the test needs"
        )
        # Whoever handles every exception must not hide it.
        self.broken.append(error)
        raise error

    def hear(self, event, arguments) -> None:
        """Check the paths of an audited event."""
        if event in EVENTS:
            for index in EVENTS[event]:
                self.check(event, arguments[index])

    def report(self) -> None:
        """Fail with the first refusal since the last report.

        :raises OutsideError: with its path, from where it was used
        """
        if self.broken:
            error = self.broken[0]
            self.broken.clear()
            raise error


def begin() -> Confinement:
    """Confine this process and its tests from now on, for good."""
    _move_home()
    if DPKG.exists():
        _limit_programs()
    confinement = Confinement(_folders())
    sys.addaudithook(confinement.hear)
    for name in QUESTIONS:
        _audit_question(confinement, name)
    run = unittest.TestCase.run

    @functools.wraps(run)
    def run_and_report(self, result=None):
        # The first to be added is the last to be called.
        self.addCleanup(confinement.report)
        return run(self, result)

    unittest.TestCase.run = run_and_report
    return confinement


def _folders():
    return (
        CHECKOUT,
        tempfile.gettempdir(),
        "/var/tmp",
        *SYSTEM,
        *(sys.prefix, sys.base_prefix, sys.exec_prefix),
        *sysconfig.get_paths().values(),
        *site.getsitepackages(),
        *os.get_exec_path(),
    )


def _move_home():
    """Have an empty home folder, for programs that are started too."""
    home = tempfile.mkdtemp(prefix="unit-tests-home-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["HOME"] = home
    for name in FOLDERS:
        os.environ.pop(name, None)


def _limit_programs():
    """Leave only the programs of the allowed packages on the search path.

    The programs that a test executes inherit it.
    """
    # Scripts of tests name the programs, without quotes.
    directory = tempfile.mkdtemp(prefix="unit-tests-programs-", dir="/var/tmp")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    # Some tests execute programs as another user.
    os.chmod(directory, 0o755)
    files = set(_package_files())
    for parent in dict.fromkeys(map(os.path.realpath, PROGRAMS)):
        for entry in os.scandir(parent):
            # The owner of awk is the package of the chosen alternative.
            paths = {entry.path}
            if entry.is_symlink():
                paths.add(os.path.realpath(entry.path))
            link = os.path.join(directory, entry.name)
            if not files.isdisjoint(paths) and not os.path.lexists(link):
                os.symlink(entry.path, link)
    os.environ["PATH"] = directory


def _package_files():
    """Return the programs of the allowed packages that are installed."""
    status = (DPKG / "status").read_text(errors="replace")
    names = {*BASE, *_unit_packages()}
    for paragraph in status.split("\n\n"):
        if re.search("^(Essential: yes|Priority: required)$", paragraph, re.M):
            names.add(re.search("^Package: (.*)$", paragraph, re.M)[1])
    parents = {parent: os.path.realpath(parent) for parent in PROGRAMS}
    for listing in (DPKG / "info").glob("*.list"):
        if listing.stem.partition(":")[0] in names:
            for line in listing.read_text().splitlines():
                parent, _, name = line.rpartition("/")
                if parent in parents:
                    yield os.path.join(parents[parent], name)


def _unit_packages():
    """Return the packages that ``make unit`` installs."""
    makefile = (CHECKOUT / "Makefile").read_text().replace("\\\n", "")
    return re.search("^UNIT_PACKAGES = (.*)$", makefile, re.M)[1].split()


def _audit_question(confinement, name):
    function = getattr(os, name)

    @functools.wraps(function)
    def ask(path, *arguments, **options):
        # What is not there decides nothing on any machine: Rally looks for
        # plugins in /opt, and each folder of PATH is tried for a program.
        answer = function(path, *arguments, **options)
        if answer:
            confinement.check(f"os.{name}", path)
        return answer

    for supporting in (
        os.supports_dir_fd,
        os.supports_effective_ids,
        os.supports_fd,
        os.supports_follow_symlinks,
    ):
        if function in supporting:
            supporting.add(ask)
    setattr(os, name, ask)
