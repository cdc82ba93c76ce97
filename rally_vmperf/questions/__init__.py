"""The questions of tasks: criteria, checks, runs and report sections."""
