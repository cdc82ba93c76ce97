"""Workloads of the network."""
