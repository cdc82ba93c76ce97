"""Guests booted, placed, reached, paused and stopped."""
