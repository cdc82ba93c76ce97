"""The host that builds an image: programs, packages, mounts, locks."""
