"""What can be seen of MariaDB's files without MariaDB.

That is their presence and size. A page of zeroes proves nothing: what belongs
there may still be in the redo log, or in the memory of a running server.
"""

import collections.abc
import pathlib

REQUIRED = ("ibdata1", "ib_logfile0", "aria_log_control", "mysql")
# No table of InnoDB is smaller when it is new.
SMALLEST = 4 * 16384
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
    if (folder / "ibdata1").stat().st_size < SMALLEST_SHARED:
        return "MariaDB's ibdata1 cannot be read"
    for table in tables:
        database, _, name = table.partition(".")
        path = folder / database / f"{name}.ibd"
        if not path.exists():
            return f"database {database}: table {name} is gone"
        if path.stat().st_size < SMALLEST:
            return f"database {database}: table {name} cannot be read"
    return None
