# SPDX-License-Identifier: Apache-2.0
"""Verdicts on ``tasks/kvm-overhead.yaml`` in simulated runs.

The metrics and limits are those of the task with a peer, and the judge and the
comparison of runs are those of the product. Noise and the differences between
boots are assumptions, not measurements.
"""

import argparse
import collections
import collections.abc
import dataclasses
import pathlib
import typing as t

import jinja2
import numpy
import yaml

from rally_vmperf.execution import assignment
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import compared_run
from rally_vmperf.questions import table
from tests.bench import verdicts
from tests.unit import made

TASK = pathlib.Path(__file__).parents[2] / "tasks" / "kvm-overhead.yaml"
PEER = {"address": "192.0.2.1", "user": "root"}
PARTS = ("cpu", "memory", "disk", "network")
#: The suffix of metrics that are determined by few requests.
P99 = "p99"
#: The assumed noise of a repetition in percent, by part.
NOISES = {
    "quiet": {"cpu": 0.2, "memory": 0.5, "disk": 0.5, "network": 0.5, P99: 1},
    "usual": {"cpu": 0.3, "memory": 1, "disk": 2, "network": 1, P99: 5},
    "rough": {"cpu": 1, "memory": 3, "disk": 5, "network": 3, P99: 15},
}
#: The assumed differences between boots and sessions, in percent.
BOOTS = (0, 0.5, 1, 1.5, 2)
#: The difference at which one part alone is beyond its limit.
TYPICAL_BOOTS = 0.5
#: The true losses, as multiples of the limits.
LOSSES = (0, 0.5, 0.9, 1.1, 1.25, 2)
#: The loss of one part alone; the other parts lose half of their limits.
ALONE = 1.25
#: The numbers of boots of each side, and the differences between boots, with a
#: boot before each repetition.
REBOOTED = (6, 8)
REBOOTED_BOOTS = (0, 0.5, 1)
STATUSES = ("passed", "failed", "inconclusive", "void")
#: The numbers of repetitions of compared runs, in addition to that of the
#: task, and the differences between boots in their tables.
FEW_REPETITIONS = (3,)
FEW_BOOTS = (0, 0.5)
#: The rate that is worse in compared runs, and its loss, as a multiple of its
#: margin.
WORSE_RATE = "disk.fio.randread.iops"
WORSE_BY = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShippedTask:
    """The shipped task: its metrics and its SLA.

    :param repetitions: The number of counted repetitions.
    :param limits: The limits of losses in percent, by metric.
    """

    metrics: tuple[sample.Metric, ...]
    sla: dict[str, t.Any]
    repetitions: int
    limits: dict[str, float]


