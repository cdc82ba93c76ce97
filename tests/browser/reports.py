"""Both reports about a run whose guests said all the words there are."""

import functools
import json
import logging

from rally.cli import task_results_loader
from rally.common import cfg
from rally.task import utils
from rally.task.processing import plot

from rally_vmperf import opts
from rally_vmperf.plugins.charts import record as table
from rally_vmperf.plugins.charts import run as summary
from rally_vmperf.plugins.scenarios import base
from rally_vmperf.plugins.sla import criteria
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.hostile import attacks
from tests.unit.report import rally_results

#: Rally finds them by their names, once they are imported.
CHARTS = (summary.Run, table.Record)

WORDS = [
    words.encode("utf-8", "replace").decode()
    for words in attacks.WORDS.values()
]
ALL = " ".join(WORDS)


def records():
    """Return records in which every text of a guest is hostile."""
    found = made.records(guests=2, emulated=True)
    for number, record in enumerate(found):
        made.redescribe(record, functools.partial(_describe, WORDS[number]))
        record["findings"] += [
            {"kind": kind, "subject": words, "seen": words}
            for kind in ("wrong_host", "steal_time")
            for words in WORDS
        ]
        names = {
            "g1": attacks.WORDS["mathtext"],
            "g2": attacks.WORDS["svg_text_ended"],
        }
        (only,) = record["conditions"]
        only["machines"] = [names[one] for one in only["machines"]]
    found[-1]["state"] = "incomplete"
    found[-1]["missing"] = [
        {"what": words, "source": words, "reason": words} for words in WORDS
    ]
    return found


def _describe(flavor, details):
    """Have a guest say hostile things of itself."""
    guest = details["g1"]
    guest["fingerprint"] = {
        "virtualisation": ALL,
        **{words: [words, {words: words}] for words in WORDS},
    }
    guest["tools"] = {
        words: {"version": words, "checksum": words} for words in WORDS
    }
    guest["nova"].update(host=ALL, hypervisor=ALL, image={"name": ALL})
    guest["nova"]["flavor"]["name"] = flavor


def curves():
    """Return records of curves in which every text of a guest is hostile."""
    found = made.few(made.broken())
    for record in found:
        made.redescribe(record, functools.partial(_describe, ALL))
        record["machines"][0]["host"] = ALL
        for level in record["conditions"]:
            _spoil(level)
    return found


def _spoil(level):
    names = {
        "g1": attacks.WORDS["mathtext"],
        "g2": attacks.WORDS["svg_text_ended"],
    }
    level["machines"] = [names.get(one, one) for one in level["machines"]]
    level["skipped"] = level["skipped"] and ALL
    level["missing"] += [
        {"what": words, "source": words, "reason": words} for words in WORDS
    ]
    level["findings"] += [
        {"kind": "steal_time", "subject": words, "seen": words}
        for words in WORDS
    ]
    level["starts"] += [
        {**start, "workload": words, "command": words}
        for start in level["starts"][:1]
        for words in WORDS
    ]


def ours():
    """Return the page of ``rally-vmperf report``."""
    limits = {"vmperf_overhead": made.LIMITS}
    return page.standalone([made.run_of(records(), limits)])


def our_curves():
    """Return the page of ``rally-vmperf report`` about two density runs."""
    shown = made.density_run(curves(), made.DENSITY_LIMITS)
    return page.standalone([shown, shown])


def rallys(told=base.told):
    """Return the page of ``rally task report --html-static``.

    :param told: stands between the scenario's errors and Rally
    """
    cfg.CONF.register_opts(opts.OPTIONS, opts.GROUP)
    cfg.CONF.set_override("journal_dir", str(made.FOLDER), opts.GROUP)
    found = [*records(), *(None for _ in WORDS)]
    document = rally_results.results(
        [(found, made.LIMITS), (curves(), made.DENSITY_LIMITS)]
    )
    workload, _ = document["tasks"][0]["subtasks"][0]["workloads"]
    failed = workload["data"][-len(WORDS) :]
    for iteration, words in zip(failed, WORDS, strict=True):
        iteration["error"] = _error(words, told)
    workload["sla_results"] = {"sla": [_verdict(workload["data"])]}
    results = json.loads(json.dumps(document))
    loaded = task_results_loader._update_new_results(results)
    return plot.plot(loaded, include_libs=True)


def _error(words, told):
    """Return an error as Rally keeps it of an iteration."""
    logging.disable()
    try:
        with told():
            raise ValueError(words)
    except Exception as error:
        return utils.format_exc(error)
    finally:
        logging.disable(logging.NOTSET)


def _verdict(iterations):
    sla = criteria.SLAS["vmperf_overhead"](made.LIMITS)
    for iteration in iterations:
        sla.add_iteration(iteration)
    return {
        "criterion": "vmperf_overhead",
        "success": False,
        "detail": sla.details(),
    }
