"""The machine that carries the embedded cloud: programs, packages, mounts."""
