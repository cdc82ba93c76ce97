# SPDX-License-Identifier: Apache-2.0
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ddt

from rally_vmperf.workloads.scripts import generate

#: The data are a promise to every baseline that was ever recorded: these
#: values never change.
CHECKSUMS = (
    (
        1,
        1,
        "faa32431a9078d85415d75814c9204fd23f2ffb58b7d65c5bc06539cded5e34e",
    ),
    (
        4,
        1,
        "b09b8afce0a1977a8f5c8cb8a1cb000d46b038354b7800a37bd7784c0495d70e",
    ),
    (
        1,
        2,
        "a7bc76c8bbffc036fc247b4a358090d3252a06a861ea1b1997b62d96e706f009",
    ),
)


@ddt.ddt
class GenerateTestCase(unittest.TestCase):
    @ddt.data(*CHECKSUMS)
    @ddt.unpack
    def test_data_never_change(self, size_mib, seed, checksum):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.run(
                [
                    sys.executable,
                    generate.__file__,
                    f"--size-mib={size_mib}",
                    f"--seed={seed}",
                    "data",
                ],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            data = pathlib.Path(folder, "data").read_bytes()
        self.assertEqual(size_mib << 20, len(data))
        self.assertEqual(checksum, hashlib.sha256(data).hexdigest())
        self.assertEqual(f"sha256 {checksum}\n", process.stdout)

    def test_blocks_differ(self):
        blocks = {generate.block(1, number) for number in range(8)}
        self.assertEqual(8, len(blocks))

    def test_rest_of_a_block_is_zero(self):
        tail = generate.block(1, 0)[generate.RANDOM :]
        self.assertEqual(bytes(generate.BLOCK - generate.RANDOM), tail)
