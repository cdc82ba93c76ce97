"""The figures of a live migration, each with its error."""
