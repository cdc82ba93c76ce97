"""The page on machines names the modules that there are."""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).parents[3]
PAGE = TOP / "doc/source/contributor/machines.rst"
ROOM = TOP / "rally_vmperf" / "machines"


class TestMachines(unittest.TestCase):
    """Its table is that of the room."""

    def test_modules(self):
        """Each module has its place, and no other is named."""
        table = PAGE.read_text().split("list-table::")[1]
        rows = re.findall(r"^   \* - (.+)$", table, re.MULTILINE)
        named = {
            name for row in rows for name in re.findall(r"``(\w+)``", row)
        }
        there = {one.stem for one in ROOM.rglob("*.py")} - {"__init__"}
        there |= {one.name for one in ROOM.iterdir() if one.is_dir()}
        there -= {"__pycache__"}
        text = table.partition("\n\nPackages")[0]
        self.assertEqual(set(), named - there)
        self.assertEqual(
            set(), {one for one in there if f"``{one}``" not in text}
        )
