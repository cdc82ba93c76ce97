# SPDX-License-Identifier: Apache-2.0
"""Write a tree of files that depend only on their sizes and a seed.

It runs on the measured machine with Python 3.6 or later.  A directory
contains at most 100 files.  Each file contains SHAKE-256 of the seed and its
number, so that storage cannot compress or deduplicate it.
"""

import argparse
import hashlib
import os
import typing as t

#: Block size in bytes, which does not depend on the size of a file.
BLOCK = 64 * 1024
FILES_PER_DIRECTORY = 100


def blocks(seed: int, number: int, size: int) -> t.Iterator[bytes]:
    """Yield the pseudo-random blocks of a file as bytes."""
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
        directory, file = divmod(number, FILES_PER_DIRECTORY)
        name = f"{directory:04d}/{file:02d}"
        parent = os.path.join(arguments.path, f"{directory:04d}")
        os.makedirs(parent, 0o755, True)
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
