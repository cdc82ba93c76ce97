# SPDX-License-Identifier: Apache-2.0
"""The requests of a run to a cloud with many foreign resources."""
