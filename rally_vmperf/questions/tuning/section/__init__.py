"""The report of runs that compare variants of a guest."""
