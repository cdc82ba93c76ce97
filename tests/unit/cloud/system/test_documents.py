# SPDX-License-Identifier: Apache-2.0
from tests.cloud.system import documents
from tests.unit.cloud import base


class DocumentsTestCase(base.CloudTestCase):
    def test_read(self):
        path = self.folder / "a.json"
        self.assertIsNone(documents.read(path))
        path.write_text('{"a": 1}')
        self.assertEqual({"a": 1}, documents.read(path))

    def test_broken(self):
        path = self.folder / "a.json"
        for content in (b"", b'{"a":', b"[1]", b"null", b"\xff\xfe"):
            with self.subTest(content):
                path.write_bytes(content)
                self.assertIsNone(documents.read(path))

    def test_a_directory_in_its_place(self):
        self.assertIsNone(documents.read(self.folder))
