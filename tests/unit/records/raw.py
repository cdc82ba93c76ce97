# SPDX-License-Identifier: Apache-2.0
"""Raw outputs as an operator reads them: by zcat."""

import json
import subprocess


def shown(path):
    """Return what zcat shows of a file, and whether it found its end."""
    process = subprocess.run(
        ["zcat", str(path)], capture_output=True, text=True, check=False
    )
    return process.stdout, not process.returncode


def outputs(path):
    """Return the outputs of a file that was closed."""
    text, whole = shown(path)
    if not whole:
        raise AssertionError(f"{path} has no end")
    return json.loads(text)["outputs"]


def so_far(path):
    """Return the outputs of a file that has no end yet."""
    text, whole = shown(path)
    if whole:
        raise AssertionError(f"{path} has its end")
    _, *lines = text.splitlines()
    return [json.loads(line.removesuffix(",")) for line in lines]
