# SPDX-License-Identifier: Apache-2.0
"""Options of the [vmperf] group, for rally.conf and sample files."""

import os
import pathlib
import sys
import typing as t

from oslo_config import cfg

from rally_vmperf import documents

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
        help="Directory of the registered bare-metal baselines, one JSON "
        "document per name.",
    ),
    cfg.StrOpt(
        "journal_dir",
        default=os.path.join(_DATA, "journal"),
        sample_default="~/.local/share/rally-vmperf/journal",
        help="Directory of the journals. Every repetition is written and "
        "synced to a journal before Rally processes it; the raw outputs of "
        "the tools are next to the journals.",
    ),
]


#: The directories that Rally searches for its configuration file, before
#: oslo.config searches its own.
SEARCH_PATHS = (f"{sys.prefix}/etc/rally", "~/.rally", "/etc/rally")


_REMEDY = "fix the file or select another with --config-file"


def find_file(config_file: str | None = None) -> pathlib.Path | None:
    """Return the path of Rally's configuration file; None if there is none.

    :param config_file: The path that a user has given, or None.
    """
    if config_file:
        return pathlib.Path(config_file)
    candidates = (
        pathlib.Path(directory, "rally.conf").expanduser()
        for directory in SEARCH_PATHS
    )
    return next((path for path in candidates if path.is_file()), None)


def read(config_file: str | None) -> t.Any:
    """Return the options of rally_vmperf in Rally's file as an object.

    Rally itself is not imported, because its import takes seconds.

    :param config_file: The path of the configuration file; None selects the
        file that Rally uses.
    :raises ValueError: If the file cannot be read; the message is one line.
    """
    path = find_file(config_file)
    files = [str(path)] if path else []
    for file in files:
        try:
            documents.read_text(pathlib.Path(file))
        except documents.NoDocumentError:
            # oslo.config reports it.
            continue
        except documents.DocumentError as error:
            if file == os.devnull:
                continue
            raise ValueError(
                f"configuration file {error}; {_REMEDY}"
            ) from None
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS, group=GROUP)
    try:
        conf([], project="rally", default_config_files=files or None)
        return conf[GROUP]
    except cfg.Error as error:
        text = " ".join(str(error).split())
        raise ValueError(
            f"configuration file {', '.join(files)}: {text}; {_REMEDY}"
        ) from error


def list_opts() -> list[tuple[str, list[t.Any]]]:
    """Return the options by group name, as Rally and oslo.config expect."""
    return [(GROUP, OPTIONS)]


def config_files(conf: cfg.ConfigOpts) -> list[str]:
    """Return the paths of configuration files; later ones take precedence."""
    # The option exists after Rally has read its configuration.
    return list(conf.config_file or ()) if "config_file" in conf else []
