# SPDX-License-Identifier: Apache-2.0
"""The results of parsers for outputs that were cut or swapped.

    python -m tests.bench.mutations [--seed 1] [--tries 300]

prints the table of doc/source/contributor/checked.rst, and the arguments that
outputs do not show.  An output that was cut, lacks a line or belongs to
another command must be rejected, or give the same values.
"""

import argparse
import collections
import itertools
import random

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from tests.unit.workloads import golden

#: Workloads, and commands of the others, whose outputs do not say which of
#: them printed it.
UNTOLD = ("dd",)
ALIKE = {"to_peer", "guest_to_guest"}


def mutations(run, rng, tries):
    """Yield kind, command and text of mutated outputs of a recorded run."""
    for command, file in run.files.items():
        whole = golden.text(file)
        alike = {command.removesuffix("-udp")} <= ALIKE
        others = {
            golden.text(other)
            for name, other in run.files.items()
            if not (alike and name.removesuffix("-udp") in ALIKE)
        } - {whole}
        if not whole:
            continue
        for _ in range(tries):
            yield "cut", command, whole[: rng.randrange(len(whole))]
        lines = whole.splitlines(keepends=True)
        for at in rng.sample(range(len(lines)), min(len(lines), tries)):
            yield "line", command, "".join(lines[:at] + lines[at + 1 :])
        for other in sorted(others):
            yield "swapped", command, other


def values(workload, arguments, command, text, stream):
    """Return the values of an output by their metrics, None if refused."""
    outcome = golden.outcome(command, seconds=3600, **{stream: text})
    try:
        readings = workload.parse_all(arguments, {command: outcome})
    except base.WorkloadError:
        return None
    return {
        reading.metric.name: reading.value
        for reading in readings
        if isinstance(reading, sample.Sample)
    }


#: Workload -> the arguments of its commands that its outputs do not tell.
NOT_TOLD = {
    "cp": {"flush", "target"},
    "dd": {"direct", "sync", "target"},
    # The limit of its own program, which is compared with each step.
    "fio": {"search_latency_us"},
    # Without pauses, the number of pages does not depend on it.
    "h2load": {"users"},
    "iperf3": {"zero_copy"},
    # Of a method that is not in each run.
    "mbw": {"block_size"},
    "openssl": {"time"},
    "ping": {"interval"},
    "sockperf": {"rate", "size"},
    "sysbench_memory": {"access"},
    # The recorded output is of both numbers.
    "unixbench": {"copies"},
}

#: Workloads with an output of two runs, the first of which ends before it.
TWO_RUNS = {"unixbench"}


def believed_parts(rng, tries):
    """Yield the run and command of each output that counts without its end.

    A short output is cut at every character, a long one at random ones and at
    its last 100 characters.
    """
    for name, run in golden.RUNS.items():
        workload = golden.workload(name)
        arguments = workload.complete(run.arguments)
        for command, file in run.files.items():
            whole = golden.text(file).rstrip()
            cuts = range(len(whole))
            if len(whole) > 10 * tries:
                cuts = {*rng.sample(cuts, tries), *cuts[-100:]}
            parts = (whole[:cut] for cut in cuts)
            if any(
                values(workload, arguments, command, component, run.stream)
                is not None
                for component in parts
            ):
                yield name, command


def believed_foreign():
    """Yield the run, and the run of the output that counts in its place.

    Outputs of the same tool are those of its other versions, or of other
    arguments, which unnoticed_arguments compares.
    """
    for name, run in golden.RUNS.items():
        workload = golden.workload(name)
        arguments = workload.complete(run.arguments)
        for other, foreign in golden.RUNS.items():
            if golden.workload(other).name == workload.name:
                continue
            for command, file in itertools.product(
                run.files, foreign.files.values()
            ):
                text = golden.text(file)
                if text and values(
                    workload, arguments, command, text, run.stream
                ):
                    yield name, other


#: Ends and ports of the commands.
ENDPOINTS = base.Endpoints(
    peer="192.0.2.1",
    partner="192.0.2.2",
    own_ports=range(5201, 5210),
    shared_ports=range(5301, 5601),
)


def other_values(rule, value):
    """Return values of an argument that differ from the one that was given."""
    if isinstance(value, bool):
        return [not value]
    if "enum" in rule:
        return [other for other in rule["enum"] if other != value]
    if isinstance(value, int | float):
        return [2 * value or 1000, value + 1]
    if isinstance(value, str):
        return [size for size in ("8k", "2M") if size != value]
    return []


def other_arguments(workload, arguments):
    """Yield the names of arguments, and the arguments with another value."""
    complete = workload.complete(arguments)
    for key, rule in workload.ARGUMENTS["properties"].items():
        for value in other_values(rule, complete[key]):
            try:
                yield key, workload.complete({**arguments, key: value})
            except base.WorkloadError:
                continue


def command_lines(workload, arguments):
    """Return the command lines of client and server by command."""
    return {
        command.name: (command.argv, command.server and command.server.argv)
        for command in workload.commands(arguments, ENDPOINTS)
    }


def unnoticed_arguments():
    """Return by workload the arguments that its outputs do not show.

    The output of each recorded command is parsed as that of another command
    line, with one other argument.
    """
    unnoticed = collections.defaultdict(set)
    for name, run in golden.RUNS.items():
        workload = golden.workload(name)
        lines = command_lines(workload, workload.complete(run.arguments))
        for key, arguments in other_arguments(workload, run.arguments):
            others = command_lines(workload, arguments)
            for command, file in run.files.items():
                if others.get(command, lines[command]) == lines[command]:
                    continue
                text = golden.text(file)
                if values(workload, arguments, command, text, run.stream):
                    unnoticed[workload.name].add(key)
    return unnoticed


def judge(true, mutated):
    """Return what became of a mutated output."""
    if mutated is None:
        return "rejected"
    return "same" if mutated == true else "other"


def table(seed, tries):
    """Return by workload how many mutations came to which end."""
    outcomes = collections.defaultdict(collections.Counter)
    for name, run in golden.RUNS.items():
        rng = random.Random(f"{seed} {name}")
        workload = golden.workload(name)
        arguments = workload.complete(run.arguments)
        true = {
            command: values(
                workload, arguments, command, golden.text(file), run.stream
            )
            for command, file in run.files.items()
        }
        for kind, command, text in mutations(run, rng, tries):
            if kind == "swapped" and workload.name in UNTOLD:
                continue
            mutated = values(workload, arguments, command, text, run.stream)
            outcomes[workload.name][judge(true[command], mutated)] += 1
    return outcomes


def page(outcomes):
    """Return the rows of the docs' table."""
    return "\n".join(
        f"{name:15} {sum(ends.values()):7} {ends['rejected']:8} "
        f"{ends['same']:5} {ends['other']:5}"
        for name, ends in sorted(outcomes.items())
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=300)
    options = parser.parse_args()
    print(page(table(options.seed, options.tries)))
    for name, keys in sorted(unnoticed_arguments().items()):
        print(f"{name}: {', '.join(sorted(keys))}")


if __name__ == "__main__":
    main()
