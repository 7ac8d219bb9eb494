# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of the variables for which a model was fitted."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.models.fits.model import RANKS
from hockney.models.statistics import Observation


def ranges_of(observations: Sequence[Observation], *, ranks: bool = False) -> dict[str, tuple[float, float]]:
    """The smallest and the largest size of the cases, by the name of the size parameter, if the workload has
    a size; with `ranks` their numbers of ranks too."""
    ranges: dict[str, tuple[float, float]] = {}
    if name := observations[0].workload.size:
        sizes = [float(each.size) for each in observations]
        ranges[name] = min(sizes), max(sizes)
    if ranks:
        counts = [float(each.case.ranks) for each in observations]
        ranges[RANKS] = min(counts), max(counts)
    return ranges
