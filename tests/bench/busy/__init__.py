"""The requests of a run to a cloud with many foreign resources."""
