"""Bridges, packet filter and routes of the embedded cloud."""
