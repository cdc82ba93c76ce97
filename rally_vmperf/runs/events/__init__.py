"""Events that happen to a guest during a run; one module for each."""
