"""Workloads on machines: what the scenarios and the baseline recorder share.

The same code measures guests and bare metal, so that a difference between
them is never one of method.
"""
