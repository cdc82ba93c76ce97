"""What Tempest asks of a plugin."""

import pathlib
import typing as t

from tempest import config as tempest_config
from tempest.test_discover import plugins

from rally_vmperf.tempest_plugin import config

_HERE = pathlib.Path(__file__).parent
#: Folder of the package, from which the names of tests begin.
_TOP = _HERE.parent.parent


class VMPerfTempestPlugin(plugins.TempestPlugin):
    """Tests that hold what guests measure to limits."""

    def load_tests(self) -> tuple[str, str]:
        """Return the folder of the tests, and the top of their package."""
        return str(_HERE / "tests"), str(_TOP)

    def register_opts(self, conf: t.Any) -> None:
        """Add the options of the group to Tempest's."""
        tempest_config.register_opt_group(conf, config.GROUP, config.OPTIONS)

    def get_opt_lists(self) -> list[tuple[str, list[t.Any]]]:
        """Return the options, for Tempest's sample configuration."""
        return config.list_opts()
