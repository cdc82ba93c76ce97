"""Drawings of a run, as SVG to stand inside a page."""
