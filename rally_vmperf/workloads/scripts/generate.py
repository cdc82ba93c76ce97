# SPDX-License-Identifier: Apache-2.0
"""Write data that depend only on their size and a seed.

It runs on the measured machine with Python 3.6 or later.  In each block of
64 KiB the first 61276 bytes (93.5 %) are SHAKE-256 of the seed and the number
of the block, which bzip2 cannot compress; the other bytes are zeros.  The
compressed size is about 0.94 of the size.
"""

import argparse
import hashlib

BLOCK = 64 * 1024
RANDOM = 61276
BLOCKS_PER_MIB = 16


def block(seed: int, number: int) -> bytes:
    """Return 64 KiB of pseudo-random bytes for a seed and a number."""
    source = f"vmperf:{seed}:{number}".encode("ascii")
    return hashlib.shake_256(source).digest(RANDOM).ljust(BLOCK, b"\0")


def main() -> None:
    """Write the file and print its SHA-256."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size-mib", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("path")
    arguments = parser.parse_args()
    checksum = hashlib.sha256()
    with open(arguments.path, "wb") as target:
        for number in range(arguments.size_mib * BLOCKS_PER_MIB):
            written = block(arguments.seed, number)
            checksum.update(written)
            target.write(written)
    print("sha256", checksum.hexdigest())


if __name__ == "__main__":
    main()
