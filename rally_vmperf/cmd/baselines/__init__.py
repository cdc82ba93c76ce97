"""Commands for baselines: record, import, show, compare."""
