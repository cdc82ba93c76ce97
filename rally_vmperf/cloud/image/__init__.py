"""The guest image, and packages for guests."""
