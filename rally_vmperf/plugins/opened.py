"""Connections that Rally's process keeps open between repetitions."""

from rally_vmperf.runs import opened

#: Rally copies its context and makes a new scenario for every iteration.
OPENED = opened.Opened()
