"""Write data that depend on nothing but their size and their seed.

It runs on the measured machine, with any Python from 3.6 on.  Of each block
of 64 KiB the first 61276 bytes (93.5 %) are SHAKE-256 of the seed and of the
block's number, which bzip2 cannot compress; the rest are zeros, of which it
leaves next to nothing.  So it ends at about 0.94 of the size.
"""

import argparse
import hashlib

BLOCK = 64 * 1024
RANDOM = 61276
BLOCKS_PER_MIB = 16


def block(seed: int, number: int) -> bytes:
    """Return one block of 64 KiB."""
    source = f"vmperf:{seed}:{number}".encode("ascii")
    return hashlib.shake_256(source).digest(RANDOM).ljust(BLOCK, b"\0")


def main() -> None:
    """Write the file and print the SHA-256 of what was written."""
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
