"""Processor workload: a loop in Python."""

import re

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools

_BEST = re.compile(r"([0-9]{1,9}) loops, best of 5: (\S{1,20}) sec per loop\n")


class Pyloop(base.Workload):
    """The shortest time of a sum in Python."""

    name, title, part = "pyloop", "Processor: a loop in Python", "cpu"
    ARGUMENTS = schemas.schema(
        loops=schemas.integer("Number of loops", 2, 10**9, default=20000)
    )
    METRICS = (sample.Metric("cpu.pyloop.loop_time", "s", "lower"),)
    TOOLS = (tools.define("python3"),)

    def commands(self, arguments, endpoints):
        """Return the one command."""
        line = "python3 -m timeit -u sec -n {loops} sum(range(999))"
        argv = base.argv(line, arguments)
        return (base.Command(name=self.name, argv=argv, timeout=600),)

    def parse(self, arguments, result):
        """Return the time in the output, which must be of these loops."""
        reader = outputs.Reader(self.name)
        loops, time = reader.match(result.stdout, _BEST, "printed no time")
        if int(loops) != arguments["loops"]:
            raise reader.error(f"ran {loops} loops")
        return outputs.create_samples(self.METRICS, [reader.number(time)])
