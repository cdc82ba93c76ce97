"""The question of the degradation of guests that share a host."""

import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.judging import density
from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judged_run
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import checks
from rally_vmperf.questions.density import levels

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


def _list_bare_metal_levels(
    subtask: checks.Task, options: documents.Arguments
) -> tuple[int, ...]:
    """Return the levels that the verdict compares with bare metal."""
    if options.get("compare_to") != "bare_metal":
        return ()
    return tuple(checks.list_limited_levels(subtask, options))


def _check_degradation(
    subtask: checks.Task, parsed: question.ParsedCriterion, baseline: t.Any
) -> None:
    """Reject limits on a loss if levels or references are missing."""
    options = parsed.options
    checks.check_levels(
        subtask, DEGRADATION.name, options, of_several=_is_of_several(parsed)
    )
    if not parsed.limits["max_percent"]:
        return
    if options.get("compare_to", "solo_guest") == "solo_guest":
        checks.check_solo_guest(f"sla {DEGRADATION.name}", subtask)
        if (
            options.get("statistic") == "worst"
            and subtask.arguments.solo_guest != "all"
        ):
            raise task.InvalidTask(
                f"sla {DEGRADATION.name} statistic=worst: compares each guest "
                "with its own solo run; set solo_guest: all in "
                "VMPerf.density, or statistic: mean"
            )
        return
    _check_copies(subtask, _list_bare_metal_levels(subtask, options), baseline)


_check_bounds = question.create_limit_check(
    # Times are compared as rates, too.
    lambda metric: True
)


def _check_limits(
    parsed: question.ParsedCriterion, metrics: task.Metrics
) -> None:
    """Reject limits that cannot fail, and losses of the solo guest itself."""
    _check_bounds(parsed, metrics)
    if _is_of_several(parsed):
        checks.check_several_guests(parsed)


def _is_of_several(parsed: question.ParsedCriterion) -> bool:
    """Return whether a limit is the loss of guests against one guest."""
    is_against_guest = parsed.options.get("compare_to") != "bare_metal"
    return bool(parsed.limits["max_percent"]) and is_against_guest


def _find_baseline_option(parsed: question.ParsedCriterion) -> str:
    """Return the option that compares losses with bare metal, or ""."""
    is_compared = parsed.options.get("compare_to") == "bare_metal"
    has_losses = is_compared and parsed.limits["max_percent"]
    return "compare_to=bare_metal" if has_losses else ""


def _check_copies(
    subtask: checks.Task,
    required: tuple[int, ...],
    baseline: document.Baseline,
) -> None:
    """Reject a baseline that was not recorded in as many copies."""
    for assigned, measurements in subtask.list_measured(baseline):
        copies = {measurement.copies for measurement in measurements}
        for number in required:
            if number not in copies:
                listed = ",".join(
                    map(str, sorted(checks.list_levels(subtask)))
                )
                raise task.InvalidTask(
                    f"sla {DEGRADATION.name} compare_to=bare_metal: baseline "
                    f"{baseline.name!r} has {assigned.title} in "
                    f"{', '.join(map(str, sorted(copies)))} copies, not in "
                    f"{number}; record it with --copies {listed}"
                )


DEGRADATION = question.Criterion(
    name="vmperf_degradation",
    title="Limits on the loss of each guest as their number grows, in %.",
    heading="Degradation",
    schema=question.build_schema(
        {
            "max_percent": question.build_limits(
                "largest tolerated loss of the rate in percent; the most "
                "specific match applies."
            ),
            **question.ABSOLUTE,
            "levels": checks.LEVELS_SCHEMA,
            **question.STATISTIC,
            "compare_to": json_schema.choice(
                ("solo_guest", "bare_metal"),
                "Reference of the loss: one guest, or the same number of "
                "bare-metal copies; default solo_guest.",
            ),
        },
        anyOf=[{"required": [key]} for key in question.LOSS_AND_ABSOLUTE],
    ),
    rules=density.DEGRADATION,
    limits=question.LOSS_AND_ABSOLUTE,
    bounds=_check_limits,
    baseline_option=_find_baseline_option,
    check=_check_degradation,
    selects=neighbours.WITHOUT,
)


