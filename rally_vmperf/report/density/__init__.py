"""What a page shows of guests that degrade as their number grows."""
