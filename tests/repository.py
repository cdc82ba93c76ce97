# SPDX-License-Identifier: Apache-2.0
"""A repository of deb packages for tests."""

import hashlib

from rally_vmperf.image import commands


def make(folder, packages):
    """Make a flat repository, which apt reads, with links to packages.

    The file names have no characters that a URL cannot contain.

    :param folder: An existing folder.
    :param packages: The paths of deb files, one per package name.
    """
    paragraphs = []
    for path in packages:
        show = ["dpkg-deb", "--show", "--showformat=${Package}.deb", path]
        name = commands.run(show)
        (folder / name).symlink_to(path)
        content = path.read_bytes()
        control = commands.run(["dpkg-deb", "--field", path]).strip()
        digest = hashlib.sha256(content).hexdigest()
        paragraphs.append(
            f"{control}\nFilename: ./{name}\n"
            f"Size: {len(content)}\nSHA256: {digest}\n"
        )
    (folder / "Packages").write_text("\n".join(paragraphs))
