# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of measuring."""

from __future__ import annotations

from hockney.core.fit import Modes
from hockney.core.layout import Layout

SAMPLES = {
    Layout: [Layout(2, 4), Layout(1, 1)],
    Modes: [
        Modes(fast_s=450e-9, slow_s=620e-9, slow_share=0.31, dwell_s=0.62),
        Modes(fast_s=450e-9, slow_s=620e-9, slow_share=0.31, dwell_s=None),
    ],
    "too_few_cores.cores": [1],
    "ends": [(450e-9, 640e-9)],
    "reached": [{30.0: 0.0213, 300.0: 0.0061}],
    "preempted": [0.034],
    "steal": [0.02, None],
    "watched_s": [7.8, 55.0],
    "available": [("sim:t3e", "sim:ibm-sp")],
    "no_such_level.place": ["core", "cache", "network"],
    "no_such_level.available": [("socket", "node")],
    "built_here": [True, False],
    "levels": [("node", "network")],
    "field": ["cpu", "mpi", "host"],
    "threads": [4],
    "ranks": [2],
    "too_many_ranks.ranks": [9999],
    "limit": [64],
    "size": [1 << 40],
    "memory": [25 << 30],
    "too_much_memory.ranks": [1, 2],
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
