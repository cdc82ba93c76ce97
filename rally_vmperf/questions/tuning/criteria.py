"""The criteria of tuning."""

CRITERIA = ()
