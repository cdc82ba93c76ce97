"""Folders of packages for tests."""

import hashlib
import pathlib
import shutil
import subprocess
import tempfile

from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest


def file(top, path, content, **more):
    """Write a file; return what a manifest says of it."""
    place = top / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    suffix = place.suffix
    return manifest.File(
        path=path,
        target=f"{digest}.deb" if suffix == ".deb" else place.name,
        size=len(content),
        sha256=digest,
        **more,
    )


def toolbox(top, **changed):
    """Write a folder with packages for bookworm; return it as loaded."""
    where = "bookworm-amd64"
    one = manifest.Set(
        **{
            "family": "deb",
            "distribution": "bookworm",
            "architecture": "amd64",
            "index": (file(top, f"{where}/Packages", b"Package: mbw\n"),),
            "packages": (
                file(
                    top,
                    f"{where}/mbw_1.2.2-1.1_amd64.deb",
                    b"mbw" * 50_000,
                    package="mbw",
                    version="1.2.2-1.1",
                ),
                file(
                    top,
                    f"{where}/fio_3.33-3_amd64.deb",
                    b"fio",
                    package="fio",
                    version="3.33-3",
                ),
            ),
            **changed,
        }
    )
    folder.add(top, one)
    return folder.load(top)


def deb(place, name, version, architecture="amd64", depends="", files=None):
    """Build a package of files, given as path -> file of this machine."""
    with tempfile.TemporaryDirectory() as root:
        for path, source in (files or {}).items():
            target = pathlib.Path(root, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        control = pathlib.Path(root, "DEBIAN", "control")
        control.parent.mkdir(mode=0o755)
        control.write_text(
            f"Package: {name}\nVersion: {version}\n"
            f"Architecture: {architecture}\nMaintainer: nobody <n@example>\n"
            f"{depends}Description: nothing\n"
        )
        escaped = version.replace(":", "%3a")
        path = place / f"{name}_{escaped}_{architecture}.deb"
        subprocess.run(
            ["dpkg-deb", "-Znone", "--build", root, str(path)],
            check=True,
            capture_output=True,
        )
    return path
