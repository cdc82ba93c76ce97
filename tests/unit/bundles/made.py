# SPDX-License-Identifier: Apache-2.0
"""Deb packages for tests."""

import pathlib
import shutil
import subprocess
import tempfile


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
