"""MariaDB's files and the services' accounts."""

import collections.abc
import pwd
import re
import shutil

from rally_vmperf import removal
from rally_vmperf.cloud import commands
from rally_vmperf.cloud import database_files
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import services
from rally_vmperf.cloud import supervisor
from rally_vmperf.cloud import templates

# Reasons not to start for which the data are not to blame.
EXCUSES = re.compile(
    r"No space left|Disk full|Cannot allocate memory|Unable to lock"
    r"|Permission denied|Can't start server|Too many open files"
    r"|unknown variable"
)


def prepare_files(
    place: layout.Layout, tables: collections.abc.Collection[str]
) -> None:
    """Make an empty database server, the first time.

    :param place: the state root's folders
    :param tables: what must be in it if it is not the first time
    :raises errors.DamageError: when the files of a used one are broken
    """
    owner = pwd.getpwnam("mysql")
    folder = place.data / "mysql"
    for path in (folder, place.run / "mariadb"):
        shutil.chown(path, owner.pw_uid, owner.pw_gid)
    if tables:
        wrong = database_files.damage(folder, tables)
        if wrong:
            raise errors.DamageError(wrong)
        return
    # The last file it makes: there is no server before it.
    if not (folder / "mysql_upgrade_info").exists():
        removal.remove(folder, place.root)
        place.make_folders()
        shutil.chown(folder, owner.pw_uid, owner.pw_gid)
        commands.run(
            ["mariadb-install-db", f"--defaults-file={place.etc}/my.cnf",
             "--user=mysql", "--skip-test-db"],
            env=commands.environment(place),
            log=place.log / "mariadb-install.log",
        )  # fmt: skip


def start(
    keeper: supervisor.Supervisor, service: services.Service
) -> str | None:
    """Have MariaDB running.

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
    """Return why the data keep MariaDB from starting; None if others do.

    :param said: what it printed since it was started
    """
    if EXCUSES.search(said):
        return None
    complaints = [
        line.partition("[ERROR] ")[2]
        for line in said.splitlines()
        if "[ERROR] " in line
    ]
    return complaints[0].strip() if complaints else None


def grant(place: layout.Layout, shipped: templates.Templates) -> None:
    """Have an account and databases for each service.

    :param place: the state root's folders
    :param shipped: the cloud's templates
    """
    client(place, shipped.render("grants.sql.j2"))


def empty(place: layout.Layout, names: collections.abc.Iterable[str]) -> None:
    """Make databases anew, without tables; the grants on them stay.

    :param place: the state root's folders
    :param names: the databases
    """
    for name in names:
        client(
            place,
            f"DROP DATABASE IF EXISTS {name};"
            f" CREATE DATABASE {name} CHARACTER SET utf8mb3;",
        )


def query(place: layout.Layout, question: str) -> list[str]:
    """Return what the server answers, a string for each row.

    :param place: the state root's folders
    :param question: a statement, or several
    """
    return client(place, question, "--skip-column-names").splitlines()


def client(place: layout.Layout, text: str, *words: str) -> str:
    """Have the server do what a text says, as its administrator.

    :param place: the state root's folders
    :param text: statements
    :param words: further options of the client
    """
    socket = f"{place.run}/mariadb/mysql.sock"
    return commands.run(
        ["mariadb", f"--socket={socket}", "-uroot", "--batch", *words],
        env=commands.environment(place),
        text=text,
    )
