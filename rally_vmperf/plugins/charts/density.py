"""Chart that shows a whole density run: curves, guests and verdicts."""

from rally.common.plugin import plugin

from rally_vmperf.plugins import embedding
from rally_vmperf.records import output


@plugin.configure(name=output.DENSITY_CHART)
class Density(embedding.Embedded):
    """Shows how guests degrade with their number, over all repetitions."""
