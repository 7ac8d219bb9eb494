# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Writes contract/golden/median_interval.json: `python tests/models/make_golden_intervals.py`.

Run it only if the rule in hockney/models/statistics/interval.py is changed on purpose; the engine must be
changed too.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from hockney.models.statistics.interval import median_interval

GOLDEN = Path(__file__).parents[2] / "contract" / "golden" / "median_interval.json"


def examples() -> list[np.ndarray]:
    """Times in microseconds, in the order measured."""
    rng = np.random.default_rng(1994)

    def tail(n: int) -> np.ndarray:
        return 0.4 * (1 + rng.pareto(2.5, n))

    def slow(n: int, rho: float) -> np.ndarray:
        z = [rng.standard_normal()]
        for _ in range(n - 1):
            z.append(rho * z[-1] + math.sqrt(1 - rho * rho) * rng.standard_normal())
        return 1.2 * np.exp(0.2 * np.array(z))

    def modes(n: int, dwell: float) -> np.ndarray:
        state = np.cumsum(rng.random(n) < 1 / dwell) % 2
        return np.where(state, 1.9, 1.1) * np.exp(0.02 * rng.standard_normal(n))

    return [
        *(tail(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 33, 64, 100, 101, 400)),
        np.full(6, 0.5),
        np.full(50, 0.5),
        np.round(tail(30), 1),
        np.round(tail(100) * 8) / 8,
        np.where(np.arange(40) % 2, 1.0, 2.0),
        np.where(np.arange(40) < 20, 1.0, 2.0),
        np.arange(1, 61) / 10,
        slow(12, 0.5),
        slow(60, 0.9),
        slow(100, 0.7),
        slow(399, 0.95),
        modes(100, 3),
        modes(300, 25),
        np.r_[modes(80, 200)[:40], modes(80, 5)],
    ]


def case(times_us: np.ndarray) -> dict:
    times = [float(f"{t * 1e-6:.5e}") for t in times_us]
    median, low, high = median_interval(times)
    return {"times_s": times, "median": median, "low": low, "high": high}


if __name__ == "__main__":
    lines = [json.dumps(case(times)) for times in examples()]
    GOLDEN.write_text("[\n" + ",\n".join(lines) + "\n]\n")
