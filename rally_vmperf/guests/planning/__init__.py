"""Requirements of guests, checked before they are booted."""
