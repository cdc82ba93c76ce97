"""How guests degrade as more of them share a host, and how many fit."""
