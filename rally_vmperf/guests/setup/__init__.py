"""The first login to a cloud, and what the cloud offers to guests."""
