"""The command that audits the hosts of a cloud."""
