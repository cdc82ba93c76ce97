"""A context that loads a registered bare-metal baseline."""

import typing as t

from rally import consts
from rally.common import cfg
from rally.task import context

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf import termination
from rally_vmperf.baseline import store
from rally_vmperf.plugins import defects

CONF = cfg.CONF


_NAME = rf"^{store.NAME.pattern}$(?!\n)"


@context.configure(name="vmperf_baseline", order=50)
class Baseline(context.Context):
    """Bare-metal baseline with which guests are compared.

    A text in place of the mapping is the name; none or an empty value means
    guests without bare metal. This context is set up before all others, so
    that a missing or damaged baseline is detected before guests are booted.
    """

    CONFIG_SCHEMA: t.ClassVar[documents.Schema] = {
        "$schema": consts.JSON_SCHEMA7,
        **json_schema.optional(
            json_schema.closed_mapping(
                {
                    "name": json_schema.text(
                        "Name of the registered baseline.", pattern=_NAME
                    ),
                    "class": json_schema.text(
                        "Class of machines, instead of a name: the baseline "
                        "of this class that was recorded last is used.",
                        pattern=_NAME,
                    ),
                },
                minProperties=1,
                maxProperties=1,
                type=["object", "string"],
                pattern=_NAME,
            )
        ),
    }

    @defects.sanitise_errors()
    def setup(self) -> None:
        """Load the baseline into Rally's context.

        The first context also installs the signal handlers, so that a run
        that receives SIGTERM or SIGHUP is cleaned up.
        """
        termination.as_interrupt()
        reference = store.parse_reference(self.config)
        if reference is not None:
            baseline = store.Store(CONF.vmperf.baseline_dir).find(reference)
            self.context["vmperf_baseline"] = {"document": baseline}

    def cleanup(self) -> None:
        """Do nothing; the baseline remains registered."""
