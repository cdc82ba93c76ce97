"""The guest image, and packages of tools for guests and bundles."""
