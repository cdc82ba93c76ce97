"""Samples: values, distributions, series, and their units."""
