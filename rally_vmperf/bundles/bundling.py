# SPDX-License-Identifier: Apache-2.0
"""Creation of bundles from packages."""

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
from rally_vmperf.bundles import bundle

#: The script that runs a program with the libraries of the bundle.
_SCRIPT = importlib.resources.files("rally_vmperf.bundles") / "program.sh"
#: The timeout of a command for one package, in seconds.
_TIMEOUT = 300
_LOADED = re.compile(
    r"^[ \t]*([^\s/]+) => (/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE
)
_DIRECTORIES = ("usr/bin", "bin", "usr/sbin", "sbin", "usr/games")


def create_bundle(
    target: pathlib.Path,
    package_names: collections.abc.Mapping[str, str],
    packages: collections.abc.Iterable[pathlib.Path],
    distribution: str,
    work_dir: pathlib.Path,
) -> list[str]:
    """Write a bundle; return the sorted names of omitted programs.

    Scripts are omitted, because a bundle contains no interpreter, and so are
    programs without a package.

    :param target: The path of the bundle.
    :param package_names: The package of each program; empty if it has none.
    :param packages: The deb files of these packages and their dependencies.
    :param distribution: The release of the packages, such as ``bookworm``.
    :param work_dir: The directory into which the packages are unpacked.
    :raises BundleError: If a package is missing or cannot be unpacked.
    """
    required = set(package_names.values()) - {""}
    versions = _unpack(packages, required, distribution, work_dir)
    tree = _Tree(work_dir)
    binaries = {
        name: path
        for name in package_names
        if (path := tree.find_program(name))
    }
    if not binaries:
        raise bundle.BundleError(
            f"a bundle can contain none of {', '.join(sorted(package_names))}:"
            " they are scripts or have no package; give a task with other "
            "tools"
        )
    libraries = {
        name: path
        for binary in binaries.values()
        for name, path in tree.libraries(binary).items()
    }
    header = {
        "version": bundle.VERSION,
        "distribution": distribution,
        "architecture": _run("dpkg", "--print-architecture").strip(),
        "programs": {
            name: {
                "package": package_names[name],
                "version": versions[package_names[name]],
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
            for name, path in sorted(binaries.items())
        },
    }
    files = {
        bundle.NAME: json.dumps(header, indent=1).encode(),
        "lib/ld.so": tree.loader.read_bytes(),
        **dict.fromkeys((f"bin/{n}" for n in binaries), _SCRIPT.read_bytes()),
        **{f"programs/{n}": p.read_bytes() for n, p in binaries.items()},
        **{f"lib/{n}": p.read_bytes() for n, p in libraries.items()},
    }
    atomic.write(target, _create_archive(files), mode=0o644)
    return sorted(package_names.keys() - binaries.keys())


def _unpack(
    packages: collections.abc.Iterable[pathlib.Path],
    required: collections.abc.Set[str],
    distribution: str,
    work_dir: pathlib.Path,
) -> dict[str, str]:
    """Unpack packages into a directory; return their versions by name.

    :param required: The names of the packages that must be among them.
    """
    versions = {}
    for path in packages:
        name, version = _run("dpkg-deb", "--show", str(path)).split()
        versions[name] = version
        _run("dpkg-deb", "-x", str(path), str(work_dir))
    missing = sorted(required - versions.keys())
    if missing:
        raise bundle.BundleError(
            f"{distribution} has no package with the name "
            f"{', '.join(missing)}; give tasks that do not use it"
        )
    return versions


class _Tree:
    """The files of unpacked packages, with the search rules of the loader."""

    def __init__(self, top: pathlib.Path) -> None:
        self.top = top
        self._library_path = ":".join(
            str(path)
            for path in dict.fromkeys(
                library.parent for library in sorted(top.rglob("*.so.*"))
            )
        )

    @functools.cached_property
    def loader(self) -> pathlib.Path:
        """The path of the dynamic loader.

        :raises BundleError: If the packages do not contain a loader.
        """
        for path in sorted(self.top.rglob("ld-linux*.so.*")):
            if path.is_file() and not path.is_symlink():
                return path
        raise bundle.BundleError(
            "the packages do not contain ld-linux.so: a bundle cannot contain "
            "programs that do not depend on the C library"
        )

    def find_program(self, name: str) -> pathlib.Path | None:
        """Return the path of a program; None if it is a script or missing."""
        for directory in _DIRECTORIES:
            path = self._follow_links(self.top / directory / name)
            if path is not None and path.is_file():
                with path.open("rb") as stream:
                    return path if stream.read(4) == b"\x7fELF" else None
        return None

    def libraries(self, binary: pathlib.Path) -> dict[str, pathlib.Path]:
        """Return the library paths of a program as a dict by name.

        :param binary: The path of the program.
        :raises BundleError: If a library is missing, or if this machine has
            another architecture than the program.
        """
        listing = _run(
            *(str(self.loader), "--library-path", self._library_path),
            *("--list", str(binary)),
        )
        paths = {
            name: self._follow_links(pathlib.Path(path))
            for name, path in _LOADED.findall(listing)
        }
        missing = [name for name, path in paths.items() if path is None]
        if missing or "not found" in listing:
            raise bundle.BundleError(
                f"{binary.name} requires {', '.join(missing) or 'libraries'} "
                "that are not in the packages on which it depends; give tasks "
                "that do not use it"
            )
        return {name: path for name, path in paths.items() if path}

    def _follow_links(self, path: pathlib.Path) -> pathlib.Path | None:
        """Resolve links; return the path, or None if it leaves the tree.

        An absolute link is relative to the top of the tree.
        """
        for _ in range(20):
            if not path.is_symlink():
                break
            link = pathlib.Path(os.readlink(path))
            path = (
                self.top / link.relative_to("/")
                if link.is_absolute()
                else path.parent / link
            )
        is_inside = path.resolve().is_relative_to(self.top.resolve())
        return path if is_inside else None


def _create_archive(files: collections.abc.Mapping[str, bytes]) -> bytes:
    """Return the files as the bytes of a reproducible tar.gz archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            is_program = name.startswith(("bin/", "programs/", "lib/ld.so"))
            header.mode = 0o755 if is_program else 0o644
            archive.addfile(header, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def _run(*argv: str) -> str:
    """Run a local program and return its standard output as text.

    :raises BundleError: If the program fails; the message contains the names
        of the files without their directories.
    """
    program, subject = (pathlib.Path(arg).name for arg in (argv[0], argv[-1]))
    try:
        process = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise bundle.BundleError(
            f"{program}: {error}; create the bundle on a Debian machine with "
            "its architecture"
        ) from None
    if process.returncode:
        lines = (process.stderr or process.stdout).strip().splitlines()
        reason = lines[-1].strip()[:200] if lines else "no error message"
        raise bundle.BundleError(f"{program} {subject}: {reason}")
    return process.stdout
