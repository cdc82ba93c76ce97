"""Workloads that are whole applications."""
