"""The page about Tempest says what its plugin has."""

import configparser
import pathlib
import re
import tempfile
import unittest

import ddt
import yaml
from oslo_config import cfg

from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.tempest_plugin import config
from tests.unit.doc import pages

PAGE = "doc/source/tempest.rst"
TESTS = pages.ROOT / "rally_vmperf" / "tempest_plugin" / "tests"


@ddt.ddt
class TempestPageTestCase(unittest.TestCase):
    def test_options(self):
        rows = re.findall(r"^   \* - ``(\w+)``$", pages.text(PAGE), re.M)
        self.assertEqual([one.dest for one in config.OPTIONS], rows)

    def test_defaults(self):
        found = re.findall(
            r"^   \* - ``(\w+)``\n     - (.*)$", pages.text(PAGE), re.M
        )
        shown = dict(found)
        for option in config.OPTIONS:
            value = option.default
            if isinstance(value, list):
                value = ",".join(map(str, value))
            if value and not option.sample_default:
                self.assertEqual(str(value), shown[option.dest])

    def test_shown_configuration(self):
        (block,) = [one for one in pages.blocks("ini") if one.page == PAGE]
        conf = configparser.ConfigParser()
        conf.read_string(block.text)
        names = {one.dest for one in config.OPTIONS}
        self.assertLessEqual(set(conf["vmperf"]), names)
        read = cfg.ConfigOpts()
        read.register_opts(config.OPTIONS, group=config.GROUP.name)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as stream:
            stream.write(block.text)
            stream.flush()
            read([], default_config_files=[stream.name])
            self.assertEqual("root", read.vmperf.peer["user"])

    def test_every_test_is_named(self):
        page = pages.text(PAGE)
        for path in TESTS.glob("test_*.py"):
            text = path.read_text()
            (kind,) = re.findall(r"^class (\w+)\(", text, re.M)
            for name in re.findall(r"    def (test_\w+)\(", text):
                self.assertIn(f"``{kind}.{name}``", page)

    @ddt.data("tempest-limits.yaml", "tempest-limits.embedded.yaml")
    def test_shipped_limits(self, name):
        path = pathlib.Path(pages.ROOT, "etc", name)
        content = yaml.safe_load(path.read_text())
        for entry in table.questions().values():
            main, *_ = entry.criteria
            held = limits_file.by_criterion(str(path), content, main.name)
            self.assertIn(main.name, held)
