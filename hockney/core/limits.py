# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of the options of a run."""

from __future__ import annotations

MOST_ROUNDS = 10_000
MOST_LAUNCHES = 1000
MOST_NODES = 1_000_000
LARGEST_SEED = 2**63 - 1
