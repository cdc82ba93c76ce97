"""Runs that others made: raw outputs of tools, and baselines of them."""
