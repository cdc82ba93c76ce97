"""In what two trees of files differ."""

import collections.abc
import hashlib
import os
import pathlib
import stat
import sys

#: Fields of lstat that two builds of a tree have in common.
FIELDS = ("mode", "uid", "gid", "nlink", "size", "mtime_ns", "ctime_ns", "ino")


def differences(
    left: pathlib.Path, right: pathlib.Path
) -> collections.abc.Iterator[str]:
    """Yield a line for each path that differs, with what differs of it."""
    one, other = dict(_described(left)), dict(_described(right))
    for path in sorted(one.keys() | other.keys()):
        if path not in one or path not in other:
            yield f"{path}: only in {left if path in one else right}"
        elif one[path] != other[path]:
            names = [k for k in one[path] if one[path][k] != other[path][k]]
            yield f"{path}: {', '.join(names)}"


def _described(
    root: pathlib.Path,
) -> collections.abc.Iterator[tuple[str, dict[str, object]]]:
    for folder, folders, files in os.walk(root):
        for name in ("", *folders, *files):
            path = os.path.join(folder, name).rstrip("/")
            if name or folder == str(root):
                yield os.path.relpath(path, root), _description(path)


def _description(path: str) -> dict[str, object]:
    seen = os.lstat(path)
    found: dict[str, object] = {
        name: getattr(seen, f"st_{name}") for name in FIELDS
    }
    if stat.S_ISREG(seen.st_mode):
        with open(path, "rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        found["content"] = content
    elif stat.S_ISLNK(seen.st_mode):
        found["target"] = os.readlink(path)
    found["attributes"] = {
        name: os.getxattr(path, name, follow_symlinks=False)
        for name in os.listxattr(path, follow_symlinks=False)
    }
    return found


if __name__ == "__main__":
    print(*differences(*map(pathlib.Path, sys.argv[1:3])), sep="\n")
