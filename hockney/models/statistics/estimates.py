# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A value with its interval."""

from __future__ import annotations

import numpy as np

from hockney.core.fit import Estimate

WIDEST = 100.0
"""An interval with ends further apart than this factor counts as unknown: two or three launches that disagree
by tens of percent give an interval from nanoseconds to minutes, which only shows that they disagree
(`between`)."""


def estimate(value: float, low: float, high: float) -> Estimate:
    """An estimate whose unknown ends (nan, infinite) are None and that lies within its interval."""
    return Estimate(
        float(value),
        float(min(low, value)) if np.isfinite(low) else None,
        float(max(high, value)) if np.isfinite(high) else None,
    )
