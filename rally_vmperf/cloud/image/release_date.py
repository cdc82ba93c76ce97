"""The date of everything in a guest image.

It is that of the release's own index. Every point release brings another
version of the package base-files, so equal packages have an equal date,
whenever they are installed.
"""

import email.utils
import os
import pathlib

from rally_vmperf.cloud.image import mirror
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors

#: Where mmdebstrap looks when it is told of no mirror.
DEBIAN = "http://deb.debian.org/debian"
#: Of apt itself, with whose proxy and certificates it downloads.
HELPER = "/usr/lib/apt/apt-helper"
#: The caller's own date, as tools for repeatable builds take it.
VARIABLE = "SOURCE_DATE_EPOCH"
_WAY_OUT = f"say the date yourself: {VARIABLE}=1700000000"


def find(suite: str, uri: str, work: pathlib.Path, log: pathlib.Path) -> int:
    """Return the date of a release, or the caller's, in seconds of UTC.

    :param suite: code name of the release
    :param uri: of its mirror; this machine's source if empty
    :param work: a folder for the index
    :param log: where the download's output goes
    :raises errors.CloudError: when there is no date
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        return _checked(given)
    where = f"{uri or _this_machines(suite)}/dists/{suite}/InRelease"
    index = work / "InRelease"
    try:
        commands.run([HELPER, "download-file", where, index], log=log)
    except errors.CloudError as error:
        raise errors.CloudError(f"{error}; or {_WAY_OUT}") from None
    return parse(index.read_text(errors="replace"), where)


def parse(index: str, where: str) -> int:
    """Return the date in the index of a release.

    :param where: its address, for the message
    :raises errors.CloudError: when there is none
    """
    for line in index.splitlines():
        name, _, value = line.partition(":")
        parsed = email.utils.parsedate_tz(value) if name == "Date" else None
        if parsed is not None:
            return int(email.utils.mktime_tz(parsed))
    raise errors.CloudError(f"{where} has no date that is one; {_WAY_OUT}")


def _checked(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and int(given) < 2**31):
        raise errors.CloudError(
            f"{VARIABLE} is {given!r}; give seconds since 1970, such as "
            "1700000000, or none for the date of the release"
        )
    return int(given)


def _this_machines(suite: str) -> str:
    for line in mirror.of_this_machine(suite):
        _, uri, release, _ = line.split(" ", 3)
        if release == suite:
            return uri
    return DEBIAN
