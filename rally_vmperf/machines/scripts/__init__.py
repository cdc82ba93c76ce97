# SPDX-License-Identifier: Apache-2.0
"""Programs that run on the machines, shipped as files."""

import functools
import importlib.resources

#: Script -> those whose functions it uses.
_PREFIXED_SCRIPTS = {"folder.bash": ("ours.bash",), "job.bash": ("ours.bash",)}


def argv(name: str, *arguments: str) -> list[str]:
    """Return the command line words that run a shipped script.

    The command line contains the text of the script, so that programs that
    it starts cannot read the text as input, and no file is created.

    :param name: The file in this directory; its suffix is the shell.
    :param arguments: The positional parameters of the script, unchanged.
    """
    shell = "bash" if name.endswith(".bash") else "sh"
    text = "".join(map(_read_script, (*_PREFIXED_SCRIPTS.get(name, ()), name)))
    return [shell, "-c", text, name, *arguments]


@functools.cache
def _read_script(name: str) -> str:
    """Return the text of a shipped script."""
    return importlib.resources.files(__name__).joinpath(name).read_text()
