# SPDX-License-Identifier: Apache-2.0
"""The embedded test cloud: an OpenStack on one host, in a container."""
