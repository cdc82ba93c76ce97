# SPDX-License-Identifier: Apache-2.0
"""The build of the guest image from packages of Debian."""

import collections.abc
import contextlib
import dataclasses
import hashlib
import math
import os
import pathlib
import re
import shutil
import time

import jinja2

from rally_vmperf import removal
from rally_vmperf import resources
from rally_vmperf.image import commands
from rally_vmperf.image import mirror
from rally_vmperf.image import packages
from rally_vmperf.workloads import registry

TOOLS = ("mmdebstrap", "extlinux", "qemu-utils", "e2fsprogs")
WORK_PREFIX = ".vmperf-image-"
#: The workloads of tasks/kvm-overhead.yaml and tasks/kvm-density.yaml.
WORKLOADS = ("bzip2", "fio", "iperf3", "mbw", "sysbench")
_SIZE = re.compile("[1-9][0-9]{0,5}[MG]")
#: The size in MiB in which no image of a recipe fits: less than the packages
#: of every guest, and more than a mistake in the unit.
_TOO_SMALL_MIB = 256
#: The size in MiB of the largest journal of ext4 in an image, and the factor
#: of the archive for blocks, inodes and some free space.
_JOURNAL_MIB, _FILE_SYSTEM_FACTOR = 64, 1.2
#: The variable with the date of the files, as in tools for repeatable builds.
DATE_VARIABLE = "SOURCE_DATE_EPOCH"
# extlinux 6.04 cannot read these; the journal is added last, empty.
FEATURES = "^64bit,^metadata_csum,^has_journal"
LOADER = "boot/extlinux"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """The recipe of an image.

    :param output: The path of the qcow2 file.
    :param size: The size of the virtual disk, such as 2G.
    :param suite: The code name of the release.
    :param mirror: The URL of its packages; empty for the source of this
        machine.
    :param workloads: The names of the workloads whose tools it contains.
    """

    output: pathlib.Path
    size: str = "2G"
    suite: str = "bookworm"
    mirror: str = ""
    workloads: tuple[str, ...] = WORKLOADS


