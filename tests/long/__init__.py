"""Tests that take minutes: they run when VMPERF_LONG is set."""
