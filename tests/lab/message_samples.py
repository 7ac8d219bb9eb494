# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of measuring."""

from __future__ import annotations

SAMPLES = {
    "available": [("sim:t3e", "sim:ibm-sp")],
    "built_here": [True, False],
    "field": ["cpu", "mpi", "host"],
    "threads": [4],
    "ranks": [2],
    "too_many_ranks.ranks": [9999],
    "limit": [64],
    "period_over.left": [1, 2],
    "budget_used_up.left": [12],
    "late": [4],
    "rounds_late.count": [5],
    "late_s": [12.5],
    "every_s": [60.0],
    "free": [64 << 20],
    "cached": [True, False],
    "seconds": [42.0],
    "cores": [4],
}
