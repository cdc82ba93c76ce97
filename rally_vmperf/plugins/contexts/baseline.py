"""Context that loads a registered bare-metal baseline."""

import typing as t

from rally import consts
from rally.common import cfg
from rally.task import context

from rally_vmperf import termination
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.plugins import defects

CONF = cfg.CONF


@context.configure(name="vmperf_baseline", order=50)
class Baseline(context.Context):
    """Bare-metal baseline that guests are compared with.

    It comes before every other context: a missing or damaged baseline is
    found before anything is booted.
    """

    CONFIG_SCHEMA: t.ClassVar[dict[str, t.Any]] = {
        "type": "object",
        "$schema": consts.JSON_SCHEMA7,
        "properties": {
            "name": {
                "type": "string",
                "pattern": rf"^{store.NAME.pattern}$(?!\n)",
                "description": "Name under which the baseline is registered.",
            },
            "class": {
                "type": "string",
                "pattern": rf"^{store.NAME.pattern}$(?!\n)",
                "description": "Class of machines, in place of a name: the "
                "baseline of this class that was recorded last.",
            },
        },
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }

    @defects.told()
    def setup(self) -> None:
        """Load the baseline; what was recorded is what is compared.

        As the first context it also sees to it that a run which is told to
        end cleans up.
        """
        termination.as_interrupt()
        content = store.Store(CONF.vmperf.baseline_dir).find(self.config)
        self.context["vmperf_baseline"] = {
            "document": content,
            "digest": document.digest(content),
        }

    def cleanup(self) -> None:
        """Leave the registry as it is."""
