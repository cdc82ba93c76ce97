"""Projects, users, flavors, networks and images of the embedded cloud."""
