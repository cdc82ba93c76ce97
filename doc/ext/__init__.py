"""Generators of reference pages from the package."""
