"""The embedded test cloud: an OpenStack on one host, in a container."""