def _check_fairness(
    subtask: checks.Task, parsed: question.ParsedCriterion, baseline: t.Any
) -> None:
    """Reject limits at levels that are missing."""
    checks.check_levels(
        subtask, FAIRNESS.name, parsed.options, of_several=True
    )


_FAIRNESS_LIMITS = ("min_index", "max_spread_percent")

FAIRNESS = question.Criterion(
    name="vmperf_fairness",
    title="Limits on the unfairness between guests that share a host.",
    heading="Fairness",
    schema=question.build_schema(
        {
            "min_index": question.build_limits(
                "smallest tolerated Jain's index: 1 if all guests have equal "
                "rates, 1/n if one of n guests has the entire rate.",
                exclusiveMinimum=0,
                maximum=1,
            ),
            "max_spread_percent": question.build_limits(
                "largest tolerated spread between the guests in percent."
            ),
            "levels": checks.LEVELS_SCHEMA,
        },
        anyOf=[{"required": [key]} for key in _FAIRNESS_LIMITS],
    ),
    rules=density.FAIRNESS,
    limits=dict.fromkeys(_FAIRNESS_LIMITS, ("ratio",)),
    bounds=lambda parsed, metrics: checks.check_several_guests(parsed),
    check=_check_fairness,
    selects=neighbours.WITHOUT,
)


class Density(question.Question[checks.Arguments]):
    """Degradation of guests with their number; an iteration is a curve."""

    name = "density"
    scenario = "VMPerf.density"
    title = "Degradation by number of guests"
    arguments = checks.Arguments
    criteria = (DEGRADATION, FAIRNESS, neighbours.CRITERION)

    def check(self, subtask: checks.Task) -> list[str]:
        """Reject contradictions in a task; return warnings as a list.

        :returns: The warnings, one sentence each.
        """
        number = subtask.arguments.count_neighbours()
        unmeasured = {"neighbours": number} if number else {}
        warnings = checks.check_task(subtask, unmeasured)
        if number and subtask.arguments.order == "listed":
            warnings.append(
                "order=listed: each repetition measures a level first without "
                "and then with neighbours, so that drift counts as their "
                "effect; use order: shuffled or blocks"
            )
        return warnings

    def list_copies(self, subtask: checks.Task) -> tuple[int, ...]:
        """Return the numbers of guests, in the order of the task."""
        return checks.list_levels(subtask)

    def list_compared_copies(self, subtask: checks.Task) -> tuple[int, ...]:
        """Return the numbers of bare-metal copies that a verdict requires."""
        return _list_bare_metal_levels(
            subtask, subtask.criteria.get(DEGRADATION.name, {})
        )

    def estimate_minutes(self, subtask: checks.Task) -> int:
        """Return the estimated duration of a task in minutes."""
        arguments = subtask.arguments
        counts = checks.list_levels(subtask)
        neighbour_counts = {0, arguments.count_neighbours()}
        working_guests = [
            number + neighbour_count
            for number in counts
            for neighbour_count in sorted(neighbour_counts)
        ]
        boots = subtask.count_reboots(len(working_guests))
        solo_runs = 0
        if arguments.solo_guest == "all":
            solo_runs = (max(counts) - 1) * len(neighbour_counts)
        if arguments.idle_guests == "stopped":
            boots += levels.count_rises(working_guests, subtask.times)
            boots += solo_runs * subtask.times
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            len(working_guests) + solo_runs,
            boots,
        )

    def list_unmeasured(
        self, subtask: checks.Task
    ) -> tuple[assignment.Assignment, ...]:
        """Return the workload of neighbours as a tuple, empty without."""
        return subtask.arguments.list_workloads()

    def start(
        self, request: "run_request.RunRequest", arguments: checks.Arguments
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.density import run

        return run.create_run(request, arguments)

    def describe(self, run: judged_run.JudgedRun) -> str:
        """Return the title of a run as text: size and numbers of guests."""
        numbers = density_levels.guest_counts(run.judged_repetitions)
        if not numbers:
            return f"{run.size}, no guests"
        most = units.number_of("guest", numbers[-1])
        if len(numbers) == 1:
            return f"{run.size}, {most}"
        return f"{run.size}, {numbers[0]} to {most}"

    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the HTML report for runs of density."""
        from rally_vmperf.questions.density.section import section

        return section.SECTION


QUESTION = Density()
