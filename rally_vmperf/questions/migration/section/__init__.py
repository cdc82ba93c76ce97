"""The section of the report on migration."""
