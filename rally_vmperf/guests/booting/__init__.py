"""Boot, placement, addresses and power state of guests."""
