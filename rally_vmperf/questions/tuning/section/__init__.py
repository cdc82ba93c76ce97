"""The section of tuning runs in the report."""
