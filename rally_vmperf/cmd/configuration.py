"""Rally's configuration and environment, for our own commands."""

import argparse
import typing as t

from rally_vmperf import opts


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names Rally's configuration file."""
    parser.add_argument(
        "--config-file",
        metavar="FILE",
        help="rally.conf; default: where Rally itself looks for it",
    )


def load(config_file: str | None) -> t.Any:
    """Return Rally's API object; its options and ours are loaded."""
    from rally import api
    from rally.common import opts as rally_opts

    loaded = api.API(config_file=config_file, skip_db_check=True)
    rally_opts.register_options_from_path(f"{opts.__name__}:list_opts")
    return loaded


def option(name: str) -> str:
    """Return the value of an option of the [vmperf] group."""
    from rally.common import cfg

    return t.cast(str, cfg.CONF[opts.GROUP][name])


def connection() -> t.Any:
    """Return a connection to the cloud of Rally's current environment.

    :raises ValueError: when there is none
    """
    from rally_vmperf.cmd import rally_runs
    from rally_vmperf.guests import cloud

    platform = rally_runs.platform(None)
    return cloud.connect(platform["admin"] or platform["users"][0])
