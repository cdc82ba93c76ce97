# SPDX-License-Identifier: Apache-2.0
"""Tests of who may import whom; the arrows of the design.

A failure names the table and the edit. A package imports packages that are
below it in the drawing of ``doc/source/contributor/architecture.rst``.
"""

import ast
import collections
import pathlib
import unittest

from tests.bench import architecture
from tests.unit import listing

TOP = pathlib.Path(__file__).parent.parent.parent / "rally_vmperf"
PAGE = TOP.parent / "doc/source/contributor/architecture.rst"
#: The path of this module in messages.
PLACE = "tests/unit/test_layers.py"

#: Modules below all rooms, which any may import.
BOTTOM = {
    "atomic",
    "declaration",
    "documents",
    "errors",
    "facts",
    "formats",
    "json_schema",
    "sanitize",
}
#: Room -> the rooms that it may import, itself and the bottom aside.
MAY_IMPORT = {
    "measurement": set(),
    "workloads": {"measurement"},
    "baseline": {"measurement", "workloads"},
    "records": {"measurement"},
    "bundles": set(),
    "machines": {"measurement", "bundles"},
    "guests": {"measurement", "machines"},
    "execution": {
        "machines",
        "measurement",
        "bundles",
        "workloads",
    },
    "runs": {
        "baseline",
        "execution",
        "guests",
        "judging",
        "machines",
        "measurement",
        "records",
        "workloads",
    },
    "judging": {"measurement", "records"},
    "report": {"baseline", "judging", "measurement", "records", "workloads"},
    "questions": {
        "baseline",
        "bundles",
        "execution",
        "guests",
        "judging",
        "measurement",
        "records",
        "report",
        "runs",
        "workloads",
    },
    "audit": {
        "judging",
        "measurement",
        "questions",
        "records",
        "report",
    },
    "removal": set(),
    "image": {"removal", "resources", "workloads"},
    "plugins": {
        "baseline",
        "execution",
        "guests",
        "judging",
        "live_line",
        "machines",
        "measurement",
        "opts",
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
        "judging",
        "measurement",
        "opts",
        "questions",
        "records",
        "report",
        "runs",
        "termination",
    },
    "cmd": {
        "audit",
        "baseline",
        "bundles",
        "execution",
        "guests",
        "image",
        "judging",
        "live_line",
        "machines",
        "measurement",
        "opts",
        "questions",
        "records",
        "removal",
        "report",
        "resources",
        "runs",
        "termination",
        "workloads",
    },
    "live_line": set(),
    "opts": set(),
    "resources": set(),
    "termination": set(),
}
#: Folder inside a room -> what else of its room it may import; "." is what
#: lies in the room itself.
FOLDERS = {
    "cmd/baselines": {"."},
    "cmd/start": {"."},
    "execution/stations": set(),
    "guests/planning": {"."},
    "guests/booting": {".", "cleanup", "planning"},
    "guests/cleanup": {"."},
    "guests/setup": {"."},
    "judging/results": set(),
    "machines/scripts": set(),
    "machines/provisioning": {".", "scripts"},
    "machines/remote": {".", "scripts"},
    "measurement/samples": set(),
    "measurement/comparison": {"samples"},
    "measurement/density": {".", "comparison", "samples"},
    "measurement/event": {"comparison", "samples"},
    "questions/common": set(),
    "questions/density": {"common", "density/section"},
    "questions/density/section": set(),
    "questions/event": {"common"},
    "questions/overhead": {"common"},
    "questions/tuning": {"common", "overhead", "tuning/section"},
    "questions/tuning/section": set(),
    "report/charts": set(),
    "report/formats": set(),
    "runs/events": {"."},
    "runs/raw_outputs": set(),
    "tempest_plugin/tests": {"."},
    "workloads/application": {"."},
    "workloads/cpu": {"."},
    # The search of fio and its reader have one rule of what step follows.
    "workloads/disk": {".", "scripts"},
    "workloads/memory": {"."},
    "workloads/network": {"."},
    "workloads/scripts": set(),
}
#: Library -> the rooms, or modules, that may import it.
OWNED = {
    "rally": {"plugins", "cmd/rally_api.py"},
    "rally_openstack": {"plugins"},
    "asyncssh": {"machines"},
    "openstack": {"guests", "runs"},
    "cliff": {"cmd"},
    "tempest": {"tempest_plugin"},
}


def imports(path: pathlib.Path) -> set[str]:
    """Return the dotted names that a module imports anywhere in it."""
    return architecture.list_imports(ast.parse(path.read_text()))


def room(path: pathlib.Path) -> str:
    """Return the first name below the top of a module's path."""
    return path.relative_to(TOP).parts[0].removesuffix(".py")


def folder(name: str) -> pathlib.Path:
    """Return the folder that a dotted name of the package is in."""
    path = TOP.parent.joinpath(*name.split("."))
    while not path.is_dir():
        path = path.parent
    return path


