"""Files of the embedded cloud on its host."""
