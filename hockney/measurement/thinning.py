# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fewer sizes of each workload, so that more launches fit into a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog

FEWEST_SIZES = 3


def thinned(
    cases: Sequence[Case], catalog: Catalog, enough: Callable[[Sequence[Case]], bool]
) -> tuple[Case, ...]:
    """The cases with as many sizes of each workload as leave `enough` of them out, evenly spread from the
    smallest to the largest; FEWEST_SIZES at least."""
    curves: dict[Case, list[Case]] = {}
    for case in cases:
        curves.setdefault(_without_size(case, catalog), []).append(case)
    for curve in curves.values():
        curve.sort(key=lambda case: catalog.entry(case.workload).size_of(case))
    kept: tuple[Case, ...] = tuple(cases)
    for most in range(max(map(len, curves.values()), default=0), FEWEST_SIZES - 1, -1):
        chosen = {case for curve in curves.values() for case in _spread(curve, most)}
        kept = tuple(case for case in cases if case in chosen)
        if enough(kept):
            break
    return kept


def _without_size(case: Case, catalog: Catalog) -> Case:
    size = catalog.entry(case.workload).size
    return case.with_parameter(size, 0) if size and size in case else case


def _spread(curve: Sequence[Case], most: int) -> list[Case]:
    if len(curve) <= most:
        return list(curve)
    return [curve[round(k * (len(curve) - 1) / (most - 1))] for k in range(most)]
