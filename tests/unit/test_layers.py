"""Tests of who may import whom; the arrows of the design."""

import ast
import collections
import pathlib
import unittest

TOP = pathlib.Path(__file__).parent.parent.parent / "rally_vmperf"

#: Room -> the rooms that it may import, itself aside.
MAY_IMPORT = {
    "measurement": set(),
    "workloads": {"measurement"},
    "atomic": set(),
    "baseline": {"atomic", "measurement", "workloads"},
    "records": {"measurement"},
    "toolbox": {"atomic"},
    "machines": {"measurement", "toolbox"},
    "guests": {"atomic", "measurement", "machines"},
    "execution": {
        "baseline",
        "machines",
        "measurement",
        "toolbox",
        "workloads",
    },
    "runs": {
        "baseline",
        "execution",
        "guests",
        "machines",
        "measurement",
        "records",
        "workloads",
    },
    "report": {"measurement", "records"},
    "questions": {
        "baseline",
        "execution",
        "guests",
        "measurement",
        "records",
        "report",
        "runs",
        "workloads",
    },
    "removal": set(),
    "cloud": {"removal", "resources", "toolbox"},
    "plugins": {
        "baseline",
        "execution",
        "guests",
        "machines",
        "measurement",
        "questions",
        "records",
        "report",
        "runs",
        "termination",
    },
    "tempest_plugin": {
        "baseline",
        "execution",
        "guests",
        "measurement",
        "opts",
        "questions",
        "records",
        "report",
        "runs",
        "termination",
        "workloads",
    },
    "cmd": {
        "baseline",
        "cloud",
        "execution",
        "guests",
        "machines",
        "measurement",
        "opts",
        "questions",
        "records",
        "report",
        "runs",
        "termination",
        "toolbox",
        "workloads",
    },
    "opts": set(),
    "resources": set(),
    "termination": set(),
}
#: Library -> the rooms, or modules, that may import it.
OWNED = {
    "rally": {"plugins", "cmd/rally_api.py"},
    "rally_openstack": {"plugins"},
    "asyncssh": {"machines"},
    "matplotlib": {"report", "questions"},
    "openstack": {"guests", "cloud", "runs"},
    "cliff": {"cmd"},
    "tempest": {"tempest_plugin"},
}


def imports(path: pathlib.Path) -> set[str]:
    """Return the dotted names that a module imports anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(path: pathlib.Path) -> str:
    """Return the first name below the top of a module's path."""
    return path.relative_to(TOP).parts[0].removesuffix(".py")


def folder(name: str) -> pathlib.Path:
    """Return the folder of what a dotted name of ours imports."""
    path = TOP.parent.joinpath(*name.split("."))
    while not path.is_dir():
        path = path.parent
    return path


class TestLayers(unittest.TestCase):
    """Dependencies point one way."""

    def test_rooms(self):
        """Each room imports only those it may."""
        for path in sorted(TOP.rglob("*.py")):
            if path == TOP / "__init__.py":
                continue
            used = {
                name.split(".")[1]
                for name in imports(path)
                if name.startswith("rally_vmperf.")
            }
            allowed = MAY_IMPORT[room(path)] | {room(path)}
            self.assertLessEqual(used, allowed, path)

    def test_no_room_is_forgotten(self):
        """A new one gets its row, one that is gone loses it."""
        rooms = {room(path) for path in TOP.rglob("*.py")} - {"__init__"}
        self.assertEqual(rooms, set(MAY_IMPORT))

    def test_folders(self):
        """No two folders import each other, be it over others."""
        edges = collections.defaultdict(set)
        for path in TOP.rglob("*.py"):
            for name in imports(path):
                if name.startswith("rally_vmperf."):
                    edges[path.parent].add(folder(name))
        for start in list(edges):
            seen, open_ = set(), edges[start] - {start}
            while open_:
                one = open_.pop()
                seen.add(one)
                open_ |= edges.get(one, set()) - seen
            self.assertNotIn(start, seen, f"a circle through {start}")

    def test_libraries(self):
        """Each library is known to its own rooms alone."""
        for path in sorted(TOP.rglob("*.py")):
            for library in {name.split(".")[0] for name in imports(path)}:
                owners = OWNED.get(library)
                if owners is not None:
                    names = {room(path), str(path.relative_to(TOP))}
                    self.assertTrue(owners & names, (path, library))

    def test_modules_are_small(self):
        """A module is one concept; what is much longer holds two."""
        for path in sorted(TOP.rglob("*.py")):
            lines = len(path.read_text().splitlines())
            self.assertLessEqual(lines, 400, path)
