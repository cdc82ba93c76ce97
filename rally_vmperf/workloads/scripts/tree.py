"""Write a tree of files that depend on nothing but their sizes and a seed.

It runs on the measured machine, with any Python from 3.6 on.  A folder holds
a hundred files at most.  Each file contains SHAKE-256 of the seed and of
its number, so that storage can neither compress it nor share it.
"""

import argparse
import hashlib
import os
import typing as t

#: Bytes that are made at once, which do not depend on the size of a file.
BLOCK = 64 * 1024
FILES_IN_A_FOLDER = 100


def blocks(seed: int, number: int, size: int) -> t.Iterator[bytes]:
    """Return the blocks of a file, one after the other."""
    for first in range(0, size, BLOCK):
        source = f"vmperf:{seed}:{number}:{first}".encode("ascii")
        yield hashlib.shake_256(source).digest(min(BLOCK, size - first))


def main() -> None:
    """Write the tree and print the SHA-256 of all names and contents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, required=True)
    parser.add_argument("--file-kib", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("path")
    arguments = parser.parse_args()
    checksum = hashlib.sha256()
    for number in range(arguments.files):
        folder, file = divmod(number, FILES_IN_A_FOLDER)
        name = f"{folder:04d}/{file:02d}"
        os.makedirs(os.path.join(arguments.path, f"{folder:04d}"), 0o755, True)
        checksum.update(name.encode("ascii"))
        with open(os.path.join(arguments.path, name), "wb") as target:
            for block in blocks(
                arguments.seed, number, arguments.file_kib * 1024
            ):
                checksum.update(block)
                target.write(block)
    print("sha256", checksum.hexdigest())


if __name__ == "__main__":
    main()
