# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a fitted collective. Does not import numpy, so pages of stored fits can be written without
it."""

from __future__ import annotations

import math

from hockney.core.fit import Fit

FORMS = ("logarithmic", "linear", "size")
"""Models of a collective, each named like its form."""


def step_count(form: str, ranks: int) -> float:
    """Factor of b + c m in a form for this number of ranks."""
    if form == "logarithmic":
        return math.ceil(math.log2(ranks))
    return 1.0 if form == "size" else ranks - 1.0


def collective_time(fit: Fit, ranks: int, size: float) -> float:
    """Seconds predicted by a fit of `collective`; a piecewise fit holds for its rank count only."""
    if fit.segments:
        matching_segment = next(
            (segment for segment in reversed(fit.segments) if segment.first <= size), fit.segments[0]
        )
        return matching_segment.latency.value + matching_segment.per_byte.value * size
    values = {parameter.symbol: parameter.estimate.value for parameter in fit.parameters}
    factor = step_count(fit.model, ranks)
    return values.get("a", 0.0) + (values.get("b", 0.0) + values.get("c", 0.0) * size) * factor
