"""Installation of programs on machines."""
