# SPDX-License-Identifier: Apache-2.0
"""What an event, such as a live migration, costs a guest."""
