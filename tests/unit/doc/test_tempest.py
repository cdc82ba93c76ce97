"""The page about Tempest says what its plugin has."""

import configparser
import pathlib
import re
import tempfile
import unittest

import ddt
import jsonschema
import yaml
from oslo_config import cfg

from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.tempest_plugin import config
from tests.unit import made
from tests.unit.doc import pages

PAGE = "doc/source/tempest.rst"
_WORDS = {"type": "array", "minItems": 1, "items": {"type": "string"}}


def _closed(required, **properties):
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }


#: What the examples use of jobs in GitLab CI, by its reference.
GITLAB = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": _closed(
        ["script", "stage"],
        stage={"enum": [".pre", "build", "test", "deploy", ".post"]},
        image={"type": "string"},
        tags=_WORDS,
        resource_group={"type": "string"},
        timeout={"type": "string", "pattern": "^[1-9][0-9]*h$"},
        script=_WORDS,
        after_script=_WORDS,
        artifacts=_closed(
            ["paths"],
            when={"enum": ["on_success", "on_failure", "always"]},
            paths=_WORDS,
            reports=_closed(["junit"], junit={"type": "string"}),
        ),
    ),
}
#: And of Zuul's configuration; variables are those of devstack-tempest.
ZUUL = {
    "type": "array",
    "items": _closed(
        [],
        semaphore=_closed(
            ["name"],
            name={"type": "string"},
            max={"type": "integer", "minimum": 1},
        ),
        job=_closed(
            ["name", "parent"],
            name={"type": "string"},
            parent={"const": "devstack-tempest"},
            description={"type": "string"},
            semaphores=_WORDS,
            timeout={"type": "integer", "minimum": 600},
            vars=_closed(
                [],
                tempest_plugins=_WORDS,
                tox_envlist={"const": "all"},
                tempest_test_regex={"type": "string"},
                tempest_concurrency={"type": "integer"},
                devstack_local_conf={"type": "object"},
            ),
            **{"required-projects": _WORDS},
        ),
        project={"type": "object"},
    ),
}
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

    @ddt.data(("gitlab-ci", GITLAB), ("zuul", ZUUL))
    @ddt.unpack
    def test_pipelines(self, name, schema):
        """What a pipeline is told is what it and Tempest know."""
        file = f"tempest.{name}.yaml"
        self.assertIn(f"../../etc/{file}", pages.text(PAGE))
        path = pathlib.Path(pages.ROOT, "etc", file)
        content = yaml.safe_load(path.read_text())
        jsonschema.validate(content, schema)
        if name == "gitlab-ci":
            (job,) = content.values()
            self.assertLessEqual(
                {
                    one.removesuffix(" || true")
                    for one in job["after_script"][1:]
                },
                {line.strip() for line in pages.text(PAGE).splitlines()},
            )
            return
        jobs = {
            one["job"]["name"]: one["job"] for one in content if "job" in one
        }
        (project,) = [one["project"] for one in content if "project" in one]
        self.assertEqual(set(jobs), set(project["periodic"]["jobs"]))
        (job,) = jobs.values()
        (made,) = [one["semaphore"] for one in content if "semaphore" in one]
        self.assertEqual([made["name"]], job["semaphores"])
        local = job["vars"]["devstack_local_conf"]["test-config"]
        options = local["$TEMPEST_CONFIG"]["vmperf"]
        self.assertLessEqual(
            set(options), {one.dest for one in config.OPTIONS}
        )

    @ddt.data("solo_guest", "bare_metal")
    def test_density_with_a_baseline_on_the_embedded_cloud(self, compare_to):
        """The findings about its bare metal do not void the run."""
        path = pathlib.Path(pages.ROOT, "etc", "tempest-limits.embedded.yaml")
        limits = limits_file.read_limits(str(path))
        limits["vmperf_degradation"]["compare_to"] = compare_to
        records = made.density_records((1, 2), bare_metal=(1, 2))
        for record in records:
            record["findings"] += [
                {"kind": kind, "subject": "compute-1", "detail": "x"}
                for kind in ("bare_metal_is_guest", "bare_metal_busy")
            ]
        run = made.density_run(records, limits)
        self.assertTrue(run.passed, run.headline)

    @ddt.data("tempest-limits.yaml", "tempest-limits.embedded.yaml")
    def test_shipped_limits(self, name):
        path = pathlib.Path(pages.ROOT, "etc", name)
        held = limits_file.read_limits(str(path))
        questions = table.questions()
        # Tempest has no test of it.
        del questions["tuning"]
        for entry in questions.values():
            main, *_ = entry.criteria
            self.assertIn(main.name, held)
