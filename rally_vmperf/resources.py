# SPDX-License-Identifier: Apache-2.0
"""Paths of the data files in a checkout or in an installation."""

import pathlib
import sysconfig

_CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
_INSTALLED = pathlib.Path(sysconfig.get_path("data"), "share", "rally-vmperf")


def path(*parts: str) -> pathlib.Path:
    """Return the path of a data file such as ``etc/guest-image/cloud.cfg``.

    :param parts: The directory and file names below the top of the project.
    :raises FileNotFoundError: If neither a checkout nor an installation
        contains the file.
    """
    for root in (_CHECKOUT, _INSTALLED):
        file_path = root.joinpath(*parts)
        if file_path.exists():
            return file_path
    name = "/".join(parts)
    raise FileNotFoundError(
        f"data file {name} is neither in {_CHECKOUT} nor in {_INSTALLED}; "
        "reinstall rally-vmperf"
    )
