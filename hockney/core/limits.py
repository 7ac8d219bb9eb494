# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of the options of a run, and of its dates."""

from __future__ import annotations

MOST_ROUNDS = 10_000
MOST_LAUNCHES = 1000
MOST_NODES = 1_000_000
LARGEST_SEED = 2**63 - 1
CLOCKS_DIFFER_S = 3600.0
"""A date so far in the future comes from a wrong clock."""
