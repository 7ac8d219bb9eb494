# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicts how long compiling takes here: the time on a machine with two idle cores, scaled by this machine's
speed, cores, and load."""

from __future__ import annotations

import os
import time

from hockney.core.units import format_seconds

ENGINE_S, SIMULATED_ENGINE_S, LIBRARY_S, SIMGRID_S = 20.0, 25.0, 24.0, 190.0
"""Times on two idle virtual cores of an AMD EPYC with GCC 12."""
CORES = 2
LOOP, LOOP_S = 20_000, 0.70e-3
"""Rounds of the loop that measures the speed of a core, and its time on that machine (s)."""
MOST_CORES = 8
"""More cores are not faster, as the last files depend on each other."""


def expected(there_s: float) -> str:
    """Format the predicted time, such as "about 50 s", of a build that takes `there_s` seconds on the
    reference machine."""
    cores = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    load = os.getloadavg()[0] / cores
    seconds = there_s * _core_s() / LOOP_S * CORES / min(cores, MOST_CORES) * (1 + load)
    step = 10 if seconds < 100 else 60
    return f"about {format_seconds(max(step, round(seconds / step) * step), 2)}"


def _core_s() -> float:
    """Return the shortest time of the loop. The minimum excludes background load, which must not count
    twice."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        sum(k * k for k in range(LOOP))
        times.append(time.perf_counter() - began)
    return min(times)