def list_properties(recipe: Recipe) -> dict[str, str | int]:
    """Return the fields and properties that describe the image to Glance.

    :param recipe: The recipe of the image.
    """
    return {
        "disk_format": "qcow2",
        "container_format": "bare",
        "min_disk": -(-_count_mebibytes(recipe.size) // 1024),
        "architecture": "x86_64",
        "hw_firmware_type": "bios",
        "hw_rng_model": "virtio",
        "os_admin_user": "debian",
        "os_distro": "debian",
        "vmperf_suite": recipe.suite,
        "vmperf_workloads": ",".join(recipe.workloads),
    }


def check_size(size: str) -> str:
    """Return a size of a disk; reject others.

    :raises HostError: If it is not a number of MiB or GiB, or if no image
        fits.
    """
    if not _SIZE.fullmatch(size):
        raise commands.HostError(
            f"size {size!r:.60}: must be a number with M or G, such as 2500M"
        )
    if _count_mebibytes(size) < _TOO_SMALL_MIB:
        raise commands.HostError(
            f"size {size!r}: must be at least {_TOO_SMALL_MIB}M for the "
            f"packages of every guest; the default is {Recipe.size}"
        )
    return size


def _count_mebibytes(size: str) -> int:
    """Return the MiB of a size."""
    return int(size[:-1]) * (1024 if size[-1] == "G" else 1)


def _describe_shortage(size: str, tree: pathlib.Path) -> str:
    """Return why a system may not fit on a disk, as a clause, or "".

    :param size: The size of the disk.
    :param tree: The archive of the system.
    """
    mebibytes = tree.stat().st_size / 1024**2
    required = math.ceil(mebibytes * _FILE_SYSTEM_FACTOR) + _JOURNAL_MIB
    if _count_mebibytes(size) >= required:
        return ""
    return (
        f"size {size!r}: the system has {mebibytes:.0f} MiB; use a size of "
        f"at least {required}M"
    )


def build(
    recipe: Recipe,
    log: pathlib.Path,
    enter: collections.abc.Callable[[list[str]], list[str]] = list,
) -> None:
    """Build the image, and move it to its path in one step.

    A file with the suffix .manifest, next to the image, lists the packages
    and ends with the digest of the recipe.

    :param recipe: The recipe of the image.
    :param log: The file for the output of the tools.
    :param enter: The function that returns the command that runs another one
        with the tools for disks.
    :raises WorkloadError: If a workload does not exist.
    :raises HostError: If a program fails, or if the system does not fit.
    """
    check_size(recipe.size)
    date = source_date()
    digest = compute_digest(recipe)
    recipe.output.parent.mkdir(parents=True, exist_ok=True)
    with workshop(recipe.output.parent) as work:
        files = lay_out(recipe, work, date)
        tree, disk = work / "system.tar", work / "disk.raw"
        install(recipe, files, tree, date, log)

        def run(argv: list[str]) -> None:
            commands.run(enter(argv), log=log)

        shortage = _describe_shortage(recipe.size, tree)
        if _count_mebibytes(recipe.size) << 20 <= tree.stat().st_size:
            raise commands.HostError(shortage)
        try:
            make_disk(disk, recipe.size, tree, run)
        except commands.HostError as error:
            raise commands.HostError(
                "; ".join(filter(None, (shortage, str(error))))
            ) from error
        tree.unlink()
        draft = work / "image.qcow2"
        run(
            ["qemu-img", "convert", "-c", "-f", "raw", "-O", "qcow2",
             str(disk), str(draft)]
        )  # fmt: skip
        draft.replace(recipe.output)
        with (files / "manifest").open("a") as stream:
            stream.write(digest)
        (files / "manifest").replace(recipe.output.with_suffix(".manifest"))


def compute_digest(recipe: Recipe) -> str:
    """Return the last line of the manifest of a recipe's images."""
    digest = hashlib.sha256(repr((recipe.suite, recipe.workloads)).encode())
    folder = resources.path("etc", "guest-image")
    for path in sorted(filter(pathlib.Path.is_file, folder.iterdir())):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"rally-vmperf-recipe\t{digest.hexdigest()}\n"


def is_current(recipe: Recipe) -> bool:
    """Return whether the image exists and is of this recipe."""
    try:
        manifest = recipe.output.with_suffix(".manifest").read_text()
    except FileNotFoundError:
        return False
    return recipe.output.exists() and manifest.endswith(compute_digest(recipe))


def source_date() -> int:
    """Return SOURCE_DATE_EPOCH, by default the current time, in seconds.

    :raises HostError: If the variable is not a number of seconds.
    """
    value = os.environ.get(DATE_VARIABLE)
    if value is None:
        return int(time.time())
    if not (value.isascii() and value.isdecimal() and int(value) < 2**31):
        raise commands.HostError(
            f"{DATE_VARIABLE}={value}: must be an integer from 0 to "
            f"{2**31 - 1}, in seconds since 1970"
        )
    return int(value)


@contextlib.contextmanager
def workshop(
    parent: pathlib.Path,
) -> collections.abc.Iterator[pathlib.Path]:
    """Create a work directory with a lock that shows that it is in use."""
    with (
        removal.temporary(WORK_PREFIX, parent) as folder,
        commands.hold_lock(folder),
    ):
        yield folder


def sweep(parent: pathlib.Path) -> list[str]:
    """Remove the directories of killed builds; return their names.

    :param parent: The directory of the image.
    """
    removed = []
    for work in parent.glob(f"{WORK_PREFIX}*"):
        try:
            with commands.hold_lock(work):
                commands.unmount(work)
                removal.remove(work, parent)
        except commands.HostError:
            # Another build uses the directory.
            continue
        removed.append(work.name)
    return removed


def lay_out(recipe: Recipe, work: pathlib.Path, date: int) -> pathlib.Path:
    """Copy the shipped files to the directory of mmdebstrap's hooks.

    :param recipe: The recipe of the image.
    :param work: The directory of this build.
    :param date: The date of the image in seconds since 1970.
    """
    files = work / "files"
    shutil.copytree(resources.path("etc", "guest-image"), files)
    for path in files.glob("*.j2"):
        template = jinja2.Template(
            path.read_text(),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
        )
        text = template.render(
            suite=recipe.suite, date=date, workloads=recipe.workloads
        )
        path.with_suffix("").write_text(text)
    for hook in files.glob("*.sh"):
        hook.chmod(0o755)
    return files


def install(
    recipe: Recipe,
    files: pathlib.Path,
    tree: pathlib.Path,
    date: int,
    log: pathlib.Path,
) -> None:
    """Install the packages into an archive.

    :param recipe: The recipe of the image.
    :param files: The directory of hooks and lists.
    :param tree: The archive to create.
    :param date: The date of its newest file in seconds since 1970.
    :param log: The file for the output of mmdebstrap.
    """
    included = dict.fromkeys(packages.listed(files / "packages.txt"))
    included |= dict.fromkeys(registry.debian_packages(recipe.workloads))
    excluded = packages.listed(files / "excluded-paths.txt")
    packages.bootstrap(
        recipe.suite,
        tree,
        included,
        [
            "--variant=minbase",
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in excluded),
            f"--essential-hook={files}/before-packages.sh",
            f"--customize-hook={files}/finish.sh",
        ],
        log,
        sources=[recipe.mirror]
        if recipe.mirror
        else mirror.of_this_machine(recipe.suite),
        environment={
            DATE_VARIABLE: str(date),
            "VMPERF_IMAGE_FILES": str(files),
        },
    )


