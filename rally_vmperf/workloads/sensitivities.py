# SPDX-License-Identifier: Apache-2.0
"""Properties of machines that affect groups of programs."""

from rally_vmperf.workloads import base

#: Programs that compute with common instructions.
PROCESSOR: frozenset[base.Sensitivity] = frozenset(
    {"microcode", "governor", "turbo"}
)
#: Programs that also use instructions that only some processors have.
INSTRUCTIONS: frozenset[base.Sensitivity] = PROCESSOR | frozenset(
    {"instructions"}
)
#: Programs that mainly read and write memory.
MEMORY: frozenset[base.Sensitivity] = INSTRUCTIONS | frozenset(
    {"kernel", "huge_pages"}
)
