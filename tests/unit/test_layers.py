"""Tests of who may import whom; the arrows of the design."""

import ast
import pathlib
import unittest

TOP = pathlib.Path(__file__).parent.parent.parent / "rally_vmperf"

#: Package -> our packages that it may import, itself aside.
MAY_IMPORT = {
    "measurement": set(),
    "workloads": {"measurement"},
    "baseline": {"measurement"},
    "records": {"measurement"},
    "toolbox": set(),
    "machines": {"measurement", "toolbox"},
    "guests": {"measurement", "machines"},
    "execution": {
        "baseline",
        "machines",
        "measurement",
        "records",
        "toolbox",
        "workloads",
    },
    "report": {"measurement", "records"},
    "removal": set(),
    "cloud": {"removal", "resources", "toolbox"},
    "plugins": {
        "baseline",
        "execution",
        "guests",
        "machines",
        "measurement",
        "records",
        "report",
        "termination",
        "workloads",
    },
}
#: Library -> our packages that may import it.
OWNED = {
    "rally": {"plugins", "cmd"},
    "rally_openstack": {"plugins", "cmd"},
    "asyncssh": {"machines"},
    "matplotlib": {"report"},
    "openstack": {"guests", "cloud"},
    "cliff": {"cmd"},
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


def package(path: pathlib.Path) -> str:
    """Return the first name below the top of a module's path."""
    return path.relative_to(TOP).parts[0].removesuffix(".py")


class TestLayers(unittest.TestCase):
    """Dependencies point one way."""

    def test_our_packages(self):
        """Each package imports only those it may."""
        for path in sorted(TOP.rglob("*.py")):
            allowed = MAY_IMPORT.get(package(path))
            if allowed is None:
                continue
            used = {
                name.split(".")[1]
                for name in imports(path)
                if name.startswith("rally_vmperf.")
            }
            self.assertLessEqual(used - {package(path)}, allowed, path)

    def test_libraries(self):
        """Each library is known to its own packages alone."""
        for path in sorted(TOP.rglob("*.py")):
            for library in {name.split(".")[0] for name in imports(path)}:
                owners = OWNED.get(library)
                if owners is not None:
                    self.assertIn(package(path), owners, (path, library))

    def test_modules_are_small(self):
        """A module is one idea; what is longer holds two."""
        for path in sorted(TOP.rglob("*.py")):
            lines = len(path.read_text().splitlines())
            self.assertLessEqual(lines, 250, path)
