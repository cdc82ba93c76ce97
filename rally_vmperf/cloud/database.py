"""MariaDB's files, the services' accounts and their tables."""

import pwd
import shutil
import typing as t

from rally_vmperf.cloud import commands
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import templates


def prepare_files(place: layout.Layout) -> None:
    """Make an empty database server, the first time.

    :param place: the state root's folders
    """
    owner = pwd.getpwnam("mysql")
    for folder in (place.data / "mysql", place.run / "mariadb"):
        shutil.chown(folder, owner.pw_uid, owner.pw_gid)
    # The last file it makes: there is no server before it.
    if not (place.data / "mysql" / "mysql_upgrade_info").exists():
        shutil.rmtree(place.data / "mysql")
        place.make_folders()
        shutil.chown(place.data / "mysql", owner.pw_uid, owner.pw_gid)
        commands.run(
            ["mariadb-install-db", f"--defaults-file={place.etc}/my.cnf",
             "--user=mysql", "--skip-test-db"],
            env=commands.environment(place),
            log=place.log / "mariadb-install.log",
        )  # fmt: skip


def grant(place: layout.Layout, shipped: templates.Templates) -> None:
    """Have an account and empty databases for each service.

    :param place: the state root's folders
    :param shipped: the cloud's templates
    """
    commands.run(
        ["mariadb", f"--socket={place.run}/mariadb/mysql.sock", "-uroot"],
        env=commands.environment(place),
        text=shipped.render("grants.sql.j2"),
    )


def fill(place: layout.Layout, name: str, steps: list[t.Any]) -> None:
    """Carry out the steps of one group, unless they have been.

    :param place: the state root's folders
    :param name: the group, see schema.yaml.j2
    :param steps: its commands
    """
    done = place.data / "done" / f"schema-{name}"
    if done.exists():
        return
    for step in steps:
        commands.run(
            step["argv"],
            env=commands.environment(place, step.get("environment", {})),
            log=place.log / f"schema-{name}.log",
            accept=step.get("accept", (0,)),
        )
    done.touch()
