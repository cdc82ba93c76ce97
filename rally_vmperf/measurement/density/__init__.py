"""The degradation of guests that share a host, and their capacity."""
