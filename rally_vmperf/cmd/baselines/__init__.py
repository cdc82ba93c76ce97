"""Commands over baselines: record, import, show, compare."""
