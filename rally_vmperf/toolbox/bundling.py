"""From packages to a bundle of their programs."""

import collections.abc
import functools
import gzip
import hashlib
import importlib.resources
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile

from rally_vmperf import atomic
from rally_vmperf.toolbox import bundle

#: Runs a program with the libraries of the bundle.
_SCRIPT = importlib.resources.files("rally_vmperf.toolbox") / "program.sh"
#: Seconds for one package.
_TIMEOUT = 300
_LOADED = re.compile(r"^\s*([^\s/]+) => (/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_FOLDERS = ("usr/bin", "bin", "usr/sbin", "sbin", "usr/games")


def make(
    target: pathlib.Path,
    wanted: collections.abc.Mapping[str, str],
    packages: collections.abc.Iterable[pathlib.Path],
    distribution: str,
    folder: pathlib.Path,
) -> list[str]:
    """Write a bundle; return the programs that it cannot hold.

    These are scripts, which need an interpreter that is not in the bundle, and
    programs that no distribution packages.

    :param target: The path of the bundle.
    :param wanted: The package of each program; empty if it has none.
    :param packages: The deb files of these packages and their dependencies.
    :param distribution: The release of the packages, such as ``bookworm``.
    :param folder: The folder into which the packages are unpacked.
    :raises BundleError: If a package is missing or cannot be unpacked.
    """
    versions = {}
    for path in packages:
        name, version = _run("dpkg-deb", "--show", str(path)).split()
        versions[name] = version
        _run("dpkg-deb", "-x", str(path), str(folder))
    missing = sorted(set(wanted.values()) - versions.keys() - {""})
    if missing:
        raise bundle.BundleError(
            f"{distribution} has no package with the name "
            f"{', '.join(missing)}; name tasks without it"
        )
    tree = _Tree(folder)
    binaries = {name: tree.program(name) for name in wanted}
    found = {name: path for name, path in binaries.items() if path}
    if not found:
        raise bundle.BundleError(
            f"none of {', '.join(sorted(wanted))} is a program that a "
            "bundle can hold; name a task with others"
        )
    libraries = {
        name: path
        for binary in found.values()
        for name, path in tree.libraries(binary).items()
    }
    header = {
        "version": bundle.VERSION,
        "distribution": distribution,
        "architecture": _run("dpkg", "--print-architecture").strip(),
        "programs": {
            name: {
                "package": wanted[name],
                "version": versions[wanted[name]],
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
            for name, path in sorted(found.items())
        },
    }
    script = _SCRIPT.read_bytes()
    files = {
        bundle.NAME: json.dumps(header, indent=1).encode(),
        "lib/ld.so": tree.loader.read_bytes(),
        **{f"bin/{name}": script for name in found},
        **{f"programs/{n}": p.read_bytes() for n, p in found.items()},
        **{f"lib/{n}": p.read_bytes() for n, p in libraries.items()},
    }
    atomic.write(target, _archive(files), mode=0o644)
    return sorted(wanted.keys() - found.keys())


class _Tree:
    """The files of unpacked packages, found as the loader finds them."""

    def __init__(self, top: pathlib.Path) -> None:
        self.top = top
        self._folders = ":".join(
            str(path)
            for path in dict.fromkeys(
                one.parent for one in sorted(top.rglob("*.so.*"))
            )
        )

    @functools.cached_property
    def loader(self) -> pathlib.Path:
        """The dynamic loader.

        :raises BundleError: If there is none.
        """
        for path in sorted(self.top.rglob("ld-linux*.so.*")):
            if path.is_file() and not path.is_symlink():
                return path
        raise bundle.BundleError(
            "there is no ld-linux.so among the packages: a bundle cannot hold "
            "programs that do not depend on the C library"
        )

    def program(self, name: str) -> pathlib.Path | None:
        """Return where a program is, None for one that is a script."""
        for folder_ in _FOLDERS:
            path = self._inside(self.top / folder_ / name)
            if path is not None and path.is_file():
                with path.open("rb") as stream:
                    return path if stream.read(4) == b"\x7fELF" else None
        return None

    def libraries(self, binary: pathlib.Path) -> dict[str, pathlib.Path]:
        """Return the libraries that a program needs, by name.

        :raises BundleError: when one is missing, or the program is of
            another architecture than this machine
        """
        said = _run(
            *(str(self.loader), "--library-path", self._folders),
            *("--list", str(binary)),
        )
        found = {
            name: self._inside(pathlib.Path(path))
            for name, path in _LOADED.findall(said)
        }
        outside = [name for name, path in found.items() if path is None]
        if outside or "not found" in said:
            raise bundle.BundleError(
                f"{binary.name} needs {', '.join(outside) or 'libraries'} "
                "that are not among the packages on which it depends; name "
                "tasks without it"
            )
        return {name: path for name, path in found.items() if path}

    def _inside(self, path: pathlib.Path) -> pathlib.Path | None:
        """Follow links within the tree, absolute ones as if it were /."""
        for _ in range(20):
            if not path.is_symlink():
                break
            link = pathlib.Path(os.readlink(path))
            path = (
                self.top / link.relative_to("/")
                if link.is_absolute()
                else path.parent / link
            )
        inside = path.resolve().is_relative_to(self.top.resolve())
        return path if inside else None


def _archive(files: collections.abc.Mapping[str, bytes]) -> bytes:
    """Return a compressed archive, the same for the same files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            program = name.startswith(("bin/", "programs/", "lib/ld.so"))
            entry.mode = 0o755 if program else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def _run(*argv: str) -> str:
    """Return what a program printed; errors name files, without folders."""
    program, what = (pathlib.Path(one).name for one in (argv[0], argv[-1]))
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise bundle.BundleError(
            f"{program}: {error}; make the bundle on a Debian machine of its "
            "architecture"
        ) from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = lines[-1].strip()[:200] if lines else "it gave no reason"
        raise bundle.BundleError(f"{program} {what}: {reason}")
    return done.stdout
