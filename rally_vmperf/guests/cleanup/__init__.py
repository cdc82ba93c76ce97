"""What runs own in a cloud, and its removal."""
