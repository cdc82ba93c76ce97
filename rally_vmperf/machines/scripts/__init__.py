"""Programs that run on the machines, shipped as files."""

import functools
import importlib.resources

#: Script -> those whose functions it uses.
_BEGUN_BY = {"folder.bash": ("ours.bash",), "job.bash": ("ours.bash",)}


def argv(name: str, *arguments: str) -> list[str]:
    """Return the command line that runs a shipped script on any machine.

    The text travels on the command line, not on standard input: programs
    that the script starts cannot eat it, and no file is left behind.

    :param name: file in this folder; its suffix names the shell
    :param arguments: reach the script as ``$1`` and so on, untouched
    """
    shell = "bash" if name.endswith(".bash") else "sh"
    text = "".join(map(_text, (*_BEGUN_BY.get(name, ()), name)))
    return [shell, "-c", text, name, *arguments]


@functools.cache
def _text(name: str) -> str:
    return importlib.resources.files(__name__).joinpath(name).read_text()
