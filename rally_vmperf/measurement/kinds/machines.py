"""Findings on whether the two machines can be compared at all."""

from rally_vmperf.measurement.kinds import base

FINGERPRINTS = "comparing the fingerprints of bare metal and guest"
BASELINE = "matching the baseline with the run"

KINDS: dict[str, base.Kind] = {
    "cpu_model_differs": base.Kind(
        severity="warning",
        title="The CPU models differ",
        why="The difference between two processors is counted as overhead "
        "of virtualisation.",
        remedy="Record the baseline on the host that the guests run on, and "
        "give guests the host's CPU model (cpu_mode = host-passthrough).",
        raised_by=FINGERPRINTS,
    ),
    "microcode_differs": base.Kind(
        severity="note",
        title="The microcode versions differ",
        why="Microcode carries mitigations that cost time in system calls "
        "and context switches.",
        remedy="Record the baseline again after a microcode update.",
        raised_by=FINGERPRINTS,
    ),
    "kernel_differs": base.Kind(
        severity="warning",
        title="The kernels differ",
        why="Schedulers, file systems and drivers differ between kernels, "
        "by more than virtualisation costs in many workloads.",
        remedy="Boot the guests from an image with the host's kernel.",
        raised_by=FINGERPRINTS,
    ),
    "mitigations_differ": base.Kind(
        severity="warning",
        title="The mitigations of CPU vulnerabilities differ",
        why="Mitigations cost up to half of the speed of system calls, on "
        "one side only.",
        remedy="Boot both sides with the same mitigations= argument.",
        raised_by=FINGERPRINTS,
    ),
    "governor_not_performance": base.Kind(
        severity="warning",
        title="The CPU frequency governor is not 'performance'",
        why="A processor that is left to save power clocks up only under "
        "load, so bare metal can look slower than it is.",
        remedy="Set the governor 'performance' on the host, then record the "
        "baseline again.",
        raised_by=FINGERPRINTS,
    ),
    "tool_version_differs": base.Kind(
        severity="void",
        title="The tool has another version on each side",
        why="Two versions of a tool may measure two different things.",
        remedy="Install the same version on both sides, or record the "
        "baseline again.",
        raised_by=FINGERPRINTS,
    ),
    "tool_checksum_differs": base.Kind(
        severity="note",
        title="The tool is built differently on each side",
        why="Compilers and their options change the speed of the same "
        "version.",
        remedy="Provision both sides from the same package or binary.",
        raised_by=FINGERPRINTS,
    ),
    "data_differ": base.Kind(
        severity="void",
        title="The input data differ between the sides",
        why="Compression, copying and disks run at a speed that depends on "
        "the data.",
        remedy="Delete the generated data on both sides, so that they are "
        "made again from the same seed.",
        raised_by=FINGERPRINTS,
    ),
    "baseline_old": base.Kind(
        severity="warning",
        title="The baseline is old",
        why="Updates, firmware and wear change bare metal meanwhile.",
        remedy="Record the baseline again: rally-vmperf baseline record.",
        raised_by=BASELINE,
    ),
    "baseline_changed": base.Kind(
        severity="void",
        title="The baseline changed during the run",
        why="Repetitions that were compared with different baselines give "
        "no common figure.",
        remedy="Leave the baseline alone while a task runs, and run again.",
        raised_by="judging",
    ),
    "shape_not_held": base.Kind(
        severity="warning",
        title="Bare metal was not held to the guest's shape",
        why="With more CPUs or memory than the guest, bare metal wins for "
        "a reason that is not virtualisation.",
        remedy="Record the baseline where systemd-run or cgroups can limit "
        "CPUs and memory (as root).",
        raised_by="taking the baseline on bare metal",
    ),
    "bare_metal_is_guest": base.Kind(
        severity="warning",
        title="The bare metal is itself a guest",
        why="What is measured is one virtual machine within another; the "
        "loss of the outer one is in both figures.",
        remedy="Record the baseline on a machine that is no guest, unless "
        "nested virtualisation is what you ask about.",
        raised_by="taking the baseline on bare metal",
    ),
    "other_host": base.Kind(
        severity="warning",
        title="The guests' host is not the machine of the baseline",
        why="Two machines of one model still differ in disks, memory and "
        "firmware settings.",
        remedy="Force the guests on the machine of the baseline (host), or "
        "record a baseline on theirs.",
        raised_by="asking Nova, as an administrator, after boot",
    ),
    "other_peer": base.Kind(
        severity="warning",
        title="The peer is not the one of the baseline",
        why="Another machine and another way to it are part of every "
        "network figure.",
        remedy="Use the same peer on both sides.",
        raised_by=FINGERPRINTS,
    ),
    "shape_whole": base.Kind(
        severity="note",
        title="Bare metal had the whole machine",
        why="The overhead holds the guest's smaller shape as well as "
        "virtualisation.",
        remedy="Record the baseline without --whole to see virtualisation "
        "alone.",
        raised_by="taking the baseline on bare metal",
    ),
}
