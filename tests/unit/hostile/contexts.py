# SPDX-License-Identifier: Apache-2.0
"""Contexts of the product that failed, with quotes from a hostile cloud."""

import itertools
from unittest import mock

from openstack import exceptions as sdk_errors

from rally_vmperf.baseline import document
from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import waiting
from rally_vmperf.guests.cleanup import removal
from tests.unit import made
from tests.unit.hostile import records
from tests.unit.plugins.contexts import test_guests


def _unanswered(case):
    case.cloud.compute.console = records.ALL
    case.reach.return_value = [arrival.Arrival(error=records.ALL)] * 2


def _rename(kind):
    def rename(case):
        for service in (case.cloud.network, case.cloud.compute):
            for resource in getattr(service, f"all_{kind}", ()):
                resource.name = records.ALL

    return rename


def _raise(error):
    def fail(name, done):
        raise error

    def spoil(case):
        case.cloud.interrupt = fail

    return spoil


#: What fails while guests are made -> what makes it fail, quoting all words.
FAULTS = {
    "network": _rename("networks"),
    "flavor": _rename("flavors"),
    "console": _unanswered,
    "refusal": _raise(
        sdk_errors.HttpException("x", http_status=500, details=records.ALL)
    ),
    "defect": _raise(ValueError(records.ALL)),
}


def failed():
    """Return the errors by which the contexts failed, all hostile."""
    failures = {name: _failure(spoil) for name, spoil in FAULTS.items()}
    try:
        document.decode(
            made.document(made.baseline(), **{records.ALL: records.ALL}),
            f"baseline {records.ALL}",
        )
    except document.BaselineError as error:
        failures["baseline"] = error
    return failures


def _failure(spoil):
    case = test_guests.Case()
    # Nobody sleeps there, and what waits is to see the time pass.
    clock = mock.Mock(monotonic=itertools.count(0, 5).__next__)
    try:
        case.setUp()
        for module in (removal, waiting):
            case.enterContext(mock.patch.object(module, "time", clock))
        spoil(case)
        case.context().setup()
    except Exception as error:
        return error
    finally:
        case.doCleanups()
    raise AssertionError("the context did not fail")
