# SPDX-License-Identifier: Apache-2.0
"""Projects, users, flavors, networks and images of the embedded cloud."""
