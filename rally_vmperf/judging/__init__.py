"""Judges, results and verdicts of all questions, without input or output."""
