"""Paths of the shipped data files, in a checkout or in an installation."""

import pathlib
import sysconfig

_CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
_INSTALLED = pathlib.Path(sysconfig.get_path("data"), "share", "rally-vmperf")


def path(*parts: str) -> pathlib.Path:
    """Return the path of a data file such as ``etc/embedded-cloud/nova.conf``.

    :param parts: folder and file names below the project's top level
    :raises FileNotFoundError: when neither a checkout nor an installation
        holds it
    """
    for root in (_CHECKOUT, _INSTALLED):
        found = root.joinpath(*parts)
        if found.exists():
            return found
    wanted = "/".join(parts)
    raise FileNotFoundError(
        f"data file {wanted} is neither in {_CHECKOUT} nor in {_INSTALLED}; "
        "reinstall rally-vmperf"
    )
