"""Workloads of the disk."""
