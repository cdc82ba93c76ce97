"""Programs that run on the machines."""
