# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a fitted collective. Needs no numpy, so that a page of stored fits is written without it."""

from __future__ import annotations

import math

from hockney.core.fit import Fit

FORMS = ("logarithmic", "linear", "size")
"""The models of a collective; each is the name of a form."""


def steps(form: str, ranks: int) -> float:
    """The factor of b + c m in a form, for p ranks."""
    if form == "logarithmic":
        return math.ceil(math.log2(ranks))
    return 1.0 if form == "size" else ranks - 1.0


def collective_time(fit: Fit, ranks: int, size: float) -> float:
    """Seconds predicted by a fit of `collective`; a piecewise one holds for its rank count only."""
    if fit.segments:
        piece = next((s for s in reversed(fit.segments) if s.first <= size), fit.segments[0])
        return piece.latency.value + piece.per_byte.value * size
    value = {p.symbol: p.estimate.value for p in fit.parameters}
    factor = steps(fit.model, ranks)
    return value.get("a", 0.0) + (value.get("b", 0.0) + value.get("c", 0.0) * size) * factor
