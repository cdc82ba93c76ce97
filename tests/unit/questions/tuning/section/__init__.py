"""Tests of the question of tuning."""
