"""What guests need, checked before any is booted."""
