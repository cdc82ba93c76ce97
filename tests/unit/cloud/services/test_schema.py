import json

import ddt

from rally_vmperf.cloud.services import schema
from tests.unit.cloud import base

NOW = ["nova.alembic_version", "nova.instances", "nova_api.cell_mappings"]


@ddt.ddt
class TablesTestCase(base.CloudTestCase):
    @ddt.data(
        (NOW, NOW, None),
        (NOW[:2], NOW, None),
        (NOW, [], "database nova is empty"),
        ([], [], "database nova is empty"),
        (NOW, NOW[1:], "database nova: table nova.alembic_version is gone"),
    )
    @ddt.unpack
    def test_lost(self, before, now, trouble):
        self.assertEqual(trouble, schema.lost("nova", before, now))

    @ddt.data(
        (NOW, None),
        (["nova.alembic_version", "nova_api.cell_mappings"], None),
        (NOW[1:], "database nova: table nova.alembic_version is empty"),
        (NOW[:2], "database nova: table nova_api.cell_mappings is empty"),
    )
    @ddt.unpack
    def test_unseeded(self, filled, trouble):
        self.assertEqual(trouble, schema.unseeded("nova", NOW, filled))

    def test_known(self):
        self.assertFalse(schema.any_filled(self.folders))
        schema.mark(self.folders, "keystone").touch()
        schema.mark(self.folders, "nova").write_text(
            json.dumps({"tables": NOW})
        )
        self.assertTrue(schema.any_filled(self.folders))
        self.assertEqual(NOW, schema.known_tables(self.folders))

    def test_what_is_damage_and_what_is_not(self):
        for text, damaged in (
            ("ERROR 1146 (42S02) at line 1: Table 'a.b' doesn't exist", True),
            ("ERROR 1932 (42S02) at line 3: Table 'a.b' doesn't", True),
            ("ERROR 2002 (HY000): Can't connect to local server", False),
            ("ERROR 1040 (HY000): Too many connections", False),
            ("ERROR 1021 (HY000): Disk full", False),
        ):
            with self.subTest(text):
                found = schema.DAMAGED.search(f"'mariadb ...' ended: {text}")
                self.assertEqual(damaged, found is not None)
