"""What an event, such as a live migration, costs a guest."""
