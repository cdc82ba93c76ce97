# SPDX-License-Identifier: Apache-2.0
"""The figures of an event, each with its error."""
