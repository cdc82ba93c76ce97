"""Findings on the figures themselves."""

from rally_vmperf.measurement.kinds import base

JUDGE = "judging"

KINDS: dict[str, base.Kind] = {
    "guest_faster": base.Kind(
        severity="void",
        title="The guest is significantly faster than bare metal",
        why="Virtualisation does not speed a machine up: the whole interval "
        "is more than 5 % better than bare metal, so the two sides cannot "
        "have been comparable, or the guest did not do the work (flushes "
        "ignored, a cache measured).",
        remedy="Compare kernel, mitigations, frequency governor and cache "
        "mode of both sides; record the baseline again.",
        raised_by=JUDGE,
    ),
    "guest_slightly_faster": base.Kind(
        severity="warning",
        title="The guest looks faster than bare metal",
        why="The interval is wholly on the guest's side but not by more "
        "than 5 %, or the figure is better by more than 5 % without an "
        "interval that proves it: a sign that the two sides differ in more "
        "than virtualisation.",
        remedy="Compare kernel, mitigations and frequency governor of both "
        "sides; add repetitions.",
        raised_by=JUDGE,
    ),
    "too_few_samples": base.Kind(
        severity="warning",
        title="There are too few repetitions for an interval",
        why="With fewer than three counted repetitions on either side "
        "nobody can tell an overhead from chance.",
        remedy="Ask for at least three counted repetitions of the task and "
        "of the baseline.",
        raised_by=JUDGE,
    ),
    "unstable": base.Kind(
        severity="warning",
        title="The repetitions differ by more than 10 %",
        why="Something beside the workload changes the figures, and the "
        "interval is wide for it.",
        remedy="Quieten the machine (governor, other guests, background "
        "work), or make each repetition longer.",
        raised_by=JUDGE,
    ),
    "no_spread": base.Kind(
        severity="warning",
        title="The repetitions do not differ at all",
        why="Measurements always differ a little. Equal ones on both sides "
        "are rounded by the tool or are copies of each other, and their "
        "interval has no width, which claims more than is known.",
        remedy="Check that each repetition ran, and use a tool or a "
        "duration that gives more digits.",
        raised_by=JUDGE,
    ),
    "interval_one_session": base.Kind(
        severity="note",
        title="The interval holds for these boots and this baseline session",
        why="Guests that are booted again, or a baseline that is recorded "
        "on another day, can differ by more than the interval says.",
        remedy="Repeat the task and the recording of the baseline before "
        "deciding on a small difference.",
        raised_by=JUDGE,
    ),
    "cache_not_direct": base.Kind(
        severity="warning",
        title="The page cache is measured, not the disk",
        why="Without direct I/O most reads and writes end in memory.",
        remedy="Use direct: true, unless the cache is what you ask about.",
        raised_by="the fio workload",
    ),
    "partner_is_peer": base.Kind(
        severity="note",
        title="Traffic between guests is compared with bare metal to its peer",
        why="Bare metal has no partner guest: its copy sends to the peer. "
        "Guests on one host never meet the wire that bounds bare metal, and "
        "guests on two hosts pay for two virtual ends.",
        remedy="Record the baseline with a peer that is linked as the "
        "guests' hosts are; for one virtual end only, judge to_peer and "
        "from_peer.",
        raised_by="the iperf3 workload",
    ),
    "rate_offered": base.Kind(
        severity="note",
        title="UDP is as fast as it is offered, at most",
        why="UDP does not look for the fastest pace. Where about the offered "
        "rate arrived, the throughput says that this much gets through, and "
        "not what the network or the guest can do.",
        remedy="Judge jitter and loss at that rate; to find the most that "
        "gets through, offer more than arrives on bare metal.",
        raised_by="the iperf3 workload",
    ),
}