def make_disk(
    disk: pathlib.Path,
    size: str,
    tree: pathlib.Path,
    run: collections.abc.Callable[[list[str]], object],
) -> None:
    """Create a bootable disk from the archive of a system.

    The disk is one ext4 file system, with extlinux in the boot block that ext4
    does not use. It has no partition table: on a larger disk, only the file
    system grows. Each machine that can mount ext4 can build it.

    :param disk: The path of the raw image, in the directory of the build.
    :param size: The size of the image, such as 2G.
    :param tree: The archive of the system.
    :param run: The function that runs a command.
    """
    mount = disk.with_suffix(".mounted")
    mount.mkdir()
    run(["truncate", f"--size={size}", str(disk)])
    run(
        ["mkfs.ext4", "-q", "-F", "-L", "root", "-m", "0", "-O", FEATURES,
         "-e", "remount-ro", str(disk)]
    )  # fmt: skip
    run(inside_disk(disk, mount, unpack(tree, mount)))
    install = ["extlinux", "--install", str(mount / LOADER)]
    run(inside_disk(disk, mount, install))
    run(["tune2fs", "-j", str(disk)])
    run(["e2fsck", "-fn", str(disk)])


def unpack(tree: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Return the command that unpacks the system.

    :param tree: The archive of the system.
    :param folder: The directory to unpack it to.
    """
    # ping has its capability in an extended attribute.
    return [
        *("tar", "-xpf", str(tree), "-C", str(folder), "--numeric-owner"),
        *("--xattrs", "--xattrs-include=*"),
    ]


def inside_disk(
    disk: pathlib.Path,
    mount: pathlib.Path,
    command: collections.abc.Iterable[str],
) -> list[str]:
    """Return the command that runs another one while a disk is mounted.

    :param mount: The directory that the disk is mounted on.
    """
    script = disk.parent / "files" / "with-disk.sh"
    return [
        *("unshare", "--mount", "sh", str(script), str(disk), str(mount)),
        *command,
    ]
