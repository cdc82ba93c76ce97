"""Index a folder of package files, so that it can be sent to guests."""

import collections.abc
import dataclasses
import pathlib
import re
import shutil
import subprocess

from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest
from rally_vmperf.toolbox import programs

_DEB = re.compile(
    r"(?P<package>[^_]+)_(?P<version>[^_]+)_(?P<arch>[^_.]+)\.deb"
)
_RPM = re.compile(
    r"(?P<package>.+)-(?P<version>[^-]+-[^-]+)\.(?P<arch>[^.-]+)\.rpm"
)
#: Packages that go with every architecture.
_ANY = {"all", "noarch"}
_TIMEOUT = 600


@dataclasses.dataclass(frozen=True)
class _Named:
    path: pathlib.Path
    package: str
    version: str
    architecture: str


def index(top: pathlib.Path, where: str, distribution: str) -> manifest.Set:
    """Index the package files of a folder and put them into its manifest.

    :param where: the folder with the files, below ``top``; empty for itself
    :param distribution: code name, or distribution and version
    :raises ToolboxError: naming the file that cannot be used
    """
    source = top / where
    family, found = _packages(source)
    made = _debs(source, found) if family == "deb" else _rpms(source)
    new = manifest.Set(
        family=family,
        distribution=distribution,
        architecture=_architecture(found),
        index=tuple(_file(top, path, _within(source, path)) for path in made),
        packages=tuple(_package(top, one, family) for one in found),
    )
    manifest.decode(manifest.encode([new]), str(source))
    folder.add(top, new)
    return new


def _packages(source: pathlib.Path) -> tuple[str, list[_Named]]:
    try:
        names = sorted(path.name for path in source.iterdir())
    except OSError as error:
        raise manifest.ToolboxError(f"{source}: {error.strerror}") from None
    by_family = {
        suffix: [name for name in names if name.endswith(f".{suffix}")]
        for suffix in ("deb", "rpm")
    }
    families = [family for family, found in by_family.items() if found]
    if len(families) != 1:
        what = "both deb and rpm" if families else "neither deb nor rpm"
        raise manifest.ToolboxError(
            f"{source} has {what} packages; a folder needs one kind"
        )
    (family,) = families
    pattern = _DEB if family == "deb" else _RPM
    found = []
    for name in by_family[family]:
        match = pattern.fullmatch(name)
        if match is None or match["arch"] == "src":
            raise manifest.ToolboxError(
                f"{source / name} has not the name of a binary {family} "
                "package; remove it, or name it as the distribution does"
            )
        found.append(
            _Named(
                source / name,
                match["package"],
                match["version"].replace("%3a", ":"),
                match["arch"],
            )
        )
    return family, found


def _architecture(found: collections.abc.Iterable[_Named]) -> str:
    seen = sorted({one.architecture for one in found} - _ANY)
    if len(seen) != 1:
        raise manifest.ToolboxError(
            f"packages of {', '.join(seen) or 'no'} architecture: a folder "
            "needs exactly one; remove those of the others"
        )
    return seen[0]


def _debs(
    source: pathlib.Path, found: collections.abc.Iterable[_Named]
) -> list[pathlib.Path]:
    """Write the index of a flat repository, as apt reads it."""
    paragraphs = []
    for one in found:
        size, digest = folder.describe(one.path)
        control = _run(["dpkg-deb", "--field", str(one.path)])
        paragraphs.append(
            f"{control.strip()}\nFilename: ./{digest}.deb\n"
            f"Size: {size}\nSHA256: {digest}\n"
        )
    made = source / "Packages"
    made.write_text("\n".join(paragraphs), encoding="utf-8")
    return [made]


def _rpms(source: pathlib.Path) -> list[pathlib.Path]:
    """Create the metadata that dnf and zypper read."""
    data = source / "repodata"
    if shutil.which("createrepo_c"):
        shutil.rmtree(data, ignore_errors=True)
        _run(["createrepo_c", "--quiet", "--no-database", str(source)])
    if not (data / "repomd.xml").exists():
        raise manifest.ToolboxError(
            f"{source} has no repodata, and createrepo_c is not installed "
            f"here; run 'createrepo_c {source.name}' where the packages were "
            "downloaded, or install createrepo_c"
        )
    return sorted(path for path in data.iterdir() if path.is_file())


def _run(argv: list[str]) -> str:
    try:
        done = programs.run(argv, _TIMEOUT)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise manifest.ToolboxError(f"{argv[0]}: {error}") from None
    if done.returncode:
        reason = programs.reason(done.stderr)
        raise manifest.ToolboxError(
            f"{argv[0]} cannot read {argv[-1]}: {reason}"
        )
    return done.stdout


def _within(source: pathlib.Path, path: pathlib.Path) -> str:
    return str(path.relative_to(source))


def _file(top: pathlib.Path, path: pathlib.Path, target: str) -> manifest.File:
    size, digest = folder.describe(path)
    return manifest.File(
        path=str(path.relative_to(top)),
        target=target,
        size=size,
        sha256=digest,
    )


def _package(top: pathlib.Path, one: _Named, family: str) -> manifest.File:
    plain = _file(top, one.path, one.path.name)
    # The names of deb files may have signs that a URL cannot have as they are.
    target = f"{plain.sha256}.deb" if family == "deb" else plain.target
    return dataclasses.replace(
        plain, target=target, package=one.package, version=one.version
    )
