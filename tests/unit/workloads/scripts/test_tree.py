# SPDX-License-Identifier: Apache-2.0
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ddt

from rally_vmperf.workloads.scripts import tree

#: The trees are a promise to every baseline that was ever recorded: these
#: values never change.
CHECKSUMS = (
    (
        3,
        1,
        1,
        "da52a152697597f5c48dc7d75bfcbcb35da3c686049bd6048cb317d24bcee4e9",
    ),
    (
        101,
        1,
        1,
        "d0e239f04056f86a2835cacba1993a2727c55d4b6c066d5e8548333687a87747",
    ),
    (
        1,
        100,
        1,
        "eca662187af9c3ae8dbfb4228733848b4f63ab76c649a6bf19464bfbb6fa5cb9",
    ),
    (
        3,
        1,
        2,
        "a94005962a101276d58e52ae1abac87ccf8c5e1e49bd9bc307bee5babf540324",
    ),
)


@ddt.ddt
class TreeTestCase(unittest.TestCase):
    @ddt.data(*CHECKSUMS)
    @ddt.unpack
    def test_trees_never_change(self, files, file_kib, seed, checksum):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.run(
                [
                    sys.executable,
                    tree.__file__,
                    f"--files={files}",
                    f"--file-kib={file_kib}",
                    f"--seed={seed}",
                    "tree",
                ],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            root = pathlib.Path(folder, "tree")
            contents = {
                str(path.relative_to(root)): path.read_bytes()
                for path in sorted(root.rglob("*"))
                if path.is_file()
            }
        self.assertEqual(files, len(contents))
        self.assertEqual(
            {file_kib << 10}, {len(content) for content in contents.values()}
        )
        whole = hashlib.sha256()
        for name, content in contents.items():
            whole.update(name.encode() + content)
        self.assertEqual(f"sha256 {whole.hexdigest()}\n", process.stdout)
        self.assertEqual(checksum, whole.hexdigest())

    def test_a_folder_has_a_hundred_files(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    sys.executable,
                    tree.__file__,
                    "--files=101",
                    "--file-kib=1",
                    "--seed=1",
                    folder,
                ],
                check=True,
                capture_output=True,
            )
            sizes = {
                path.name: len(list(path.iterdir()))
                for path in pathlib.Path(folder).iterdir()
            }
        self.assertEqual({"0000": 100, "0001": 1}, sizes)

    def test_blocks_differ(self):
        blocks = {
            block
            for number in range(4)
            for block in tree.blocks(1, number, 4 * tree.BLOCK)
        }
        self.assertEqual(16, len(blocks))
