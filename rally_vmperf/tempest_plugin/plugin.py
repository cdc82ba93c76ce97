# SPDX-License-Identifier: Apache-2.0
"""The Tempest plugin."""

import pathlib
import typing as t

from tempest import config as tempest_config
from tempest.test_discover import plugins

from rally_vmperf.tempest_plugin import config

_PACKAGE = pathlib.Path(__file__).parent
#: The directory that contains the package; test names are relative to it.
_TOP = _PACKAGE.parent.parent


class VMPerfTempestPlugin(plugins.TempestPlugin):
    """Tests that compare measurements of guests with limits."""

    def load_tests(self) -> tuple[str, str]:
        """Return the directory of the tests, and the top directory."""
        return str(_PACKAGE / "tests"), str(_TOP)

    def register_opts(self, conf: t.Any) -> None:
        """Register the options of the group with Tempest."""
        tempest_config.register_opt_group(conf, config.GROUP, config.OPTIONS)

    def get_opt_lists(self) -> list[tuple[str, list[t.Any]]]:
        """Return the options for Tempest's sample configuration."""
        return config.list_opts()
