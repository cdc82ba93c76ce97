"""Commands for the first run: init and run."""
