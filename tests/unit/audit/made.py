# SPDX-License-Identifier: Apache-2.0
"""Hosts with values, for tests of the audit."""

from rally_vmperf.audit import hosts
from rally_vmperf.judging import run_capacity
from rally_vmperf.measurement.comparison import medians
from rally_vmperf.measurement.density import max_guests
from rally_vmperf.measurement.samples import sample

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
TIME = sample.Metric(name="cpu.bzip2.compress_time", unit="s", better="lower")
#: Six repetitions that differ by a percent.
USUAL = (100.0, 101.0, 99.0, 100.5, 99.5, 100.2)


def figure(metric=RATE, condition="", setting="test"):
    """Return a figure of guests of the flavor m1.small."""
    return hosts.HostFigure(setting, "m1.small", condition, metric)


def mean(factor=1.0, values=USUAL, metric=RATE):
    """Return the mean of values times a factor."""
    return medians.average(metric, [[value * factor] for value in values])


def host(name, factor=1.0, metrics=(RATE,), **changes):
    """Return a host whose values are those of others times a factor."""
    host_means = {
        figure(metric): mean(
            factor if metric.better == "higher" else 1 / factor, metric=metric
        )
        for metric in metrics
    }
    whole = {
        "cpu_model": "Xeon",
        "cpus": 64,
        "run": f"run-{name}",
        "measured_at": "2026-03-04T05:00:00+00:00",
        "means": host_means,
    }
    return hosts.Host(name=name, **{**whole, **changes})


def guests(tested, high=None, low=None, vcpus=4, has_free_guest=True):
    """Return a number of guests within limits."""
    return hosts.GuestCapacity(
        vcpus=vcpus,
        needs={"VCPU": vcpus, "MEMORY_MB": 8192, "DISK_GB": 40},
        found=run_capacity.RunCapacity(
            number=max_guests.MaxGuests(
                tested=tested, low=tested if low is None else low, high=high
            ),
            largest=8,
            has_free_guest=has_free_guest,
        ),
    )
