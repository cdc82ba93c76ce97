"""Findings on what happened to the guests and on where they ran."""

from rally_vmperf.measurement.kinds import base

NOVA = "asking Nova about the guests"
INSIDE = "reading the guest's counters before and after a repetition"

KINDS: dict[str, base.Kind] = {
    "emulated_guest": base.Kind(
        severity="warning",
        title="The guest is emulated, not virtualised (TCG)",
        why="Emulation is slower by a factor, and its figures say nothing "
        "about KVM.",
        remedy="Run on compute nodes with /dev/kvm and virt_type = kvm.",
        raised_by="the guest's fingerprint",
    ),
    "virtualisation_unknown": base.Kind(
        severity="note",
        title="The kind of virtualisation could not be seen",
        why="Whether the guest was virtualised or emulated is not known.",
        remedy="Use an image with systemd-detect-virt or virt-what.",
        raised_by="the guest's fingerprint",
    ),
    "wrong_host": base.Kind(
        severity="void",
        title="The guest runs elsewhere than asked for",
        why="It is compared with the bare metal of a machine that it is "
        "not on, or shares its host with other guests than was asked for.",
        remedy="Check that the hosts asked for are enabled and have room, "
        "and that the user may choose them; then run again.",
        raised_by=NOVA,
    ),
    "placement_unknown": base.Kind(
        severity="note",
        title="The guest's host could not be seen",
        why="Only an administrator sees on which host a guest runs, so "
        "nobody checked that it is the baseline's.",
        remedy="Run with an administrator's credentials.",
        raised_by=NOVA,
    ),
    "guests_not_as_wished": base.Kind(
        severity="warning",
        title="The guests are not together or apart as was wished",
        why="A soft server group is kept where it can be: whether the guests "
        "compete for one host is not what the task says.",
        remedy="See which guests share a host, make room on the hosts, or "
        "ask for affinity or anti-affinity, which is kept or refused.",
        raised_by=NOVA,
    ),
    "peer_on_host": base.Kind(
        severity="note",
        title="The peer runs on the bare-metal host itself",
        why="Both ends share CPUs, and no packet passes the wire.",
        remedy="Give the workload a peer on another machine.",
        raised_by="choosing the peer of a network workload",
    ),
    "still_booting": base.Kind(
        severity="warning",
        title="The guest had not finished booting",
        why="What it does after its start shares the CPUs with the workloads.",
        remedy="Raise ssh_timeout, or see in the guest what hangs: "
        "cloud-init status --long, systemctl list-jobs.",
        raised_by="waiting for cloud-init and systemd in the guest",
    ),
    "guest_rebooted": base.Kind(
        severity="void",
        title="The guest was rebooted during the run",
        why="Caches and services of a fresh boot are part of the figures.",
        remedy="Find out who or what rebooted it, and run again.",
        raised_by="the guest's boot identifier, before and after",
    ),
    "guest_changed_host": base.Kind(
        severity="void",
        title="The guest changed its host during the run",
        why="A migration slows down the guest, and the new host is not the "
        "baseline's.",
        remedy="Keep balancing and maintenance off the host, and run again.",
        raised_by=NOVA,
    ),
    "rate_limited_by_policy": base.Kind(
        severity="warning",
        title="A policy limits the guest's rate",
        why="A quota of the flavor (quota:*) or a QoS policy is measured "
        "instead of virtualisation.",
        remedy="Use a flavor and volumes without limits, or read the "
        "figures as those of the policy.",
        raised_by=NOVA,
    ),
    "steal_time": base.Kind(
        severity="warning",
        title="The host took CPU time from the guest",
        why="Other work on the host slows the guest down: contention, not "
        "virtualisation.",
        remedy="Run on a host without other guests, or pin the CPUs.",
        raised_by=INSIDE,
    ),
    "swap_or_oom": base.Kind(
        severity="void",
        title="The machine swapped, or the kernel killed a process",
        why="The disk is measured instead of memory, or nothing at all.",
        remedy="Use a flavor with more memory, or a smaller workload.",
        raised_by=INSIDE,
    ),
}
