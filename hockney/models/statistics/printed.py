# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How far rounding may have moved the typical time of printed numbers, and hidden their differences.

A time printed with an error of up to h, such as 0.20 us with two decimals, is off by up to h / t, in all
launches in the same direction if they hardly differ. Launches that print the same number may differ by h as
well: as uniformly distributed errors they have the variance h**2 / 3, so that the interval of the mean of n
equal numbers is Student's with the standard error h / sqrt(3 n) (W. F. Sheppard, Proc. London Math. Soc. 29
(1898) 353).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.core.record import ROUNDING, Record
from hockney.models.statistics.location import student


def rounding_half_width(records: Sequence[Record], log_center: float) -> float:
    """The least half width of the interval of the log of the typical time; 0 for times that were not
    rounded."""
    if not records or records[0].origin != "imported":
        return 0.0
    error = max(record.metric(ROUNDING) or 0.0 for record in records) / math.exp(log_center)
    count = len(records)
    hidden = student(count - 1) * error / math.sqrt(3 * count) if count > 1 else 0.0
    return math.log1p(max(error, hidden))
