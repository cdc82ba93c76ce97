"""Machines with their part in a run: reached, watched, clocks compared."""
