"""The questions that a task can ask, and all that only they know."""
