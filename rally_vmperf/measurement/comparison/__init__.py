"""Two sides compared: intervals, limits and verdicts."""