def _ours(name: str) -> bool:
    return name.startswith("rally_vmperf.")


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
            allowed = MAY_IMPORT.get(room(path), set()) | {room(path)}
            allowed |= BOTTOM
            message = (
                f"\n{path.relative_to(TOP)} imports "
                f"{', '.join(sorted(used - allowed))}: use a package that it "
                f"may import; if the drawing in {PAGE.relative_to(TOP.parent)}"
                f" has the other package below, add it to the row of "
                f"{room(path)!r} in MAY_IMPORT in {PLACE}"
            )
            self.assertLessEqual(used, allowed, message)

    def test_no_room_is_forgotten(self):
        """A new one gets its row, one that is gone loses it."""
        rooms = {room(path) for path in TOP.rglob("*.py")} - {"__init__"}
        listing.check(
            self,
            BOTTOM | set(MAY_IMPORT),
            rooms,
            f"MAY_IMPORT in {PLACE}",
            "add it with the packages that it may import, and draw it in "
            f"{PAGE.relative_to(TOP.parent)}; a module that imports no "
            "package, and that each may import, goes to BOTTOM",
        )

    def test_the_bottom(self):
        """The modules below all rooms know none of them."""
        for name in BOTTOM:
            used = imports(TOP / f"{name}.py")
            used_modules = {
                module for module in used if module.startswith("rally_vmperf.")
            }
            below = {f"rally_vmperf.{module}" for module in BOTTOM}
            message = (
                f"\n{name} is in BOTTOM in {PLACE}, and must import nothing "
                "above; if it has to, give it a row in MAY_IMPORT"
            )
            self.assertLessEqual(used_modules, below, message)

    def test_no_test_is_imported(self):
        """The package does not depend on its tests."""
        for path in sorted(TOP.rglob("*.py")):
            tests = [
                name for name in imports(path) if name.startswith("tests")
            ]
            message = f"{path}: move what it needs to the package"
            self.assertEqual([], tests, message)

    def test_folders(self):
        """No two folders import each other, directly or through others."""
        edges = collections.defaultdict(set)
        for path in TOP.rglob("*.py"):
            for name in imports(path):
                if name.startswith("rally_vmperf."):
                    edges[path.parent].add(folder(name))
        for start in list(edges):
            reachable, open_ = set(), edges[start] - {start}
            while open_:
                directory = open_.pop()
                reachable.add(directory)
                open_ |= edges.get(directory, set()) - reachable
            message = (
                f"a circle of imports through {start}: move what both "
                "folders need to one that they import"
            )
            self.assertNotIn(start, reachable, message)

    def test_folders_of_a_room(self):
        """Each has its row, and imports no other of its room."""
        folders = {
            str(path.parent.relative_to(TOP))
            for path in TOP.glob("*/**/__init__.py")
            if path.parent.parent != TOP
        }
        listing.check(
            self,
            FOLDERS,
            folders,
            f"FOLDERS in {PLACE}",
            "add it with the folders of its package that it may import, "
            "'.' for modules of the package itself",
        )
        for name, allowed in FOLDERS.items():
            top = TOP / name.split("/")[0]
            may = {TOP / name, *((top / name).resolve() for name in allowed)}
            for path in (TOP / name).glob("*.py"):
                used = map(folder, filter(_ours, imports(path)))
                used_folders = {
                    path for path in used if top in (path, *path.parents)
                }
                names = [
                    str(folder.relative_to(TOP))
                    for folder in sorted(used_folders - may)
                ]
                message = (
                    f"\n{path.relative_to(TOP)} imports {', '.join(names)}: "
                    "use a folder that it may import, or, without a circle, "
                    f"add it to the row of {name!r} in FOLDERS in {PLACE}"
                )
                self.assertLessEqual(used_folders, may, message)

    def test_libraries(self):
        """Each library is known to its own rooms alone."""
        for path in sorted(TOP.rglob("*.py")):
            for library in {name.split(".")[0] for name in imports(path)}:
                owners = OWNED.get(library)
                if owners is not None:
                    names = {room(path), str(path.relative_to(TOP))}
                    message = (
                        f"{path.relative_to(TOP)} imports {library}: only "
                        f"{', '.join(sorted(owners))} may (OWNED in {PLACE}); "
                        "call a function of it instead"
                    )
                    self.assertTrue(owners & names, message)

    def test_drawing_of_the_page(self):
        """Each room stands once, above all that it imports."""
        drawn = PAGE.read_text().split("above::\n\n")[1].split("\n\n")[0]
        lines = {}
        for number, line in enumerate(drawn.splitlines()):
            for name in line[len("    front doors      ") :].split():
                self.assertNotIn(name, lines, f"twice in {PAGE}")
                lines[name] = number
        rooms = {name for name in MAY_IMPORT if (TOP / name).is_dir()}
        listing.check(
            self,
            lines,
            rooms,
            f"the drawing in {PAGE.relative_to(TOP.parent)}",
            "draw it above all packages that it imports",
        )
        for name in rooms:
            for below in MAY_IMPORT[name] & rooms:
                message = (
                    f"{name} imports {below}: draw it above in "
                    f"{PAGE.relative_to(TOP.parent)}"
                )
                self.assertLess(lines[name], lines[below], message)
