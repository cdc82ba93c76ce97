"""Ownership and removal of the resources of runs in a cloud."""
