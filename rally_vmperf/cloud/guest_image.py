"""Build the guest image out of the distribution's packages.

An ext4 filesystem on the whole disk, with extlinux in the boot block that
ext4 leaves free: no partition table, so there is nothing but the filesystem
to grow in a larger disk, and any machine that can mount ext4 can build it.
"""

import collections.abc
import contextlib
import dataclasses
import pathlib
import re
import shutil
import tempfile

import jinja2

from rally_vmperf import resources
from rally_vmperf.cloud import commands
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import lock
from rally_vmperf.cloud import mirror
from rally_vmperf.cloud import mounts
from rally_vmperf.cloud import packages

TOOLS = ("mmdebstrap", "extlinux", "qemu-utils", "e2fsprogs")
WORK_PREFIX = ".vmperf-image-"
SIZE = re.compile(r"\d+[MG]")
# What extlinux 6.04 cannot read.
MKFS_FEATURES = "^64bit,^metadata_csum"
MKFS_EXTENDED = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """What to build.

    :param output: the qcow2 file
    :param size: of the virtual disk, such as 2G
    :param suite: code name of the distribution's release
    :param mirror: where its packages are; this machine's source if empty
    """

    output: pathlib.Path
    size: str = "2G"
    suite: str = "bookworm"
    mirror: str = ""


def build(recipe: Recipe, log: pathlib.Path) -> None:
    """Make the image and put it in place in one step.

    :param recipe: what to build
    :param log: where the tools' output goes
    """
    if not SIZE.fullmatch(recipe.size):
        raise errors.CloudError(
            f"'{recipe.size}' is no size of a disk; write 2G or 2500M"
        )
    recipe.output.parent.mkdir(parents=True, exist_ok=True)
    with workshop(recipe.output.parent) as work:
        tree, disk = work / "system.tar", work / "disk.raw"
        bootstrap(recipe, lay_out(recipe, work), tree, log)
        commands.run(["truncate", f"--size={recipe.size}", disk])
        commands.run(
            ["mkfs.ext4", "-q", "-L", "root", "-m", "0", "-O", MKFS_FEATURES,
             "-E", MKFS_EXTENDED, disk],
            log=log,
        )  # fmt: skip
        with mounted(disk, work / "mounted") as mount:
            fill(mount, tree, log)
        tree.unlink()
        # 1: something was put right
        commands.run(["e2fsck", "-fp", disk], log=log, accept=(0, 1))
        draft = work / "image.qcow2"
        commands.run(
            ["qemu-img", "convert", "-c", "-f", "raw", "-O", "qcow2",
             disk, draft],
            log=log,
        )  # fmt: skip
        draft.replace(recipe.output)


@contextlib.contextmanager
def workshop(
    parent: pathlib.Path,
) -> collections.abc.Iterator[pathlib.Path]:
    """Have a folder to work in, with a lock by which others see the work."""
    with (
        tempfile.TemporaryDirectory(prefix=WORK_PREFIX, dir=parent) as folder,
        lock.hold(pathlib.Path(folder)),
    ):
        yield pathlib.Path(folder)


def sweep(parent: pathlib.Path) -> list[str]:
    """Remove what builds left that were killed, and return its names.

    :param parent: the folder of the image
    """
    removed = []
    for work in parent.glob(f"{WORK_PREFIX}*"):
        try:
            with lock.hold(work):
                mounts.unmount(work)
                shutil.rmtree(work)
        except errors.CloudError:
            # somebody is at work in there
            continue
        removed.append(work.name)
    return removed


def lay_out(recipe: Recipe, work: pathlib.Path) -> pathlib.Path:
    """Put the shipped files where mmdebstrap's hooks find them.

    :param recipe: what to build
    :param work: a folder for the time of the build
    """
    files = work / "files"
    shutil.copytree(resources.path("etc", "guest-image"), files)
    sources = jinja2.Template(
        (files / "debian.sources.j2").read_text(),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    (files / "debian.sources").write_text(sources.render(suite=recipe.suite))
    for hook in files.glob("*.sh"):
        hook.chmod(0o755)
    return files


def arguments(
    recipe: Recipe,
    files: pathlib.Path,
    tree: pathlib.Path,
    options: collections.abc.Iterable[str],
    sources: collections.abc.Iterable[str],
) -> list[str]:
    """Return mmdebstrap's command line.

    :param recipe: what to build
    :param files: the folder of hooks and lists
    :param tree: the archive to make
    :param options: further options for apt
    :param sources: lines of a sources list; its own default when empty
    """
    included = packages.listed(files / "packages.txt")
    excluded = packages.listed(files / "excluded-paths.txt")
    return [
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--aptopt={option}" for option in options),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in excluded),
        f"--include={','.join(included)}",
        f"--essential-hook={files}/before-packages.sh",
        f"--customize-hook={files}/finish.sh",
        recipe.suite,
        str(tree),
        *sources,
    ]


def bootstrap(
    recipe: Recipe, files: pathlib.Path, tree: pathlib.Path, log: pathlib.Path
) -> None:
    """Install the packages into an archive.

    :param recipe: what to build
    :param files: the folder of hooks and lists
    :param tree: the archive to make
    :param log: where mmdebstrap's output goes
    """
    if recipe.mirror:
        sources = [recipe.mirror]
    else:
        sources = mirror.of_this_machine(recipe.suite)
    commands.run(
        arguments(recipe, files, tree, mirror.proxy_options(), sources),
        env={
            **commands.plain_environment(),
            "VMPERF_IMAGE_FILES": str(files),
        },
        log=log,
        timeout=3600,
    )


@contextlib.contextmanager
def mounted(
    disk: pathlib.Path, mount: pathlib.Path
) -> collections.abc.Iterator[pathlib.Path]:
    """Mount the filesystem in a file."""
    mount.mkdir()
    commands.run(["mount", "-o", "loop", disk, mount])
    try:
        yield mount
    finally:
        commands.run(["umount", mount])


def fill(mount: pathlib.Path, tree: pathlib.Path, log: pathlib.Path) -> None:
    """Unpack the system and make it boot.

    :param mount: the mounted filesystem
    :param tree: the archive
    :param log: where the tools' output goes
    """
    # With extended attributes: ping has its capability in one.
    commands.run(
        ["tar", "-xpf", tree, "-C", mount, "--numeric-owner",
         "--xattrs", "--xattrs-include=*"],
        log=log,
    )  # fmt: skip
    loader = mount / "boot" / "extlinux"
    loader.mkdir()
    shutil.copy(
        resources.path("etc", "guest-image", "extlinux.conf"),
        loader / "extlinux.conf",
    )
    commands.run(["extlinux", "--install", loader], log=log)
