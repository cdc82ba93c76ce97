"""The filesystem of a guest image, the same from the same archive.

An ext4 filesystem on the whole disk, with extlinux in the boot block that
ext4 leaves free: no partition table, so there is nothing but the filesystem
to grow in a larger disk, and any machine that can mount ext4 can build it.

The kernel's layout of files differs from build to build, so mkfs.ext4 lays
them out, from a scratch filesystem whose seed sets the order in which a folder
is read. Fields that hold the time or the mount are overwritten at the end.
"""

import collections.abc
import pathlib
import uuid

from rally_vmperf import resources
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors

#: Of every image: none is ever beside another one in a guest.
IDENTITY = str(uuid.uuid5(uuid.NAMESPACE_DNS, "vmperf-guest"))
# What extlinux 6.04 cannot read; the journal comes last, empty.
FEATURES = "^64bit,^metadata_csum,^has_journal"
LOADER = "/boot/extlinux"
#: What the loader's installation touches.
INSTALLED = (LOADER, f"{LOADER}/ldlinux.sys", f"{LOADER}/ldlinux.c32")
_TIMES = ("atime", "ctime", "mtime", "crtime")


def make(
    disk: pathlib.Path,
    size: str,
    tree: pathlib.Path,
    date: int,
    log: pathlib.Path,
) -> None:
    """Make a bootable disk from the archive of a system.

    :param disk: the raw image, in a folder for the time of the build
    :param size: of it, such as 2G
    :param tree: the archive of the system
    :param date: of everything in it, in seconds since 1970
    :param log: where the tools' output goes
    """
    environment = dated(date)
    scratch, mount = disk.with_suffix(".scratch"), disk.with_suffix(".mounted")
    mount.mkdir()
    for path in (scratch, disk):
        commands.run(["truncate", f"--size={size}", path])
    commands.run(mkfs(scratch), env=environment, log=log)
    commands.run(inside(scratch, mount, unpack(tree, mount)), log=log)
    commands.run(
        inside(scratch, mount, mkfs(disk, mount)), env=environment, log=log
    )
    scratch.unlink()
    install = ["extlinux", "--install", f"{mount}{LOADER}"]
    commands.run(inside(disk, mount, install), log=log)
    listing = ["find", str(mount), "-printf", r"%i\n"]
    numbers = {
        int(n) for n in commands.run(inside(disk, mount, listing)).split()
    }
    rewrite(disk, corrections(sorted(numbers), date), environment, log)
    # -M: or the build's own folder stays as the place of the last mount
    commands.run(["tune2fs", "-j", "-M", "/", disk], env=environment, log=log)
    commands.run(["e2fsck", "-fn", disk], log=log)


def dated(date: int) -> dict[str, str]:
    """Return the environment that makes tools use a date as today's.

    :param date: seconds since 1970
    """
    return {
        **commands.plain_environment(),
        "SOURCE_DATE_EPOCH": str(date),
        # what e2fsprogs knows before 1.47.1
        "E2FSPROGS_FAKE_TIME": str(date),
    }


def mkfs(disk: pathlib.Path, tree: pathlib.Path | None = None) -> list[str]:
    """Return the command that makes a filesystem.

    :param disk: where
    :param tree: the folder to fill it from
    """
    extended = f"hash_seed={IDENTITY},root_owner=0:0,nodiscard"
    if tree is not None:
        extended += ",lazy_itable_init=0,lazy_journal_init=0"
    return [
        *("mkfs.ext4", "-q", "-F", "-L", "root", "-m", "0", "-U", IDENTITY),
        *("-O", FEATURES, "-E", extended),
        *(("-d", str(tree)) if tree else ()),
        str(disk),
    ]


def unpack(tree: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Return the command that unpacks the system.

    :param tree: the archive
    :param folder: where to
    """
    # With extended attributes: ping has its capability in one.
    return [
        *("tar", "-xpf", str(tree), "-C", str(folder), "--numeric-owner"),
        *("--xattrs", "--xattrs-include=*"),
    ]


def inside(
    disk: pathlib.Path,
    mount: pathlib.Path,
    command: collections.abc.Iterable[str],
) -> list[str]:
    """Return the command that runs another one while a disk is mounted.

    :param mount: the folder that it is mounted on
    """
    script = resources.path("etc", "guest-image", "with-disk.sh")
    return [
        *("unshare", "--mount", "sh", str(script), str(disk), str(mount)),
        *command,
    ]


def corrections(
    numbers: collections.abc.Iterable[int], date: int
) -> collections.abc.Iterator[str]:
    """Yield debugfs commands that overwrite what depends on clock and mount.

    :param numbers: inodes whose time of change is that of the build
    :param date: seconds since 1970
    """
    for number in numbers:
        yield f"sif <{number}> atime @{date}"
        yield f"sif <{number}> ctime @{date}"
    for path in INSTALLED:
        for field in _TIMES:
            yield f"sif {path} {field} @{date}"
            yield f"sif {path} {field}_extra 0"
        yield f"sif {path} generation 0"
        yield f"sif {path} version 0"
    for field in ("mtime", "wtime", "lastcheck"):
        yield f"ssv {field} @{date}"
    for field in ("mnt_count", "kbytes_written"):
        yield f"ssv {field} 0"


def rewrite(
    disk: pathlib.Path,
    lines: collections.abc.Iterable[str],
    environment: dict[str, str],
    log: pathlib.Path,
) -> None:
    """Have debugfs write fields of a filesystem.

    :param disk: where
    :param lines: its commands
    :raises errors.CloudError: when it refuses one, which it does not tell by
        its exit code
    """
    script = disk.with_suffix(".debugfs")
    script.write_text("".join(f"{line}\n" for line in lines))
    told = commands.run(["debugfs", "-w", "-f", script, disk], env=environment)
    script.unlink()
    refused = [ln for ln in told.splitlines() if not ln.startswith("debugfs")]
    if refused:
        with log.open("a") as stream:
            stream.write(told)
        raise errors.CloudError(
            f"debugfs: {refused[0]} (all of it: {log}); is e2fsprogs of "
            "another release than Debian's?"
        )
