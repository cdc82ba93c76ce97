"""Workloads of Acme."""
