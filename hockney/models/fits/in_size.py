# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A collective's cost as a piecewise function of size at one rank count: libraries change algorithm with the
size.

The search is that of a message between two ranks (`piecewise`): it prefers one line unless several describe
the times so much better that its criterion justifies them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Fit, FittedParameter, Subject
from hockney.core.units import format_bytes
from hockney.models.fits.model import ranges_of
from hockney.models.fits.piecewise import curve_of, fit_piecewise, segments_of
from hockney.models.fits.verdict import uncertainty, verdict
from hockney.models.statistics import Observation, tabulate

FEWEST_SIZES = 6
"""Two pieces of three points."""


def fit_in_size(observations: Sequence[Observation], subject: Subject, note: str) -> Fit | None:
    """The piecewise fit; None if there are too few sizes, or if a single straight line is enough.

    Parameters by symbol: a (s), the constant cost in the piece of the smallest messages; c (s/B), the cost
    per byte in that of the largest.
    """
    seen = sorted(observations, key=lambda each: each.size)
    sizes = np.array([float(each.size) for each in seen])
    if len(set(sizes)) < max(FEWEST_SIZES, len(sizes)):
        return None
    table = tabulate(seen)
    fit = fit_piecewise(sizes, table)
    if len(fit.lines) < 2:
        return None
    changes = fit.changes()
    segments = segments_of(fit, changes)
    first, last = format_bytes(changes[0].value), format_bytes(changes[-1].value)
    small = FittedParameter(
        name="constant cost", symbol="a", unit="s", estimate=segments[0].latency, note=f"below {first}"
    )
    large = FittedParameter(
        name="cost of a byte", symbol="c", unit="s/B", estimate=segments[-1].per_byte, note=f"from {last}"
    )
    fitted = fit.center.time(sizes)[0]
    widths = {
        "a": uncertainty(small.estimate, float(1 / fit.times.min())),
        "c": uncertainty(large.estimate, float((sizes / fit.times).max())),
    }
    pieces = f"{len(segments)} pieces in size"
    return Fit(
        model="size",
        line=subject.line,
        parameters=[small, large],
        segments=segments,
        change_points=changes,
        curve=curve_of(fit, changes),
        ranges=ranges_of(seen),
        **verdict(fit.times, fitted, errors=table.errors, widths=widths, lead=pieces, note=note),
    )
