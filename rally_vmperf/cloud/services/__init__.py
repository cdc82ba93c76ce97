"""The services of the embedded cloud, started, watched and ended."""
