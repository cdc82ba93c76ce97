"""Findings on guests that run together, and on how they degrade."""

from rally_vmperf.measurement.kinds import base

START = "starting a command on several machines at once"
JUDGE = "judging degradation"

KINDS: dict[str, base.Kind] = {
    "partial_overlap": base.Kind(
        severity="void",
        title="The machines did not work at the same time",
        why="For more than a twentieth of the run some machine had not "
        "begun, or had finished: the others had the host to themselves, and "
        "the figures say less than so many at once.",
        remedy="Make each run longer, or the controller and the hosts less "
        "busy; look for the machine that starts late or works slowly.",
        raised_by=START,
    ),
    "clock_not_correctable": base.Kind(
        severity="warning",
        title="The machine's clock is not known well enough",
        why="Machines start together by their clocks. This one drifts, or "
        "answers too slowly to be compared, so that skew and overlap are "
        "less certain than they look.",
        remedy="Let the machine keep its time with chrony or another "
        "service, and look for what delays its answers.",
        raised_by=START,
    ),
    "guests_on_other_hosts": base.Kind(
        severity="void",
        title="The guests of a level do not share hosts as planned",
        why="Guests on another host do not compete with the others, so the "
        "level is not what so many guests on one host lose.",
        remedy="Name a host, or use a server group with affinity, and see "
        "that the host has room for all guests.",
        raised_by="asking Nova about the guests",
    ),
    "not_linear": base.Kind(
        severity="note",
        title="The loss does not grow by the same for each added guest",
        why="The loss per added guest is a mean over all numbers of guests: "
        "the next guest may cost more, or less.",
        remedy="Read the curve rather than the line, and measure the number "
        "of guests that you mean to run.",
        raised_by=JUDGE,
    ),
    "law_contradicted": base.Kind(
        severity="warning",
        title="The totals do not follow the Universal Scalability Law",
        why="Its coefficients, its peak and its predictions describe other "
        "guests than these; no largest number is predicted from them.",
        remedy="Trust what was measured, and measure more numbers of guests "
        "around the point where the curve bends.",
        raised_by=JUDGE,
    ),
    "levels_too_few": base.Kind(
        severity="note",
        title="There are too few numbers of guests for a model",
        why="The Universal Scalability Law has three coefficients. Through "
        "fewer than four numbers of guests it always goes, whatever they "
        "are, and would predict with confidence what nobody knows.",
        remedy="Measure four numbers of guests or more, one guest among them.",
        raised_by=JUDGE,
    ),
    "extrapolated": base.Kind(
        severity="note",
        title="The largest number of guests was not measured but predicted",
        why="The law was fitted to fewer guests. A limit that they did not "
        "meet (memory, disk space, a full link) is not in it.",
        remedy="Measure the predicted number before relying on it.",
        raised_by=JUDGE,
    ),
}
