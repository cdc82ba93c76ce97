"""Tests of the section on migration."""
