"""The figures of an event, each with its error."""
