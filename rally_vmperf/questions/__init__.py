"""What can be asked of guests: each question makes its own run."""
