# SPDX-License-Identifier: Apache-2.0
"""Jobs of GitLab CI in ``etc/``, and what they may contain."""

import typing as t

import jsonschema
import yaml

from tests.unit.doc import pages

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
        variables={
            "type": "object",
            "additionalProperties": {"type": "string"},
        },
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


def read_job(name: str) -> dict[str, t.Any]:
    """Return the job in a file, which must be valid.

    :param name: The name of the file in ``etc/``.
    """
    content = yaml.safe_load((pages.ROOT / "etc" / name).read_text())
    jsonschema.validate(content, GITLAB)
    (job,) = content.values()
    return job
