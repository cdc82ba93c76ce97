"""The questions that a task can ask: criteria, checks, runs, sections."""
