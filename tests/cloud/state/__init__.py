"""The state that the embedded cloud keeps on disk."""
