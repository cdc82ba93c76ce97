"""MariaDB's files and the services' accounts."""

import collections.abc
import pathlib
import pwd
import re
import shutil

from rally_vmperf import removal
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

# Reasons not to start for which the data are not to blame.
EXCUSES = re.compile(
    r"No space left|Disk full|Cannot allocate memory|Unable to lock"
    r"|Permission denied|Can't start server|Too many open files"
    r"|unknown variable"
)


def prepare_files(
    folders: layout.Layout, tables: collections.abc.Collection[str]
) -> None:
    """Create the files of an empty database server, the first time.

    :param folders: the state root's folders
    :param tables: those that must be there after the first time
    :raises errors.DamageError: when the files of a used one are broken
    """
    owner = pwd.getpwnam("mysql")
    folder = folders.data / "mysql"
    for path in (folder, folders.run / "mariadb"):
        shutil.chown(path, owner.pw_uid, owner.pw_gid)
    if tables:
        wrong = damage(folder, tables)
        if wrong:
            raise errors.DamageError(wrong)
        return
    # The last file it makes: there is no server before it.
    if not (folder / "mysql_upgrade_info").exists():
        removal.remove(folder, folders.root)
        folders.make_folders()
        shutil.chown(folder, owner.pw_uid, owner.pw_gid)
        commands.run(
            ["mariadb-install-db", f"--defaults-file={folders.etc}/my.cnf",
             "--user=mysql", "--skip-test-db"],
            env=commands.environment(folders),
            log=folders.log / "mariadb-install.log",
        )  # fmt: skip


def start(
    keeper: supervisor.Supervisor, service: services.Service
) -> str | None:
    """Start MariaDB unless it runs.

    :param keeper: starts the service
    :param service: MariaDB
    :return: what was wrong with it, when it was restarted
    :raises errors.DamageError: when it cannot run with its files
    """
    log = keeper.log(service.name)
    before = log.stat().st_size if log.exists() else 0
    try:
        return keeper.ensure(service)
    except errors.AddressError:
        raise
    except errors.CloudError as failed:
        with log.open(errors="replace") as stream:
            stream.seek(before)
            reason = blamed(stream.read())
        if reason is None or keeper.running(service.name):
            raise
        raise errors.DamageError(
            f"MariaDB does not start with its files: {reason}"
        ) from failed


def blamed(said: str) -> str | None:
    """Return the damage that keeps MariaDB from starting, if it is damage.

    :param said: its log since it was started
    """
    if EXCUSES.search(said):
        return None
    complaints = [
        line.partition("[ERROR] ")[2]
        for line in said.splitlines()
        if "[ERROR] " in line
    ]
    return complaints[0].strip() if complaints else None


def grant(folders: layout.Layout, shipped: templates.Templates) -> None:
    """Create an account and databases for each service.

    :param folders: the state root's folders
    :param shipped: the cloud's templates
    """
    client(folders, shipped.render("grants.sql.j2"))


def empty(
    folders: layout.Layout, names: collections.abc.Iterable[str]
) -> None:
    """Recreate databases without tables; the grants on them stay.

    :param folders: the state root's folders
    :param names: the databases
    """
    for name in names:
        client(
            folders,
            f"DROP DATABASE IF EXISTS {name};"
            f" CREATE DATABASE {name} CHARACTER SET utf8mb3;",
        )


def query(folders: layout.Layout, question: str) -> list[str]:
    """Return what the server answers, a string for each row.

    :param folders: the state root's folders
    :param question: a statement, or several
    """
    return client(folders, question, "--skip-column-names").splitlines()


def client(folders: layout.Layout, text: str, *options: str) -> str:
    """Execute statements as the administrator.

    :param folders: the state root's folders
    :param text: statements
    :param options: further options of the client
    """
    socket = f"{folders.run}/mariadb/mysql.sock"
    return commands.run(
        ["mariadb", f"--socket={socket}", "-uroot", "--batch", *options],
        env=commands.environment(folders),
        text=text,
    )


REQUIRED = ("ibdata1", "ib_logfile0", "aria_log_control", "mysql")
# No table of InnoDB is smaller when it is new.
SMALLEST = 4 * 16384
SMALLEST_SHARED = 12 * 1024**2


def damage(
    folder: pathlib.Path, tables: collections.abc.Iterable[str]
) -> str | None:
    """Return what is wrong with the data folder; None when it looks intact.

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
