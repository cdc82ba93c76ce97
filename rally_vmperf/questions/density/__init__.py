"""The degradation of guests that share a host, and the host's capacity."""
