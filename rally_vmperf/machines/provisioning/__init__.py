"""Programs on machines: found, installed, or brought along."""
