# SPDX-License-Identifier: Apache-2.0
"""A run: repetitions of conditions, with Rally, Tempest or neither.

What a question asks for comes in as conditions, actions and a rule for when
enough was measured; nothing here knows which question it is.
"""
