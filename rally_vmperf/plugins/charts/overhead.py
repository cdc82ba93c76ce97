"""Chart that shows a whole run: verdict, figures, samples and findings."""

from rally.common.plugin import plugin

from rally_vmperf.plugins import embedding
from rally_vmperf.records import output


@plugin.configure(name=output.SUMMARY_CHART)
class Overhead(embedding.Embedded):
    """Shows overheads, verdict and setting of all repetitions together."""
