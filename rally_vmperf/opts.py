"""Options of the [vmperf] group, for rally.conf and sample files."""

import os
import pathlib
import sys
import typing as t

from oslo_config import cfg

GROUP = "vmperf"

_DATA = os.path.join(
    os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"),
    "rally-vmperf",
)

OPTIONS = [
    cfg.StrOpt(
        "baseline_dir",
        default=os.path.join(_DATA, "baselines"),
        sample_default="~/.local/share/rally-vmperf/baselines",
        help="Folder of the registered bare-metal baselines, one JSON "
        "document per name.",
    ),
    cfg.StrOpt(
        "journal_dir",
        default=os.path.join(_DATA, "journal"),
        sample_default="~/.local/share/rally-vmperf/journal",
        help="Folder of the journals: every repetition is written there, and "
        "synced, before Rally sees it; raw tool outputs lie beside them.",
    ),
]


#: Where Rally looks for its configuration file, before oslo.config does.
SEARCHED = (f"{sys.prefix}/etc/rally", "~/.rally", "/etc/rally")


def read(config_file: str | None) -> t.Any:
    """Return our options as Rally's configuration file sets them.

    Rally itself takes seconds to import, and is not needed for that.

    :param config_file: None for the file that Rally would choose
    :raises ValueError: for a file that cannot be read, in one line
    """
    found = [
        path
        for folder in SEARCHED
        if (path := pathlib.Path(folder, "rally.conf").expanduser()).is_file()
    ]
    files = [config_file] if config_file else [str(one) for one in found[:1]]
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS, group=GROUP)
    try:
        conf([], project="rally", default_config_files=files or None)
        return conf[GROUP]
    except cfg.Error as error:
        text = " ".join(str(error).split())
        raise ValueError(
            f"configuration file {', '.join(files)}: {text}; mend it or name "
            "another with --config-file"
        ) from error


def list_opts() -> list[tuple[str, list[t.Any]]]:
    """Return the options by group name, as Rally and oslo.config expect."""
    return [(GROUP, OPTIONS)]


def config_files(conf: cfg.ConfigOpts) -> list[str]:
    """Return the files of a configuration in use, the deciding one last."""
    # The option is there once Rally has read its configuration.
    return list(conf.config_file or ()) if "config_file" in conf else []
