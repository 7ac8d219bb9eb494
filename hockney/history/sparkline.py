# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A series as a line of characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.models.statistics import FEWEST_TO_WINSORISE, winsorised

BLOCKS = "▁▂▃▄▅▆▇█"
WIDEST = 24
LEAST_RANGE = 0.02
"""A change of less than 2% does not fill the height."""


def sparkline(values: Sequence[float], width: int = WIDEST) -> str:
    """The logarithms `values`, or means of several; outliers do not set the scale."""
    if len(values) >= FEWEST_TO_WINSORISE:
        values = [float(each) for each in winsorised(np.array(values))]
    groups = max(1, -(-len(values) // width))
    means = [sum(part) / len(part) for k in range(0, len(values), groups) if (part := values[k : k + groups])]
    low, high = min(means), max(means)
    span = max(high - low, LEAST_RANGE)
    middle = (low + high) / 2
    steps = len(BLOCKS)
    return "".join(BLOCKS[min(steps - 1, int(((v - middle) / span + 0.5) * steps))] for v in means)