def read_task(
    path: pathlib.Path = TASK, *, all_metrics: bool = False, **arguments: t.Any
) -> ShippedTask:
    """Return a task with a peer and defaults for the other arguments.

    :param all_metrics: Whether it has all metrics, or only those with a limit,
        counts and p99.
    :param arguments: The arguments of the task.
    """
    environment = jinja2.Environment()
    template = environment.from_string(path.read_text())
    rendered = template.render(peer=PEER, **arguments)
    (subtask,) = yaml.safe_load(rendered)["subtasks"]
    ((_, arguments),) = subtask["scenario"].items()
    metrics = [
        metric
        for assigned in assignment.assign(arguments["workloads"])
        for metric in assigned.metrics()
    ]
    sla = subtask["sla"]["vmperf_overhead"]
    patterns = verdict.Limits(sla["max_percent"])
    limited = {
        metric.name: limit[0]
        for metric in metrics
        if metric.scale == "ratio"
        and (limit := patterns.for_metric(metric.name))
    }
    return ShippedTask(
        metrics=tuple(
            metric
            for metric in metrics
            if all_metrics
            or metric.name in limited
            or metric.scale == "count"
            or metric.name.endswith(P99)
        ),
        sla=sla,
        repetitions=subtask["runner"]["serial"]["times"] - arguments["warmup"],
        limits=limited,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """The assumptions about simulated runs.

    :param boots: The difference between boots and sessions, in percent.
    :param losses: The true loss as a multiple of the limit, by part.
    :param is_rebooted: Whether each repetition is another boot, on both sides;
        otherwise there is one boot of the guest and one of bare metal.
    """

    noise: str
    boots: float
    losses: dict[str, float]
    is_rebooted: bool = False


def all_parts(multiple: float) -> dict[str, float]:
    """Return the same multiple of the limits for all parts."""
    return dict.fromkeys(PARTS, multiple)


def one_part(component: str, multiple: float = ALONE) -> dict[str, float]:
    """Return multiples of the limits, of which one is beyond its limit."""
    return {**all_parts(0.5), component: multiple}


def simulate(
    task: ShippedTask, setting: Setting, trials: int
) -> dict[str, float]:
    """Return how often the judge decides runs, in percent.

    A boot of the guest and a boot or a recording session of bare metal change
    all metrics of a part alike. Each repetition varies independently.
    """
    count = collections.Counter(
        judgement.status for judgement in _judge_runs(task, setting, trials)
    )
    return {status: 100 * count[status] / trials for status in STATUSES}


def list_warnings(
    task: ShippedTask, setting: Setting, trials: int
) -> dict[str, float]:
    """Return how often runs have warnings by their kind, in percent.

    The key ``any`` is the share of runs with a warning.
    """
    count: collections.Counter[str] = collections.Counter()
    for judgement in _judge_runs(task, setting, trials):
        kinds = {
            run_finding.finding.kind
            for run_finding in judgement.findings
            if run_finding.finding.severity == "warning"
        }
        count.update(kinds)
        count["any"] += bool(kinds)
    return {kind: 100 * number / trials for kind, number in count.items()}


def _judge_runs(
    task: ShippedTask, setting: Setting, trials: int
) -> collections.abc.Iterator[summary.Judgement]:
    """Yield the judgements on simulated runs."""
    random = numpy.random.default_rng(7)
    criterion = table.criteria()["vmperf_overhead"]
    for _ in range(trials):
        guest, bare = _draw_run(task, setting, random)
        reference = made.reference(bare)
        if setting.is_rebooted:
            boots = tuple(map(str, range(task.repetitions)))
            reference = dataclasses.replace(reference, boots=boots)
        judge = criterion.parse(task.sla).create_judge()
        for entry in made.several(guest, reference=reference):
            judge.add(dataclasses.replace(entry, rebooted=setting.is_rebooted))
        yield judge.judgement()


def find_noise(name: str, metric: sample.Metric) -> float:
    """Return the standard deviation of a metric as a share.

    :param name: The name of the noises.
    """
    component = metric.name.partition(".")[0]
    return NOISES[name][P99 if P99 in metric.name else component] / 100


Values = dict[sample.Metric, list[float]]


def _draw_run(
    task: ShippedTask, setting: Setting, random: t.Any
) -> tuple[Values, Values]:
    """Return the values of the guest and of bare metal in one run."""
    number = task.repetitions if setting.is_rebooted else 1
    boots = {
        component: random.normal(0, setting.boots / 100, (2, number))
        for component in PARTS
    }
    sides: tuple[Values, Values] = ({}, {})
    for metric in task.metrics:
        component = metric.name.partition(".")[0]
        if metric.scale == "count":
            for values in sides:
                drawn = random.integers(0, 10, task.repetitions)
                values[metric] = drawn.tolist()
            continue
        # The bandwidth of fio is proportional to its rate of requests.
        if component == "disk" and metric.name.endswith(".bandwidth"):
            requests = metric.name.replace(".bandwidth", ".iops")
            for values in sides:
                values[metric] = next(
                    drawn
                    for other, drawn in values.items()
                    if other.name == requests
                )
            continue
        noise = find_noise(setting.noise, metric)
        # What has no limit loses as much as the other metrics of its command.
        command = metric.name.rpartition(".")[0]
        limit = min(
            task.limits[name]
            for name in task.limits
            if name.rpartition(".")[0] == command
        )
        lost = setting.losses[component] * limit
        ratios = (loss.ratio(metric, lost), 1)
        # The position of the values in the buckets of a histogram.
        base = random.uniform(0, 1)
        for values, ratio, boot in zip(
            sides, ratios, boots[component], strict=True
        ):
            drawn = ratio * numpy.exp(
                base + boot + random.normal(0, noise, task.repetitions)
            )
            if metric.resolution:
                drawn = verdicts.bucket(drawn)
            values[metric] = drawn.tolist()
    return sides


def compare(
    task: ShippedTask,
    noise: str,
    boots: float,
    trials: int,
    *,
    loss_percent: float = 0,
    has_limits: bool = True,
) -> dict[str, float]:
    """Return how often ``compare`` decides about equal guests, in percent.

    :param boots: The difference between boots, in percent.
    :param loss_percent: The loss of ``WORSE_RATE`` in the second run.
    :param has_limits: Whether the limits of the task decide, or all rates and
        times.
    """
    random = numpy.random.default_rng(7)
    setting = Setting(noise=noise, boots=boots, losses=all_parts(0))
    criteria = {"vmperf_overhead": task.sla} if has_limits else {}
    count: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        sides = _draw_run(task, setting, random)
        for metric, values in sides[1].items():
            if metric.name == WORSE_RATE:
                sides[1][metric] = [
                    value * (1 - loss_percent / 100) for value in values
                ]
        runs = [
            compared_run.ComparedRun(
                name=name,
                samples={
                    ("", metric): sample.create_samples(
                        metric, [[value] for value in values]
                    )
                    for metric, values in drawn.items()
                },
            )
            for name, drawn in zip(("before", "after"), sides, strict=True)
        ]
        runs = compared_run.set_limits(runs, criteria)
        status, _ = changes.conclude(
            changes.compare_runs(runs, verdict.Limits({}))
        )
        count[status] += 1
    return {
        status: 100 * count[status] / trials
        for status in ("not worse", "undecided", "worse")
    }


def print_comparisons(
    task: ShippedTask,
    noise: str,
    trials: int,
    boots_in_percent: collections.abc.Iterable[float] = BOOTS,
) -> None:
    """Print how often compared runs exit with 0 and with 2."""
    print(
        f"{noise} noise, compare, {task.repetitions} repetitions: "
        f"not worse/undecided/worse in % of {trials} runs\n"
        f"boots:      {'equal':>15}{'equal, no limit':>18}"
        f"{'disk rate worse':>18}"
    )
    loss_percent = WORSE_BY * task.limits[WORSE_RATE]
    for boots in boots_in_percent:
        cells = []
        for options in (
            {},
            {"has_limits": False},
            {"loss_percent": loss_percent},
        ):
            shares = compare(task, noise, boots, trials, **options)
            cells.append("/".join(f"{share:.1f}" for share in shares.values()))
        print(
            f"{f'{boots:g} %':<9}" + "".join(f"{cell:>18}" for cell in cells),
            flush=True,
        )
    print()


def format_row(
    task: ShippedTask,
    title: str,
    settings: collections.abc.Iterable[Setting],
    trials: int,
) -> str:
    """Return a row with the shares of runs by status in each setting."""
    cells = []
    for setting in settings:
        shares = simulate(task, setting, trials)
        cells.append("/".join(f"{shares[status]:.0f}" for status in STATUSES))
    return f"{title:<12}" + "".join(f"{cell:>12}" for cell in cells)


def print_table(task: ShippedTask, noise: str, trials: int) -> None:
    """Print the tables of a noise while they are made."""
    print(f"{noise} noise, {'/'.join(STATUSES)} in % of {trials} runs")
    print(
        "boots, loss:" + "".join(f"{f'{loss_:g} x':>12}" for loss_ in LOSSES)
    )
    for boots in BOOTS:
        settings = [
            Setting(noise=noise, boots=boots, losses=all_parts(multiple))
            for multiple in LOSSES
        ]
        row = format_row(task, f"{boots:g} %", settings, trials)
        print(row, flush=True)
    print(
        f"{ALONE:g} x in:".ljust(12)
        + "".join(f"{component:>12}" for component in PARTS)
    )
    settings = [
        Setting(noise=noise, boots=TYPICAL_BOOTS, losses=one_part(component))
        for component in PARTS
    ]
    row = format_row(task, f"{TYPICAL_BOOTS:g} %", settings, trials)
    print(row + "\n", flush=True)


def print_rebooted(task: ShippedTask, noise: str, trials: int) -> None:
    """Print the table of runs with a boot before each repetition."""
    print(
        f"{noise} noise, a boot before each repetition on both sides\n"
        "boots, loss:"
        + "".join(
            f"{title:>12}"
            for title in ("0.5 x", "0.9 x", "1.1 x", "cpu 1.1 x")
        )
    )
    losses = [
        *map(all_parts, (0.5, 0.9, 1.1)),
        one_part("cpu", 1.1),
    ]
    for repetitions in REBOOTED:
        for boots in REBOOTED_BOOTS:
            settings = [
                Setting(
                    noise=noise, boots=boots, losses=loss_, is_rebooted=True
                )
                for loss_ in losses
            ]
            row = format_row(
                dataclasses.replace(task, repetitions=repetitions),
                f"{repetitions}+{repetitions} {boots:g} %",
                settings,
                trials,
            )
            print(row, flush=True)
    print()


def print_warnings(task: ShippedTask, noise: str, trials: int) -> None:
    """Print how often healthy runs have warnings, and which."""
    for multiple in (0, 0.5):
        setting = Setting(
            noise=noise,
            boots=0,
            losses=all_parts(multiple),
            is_rebooted=True,
        )
        shares = list_warnings(task, setting, trials)
        any_share = shares.pop("any", 0)
        print(
            f"{noise} noise, {multiple:g} x: warnings in {any_share:.1f} % of "
            f"{trials} runs",
            flush=True,
        )
        for kind, share in sorted(shares.items()):
            print(f"    {kind} {share:.1f} %", flush=True)


def main() -> None:
    """Print the tables of all noises, or of some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trials", type=int, default=200, help="runs in each cell; 200"
    )
    parser.add_argument(
        "--noise", action="append", choices=NOISES, help="all by default"
    )
    parsed = parser.parse_args()
    task = read_task()
    measured = read_task(all_metrics=True)
    for noise in parsed.noise or NOISES:
        print_comparisons(measured, noise, parsed.trials)
        for repetitions in FEW_REPETITIONS:
            few = dataclasses.replace(measured, repetitions=repetitions)
            print_comparisons(few, noise, parsed.trials, FEW_BOOTS)
        print_table(task, noise, parsed.trials)
        print_rebooted(task, noise, parsed.trials)
        print_warnings(measured, noise, parsed.trials)


if __name__ == "__main__":
    main()
