"""Workloads of the processor."""
