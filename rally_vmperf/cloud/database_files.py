"""What can be seen of MariaDB's files without MariaDB."""

import collections.abc
import pathlib

REQUIRED = ("ibdata1", "ib_logfile0", "aria_log_control", "mysql")
# No table of InnoDB is smaller when it is new.
PAGE = 16384
SMALLEST = 4 * PAGE
SMALLEST_SHARED = 12 * 1024**2


def damage(
    folder: pathlib.Path, tables: collections.abc.Iterable[str]
) -> str | None:
    """Say what is wrong with the data folder; None when it looks whole.

    :param folder: MariaDB's data folder
    :param tables: names such as nova.instances that must be there
    """
    for name in REQUIRED:
        if not (folder / name).exists():
            return f"MariaDB's {name} is gone"
    if not whole(folder / "ibdata1", SMALLEST_SHARED):
        return "MariaDB's ibdata1 cannot be read"
    for table in tables:
        database, _, name = table.partition(".")
        path = folder / database / f"{name}.ibd"
        if not path.exists():
            return f"database {database}: table {name} is gone"
        if not whole(path, SMALLEST):
            return f"database {database}: table {name} cannot be read"
    return None


def whole(path: pathlib.Path, smallest: int) -> bool:
    """Tell whether a file of InnoDB has its size and its first page.

    :param path: the file
    :param smallest: bytes
    """
    with path.open("rb") as stream:
        page = stream.read(PAGE)
    return path.stat().st_size >= smallest and any(page)
