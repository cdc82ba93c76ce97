"""The container of the embedded cloud: its root, processes and hosts."""
