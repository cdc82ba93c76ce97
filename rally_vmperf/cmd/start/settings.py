# SPDX-License-Identifier: Apache-2.0
"""The file vmperf.yaml: a task and its arguments."""

import json
import pathlib

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import sanitize

_TEMPLATE = """\
# A task of rally_vmperf and its arguments, written by rally-vmperf init.
# In this directory, rally-vmperf plan, baseline record and run use them, and
# elsewhere with --settings. For other arguments, see the comments in the task.

# The task: a file, or one of the tasks of the package. Other questions are how
# many guests fit on a host (kvm-density.yaml), and at which allocation ratio
# if they are not always busy (allocation-ratio.yaml).
task: kvm-overhead.yaml

# The baseline of bare metal that guests are compared with, or none.
# To record one: {record_command}
baseline: {baseline}

# {image_reason}
{image}

# {flavor_reason}
{flavor}

# {network_reason}
{network}
{volumes}
# The other end of network workloads, which needs iperf3. Without it, they are
# skipped.
# peer: {{address: 192.0.2.10, user: root, key_file: ~/.ssh/id_ed25519}}

# The number of counted repetitions. For a first verdict in minutes, plan,
# baseline record and run take --quick: short arguments, three repetitions.
repetitions: 6

# The limits, by SLA: those of the task, and one on stolen CPU time, which is
# time that the host gave to other guests.
limits:
  vmperf_overhead:
    # The largest tolerated losses in percent of bare metal.
    max_percent:
      cpu.*.rate: 5
      cpu.*_time: 5
      memory.*: 10
      disk.*.iops: 20
      disk.*.bandwidth: 20
      disk.*.latency_p50: 20
      network.*.throughput: 15
    # The largest tolerated values.
    max:
      guest.cpu.steal_percent: 10
      network.*.retransmits: 1000
    # What the flavor promises: the smallest tolerated values.
    # min:
    #   disk.*.iops: 5000
    # Without a baseline or a peer, limits that need them are not judged, and
    # are listed.
    unmeasured: skip
{promise}"""
#: The SLA of guests without a baseline.
_PROMISE = """\
  # Each guest gets the rates, vCPUs, memory and disk that its flavor, volume
  # type and ports promise, and not more: min_percent is 95, max_percent 110.
  vmperf_promise: {}
"""

#: The hint on data volumes.
_VOLUMES = """
# For workloads with target: volume, add volumes: [{{size_gib: 20}}] to
# guest_options, with a type if it is not the default one.
# The volume types of the cloud: {types}
"""


def render(
    baseline: str,
    record_command: str,
    image: tuple[documents.Arguments, str],
    flavor: tuple[documents.Arguments, str],
    network: tuple[documents.Arguments, str],
    volume_types: str = "",
) -> str:
    """Return the content of vmperf.yaml.

    The names and reasons are from the cloud, which is not trusted.

    :param baseline: The name of the baseline, or ``none``.
    :param record_command: The command that records a baseline.
    :param image: The arguments for the image, and the reason.
    :param flavor: The arguments for the flavor, and the reason.
    :param network: The arguments for the network, and the reason.
    :param volume_types: The names of the volume types; empty without Cinder.
    """
    sections = {"image": image, "flavor": flavor, "network": network}
    return _TEMPLATE.format(
        baseline=json.dumps(baseline) if baseline != "none" else baseline,
        record_command=record_command,
        volumes=_VOLUMES.format(types=sanitize.line(volume_types))
        if volume_types
        else "",
        promise=_PROMISE if baseline == "none" else "",
        **{
            name: _format_arguments(arguments)
            for name, (arguments, _) in sections.items()
        },
        **{
            f"{name}_reason": sanitize.line(reason)
            for name, (_, reason) in sections.items()
        },
    )


def _format_arguments(arguments: documents.Arguments) -> str:
    """Return arguments as lines of YAML, with values in JSON."""
    return "\n".join(
        f"{name}: {_format_value(argument)}"
        for name, argument in arguments.items()
    )


def _format_value(argument: object) -> str:
    """Return a value in JSON, with the escapes of YAML.

    The escapes of JSON for emojis are two halves, which YAML does not join.
    """
    return "".join(
        letter
        if letter.isascii() and letter.isprintable()
        else f"\\U{ord(letter):08x}"
        for letter in json.dumps(argument, ensure_ascii=False)
    )


def write_new(path: pathlib.Path, text: str, mode: int = 0o644) -> bool:
    """Write a file unless it exists; return whether it was written.

    :param mode: The permissions of the file.
    :raises VMPerfError: If the file cannot be written. It does not exist
        then, because the next ``init`` would keep it.
    """
    try:
        atomic.write(path, text, replace=False, mode=mode)
    except FileExistsError:
        return False
    except OSError as error:
        raise errors.VMPerfError(
            f"{path}: {error.strerror or error}; free space, or use another "
            "directory"
        ) from error
    return True
