"""Options of the [vmperf] group, for rally.conf and sample files."""

import os
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


def list_opts() -> list[tuple[str, list[t.Any]]]:
    """Return the options by group name, as Rally and oslo.config expect."""
    return [(GROUP, OPTIONS)]
