# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of this study's caveats."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.wording import listing, plural, together
from hockney.draw.page import Caveat
from hockney.pages.format import percent, quantity


def oversubscribed(ranks: Sequence[int], cores: int, limits: Sequence[str]) -> Caveat:
    """`limits` are the highest efficiencies that are possible on these numbers of ranks."""
    counts = together(ranks)
    highest = ", ".join(f"{limit} on {p} ranks" for limit, p in zip(limits, ranks, strict=True))
    return Caveat(
        "oversubscribed",
        f"{counts} ranks share {plural(cores, 'core')}: their efficiency is at most cores / ranks "
        f"({highest}), and a message waits until the scheduler runs its receiver, which can take "
        "milliseconds",
        f"cases on {counts} ranks",
        "use fewer ranks (--ranks) or a larger machine; in predictions, ranks on one core compute in turn "
        "but do not wait for the scheduler",
    )


def preset_missed(measurements: int, work_s: float, error: float, cases: Sequence[str]) -> Caveat:
    """The worst of them missed `work_s` by `error`."""
    return Caveat(
        "preset",
        f"in {plural(measurements, 'measurement')} the ranks did not compute for the preset time: the worst "
        f"missed {quantity(work_s, 's')} by {percent(error)}",
        listing(list(cases)),
        "efficiencies are based on measured serial times, so this matters where ranks differ; "
        "measure again on a quiet machine",
    )


def above_one(cells: int, highest: str, where: str, low: str) -> Caveat:
    """`low` is the lower end of the interval of the highest one; "" without an interval."""
    known = f" (95%: at least {low})" if low else " (no interval)"
    return Caveat(
        "efficiency-above-one",
        f"efficiencies above 100% in {plural(cells, 'cell')}, up to {highest}{known}: the work took longer "
        "on one rank than all ranks together spent on it, because the machine was slower while one rank was "
        "measured",
        where,
        "measure again on a quiet machine, with a larger --budget: then both are measured in more launches",
    )


def grid_reduced(budget: str, longest_s: float | None, details: bool, enough: str) -> Caveat:
    """`longest_s` is the longest work measured, if longer ones were left out; `details`: uneven work and
    other exchanges were measured. `budget` and `enough` are as typed after --budget."""
    missing = [] if longest_s is None else [f"work longer than {quantity(longest_s, 's')}"]
    if not details:
        missing.append("uneven work and exchanges with other MPI calls")
    return Caveat(
        "grid-reduced",
        f"a budget of {budget} is too small for the whole grid, which lacks {' and '.join(missing)}",
        "the extent of the grid",
        f"use --budget {enough} or more",
    )


def poor_model(reason: str, cores: int, *, within: bool) -> Caveat:
    """On nodes of several `cores`, the model is for messages on one node, or for those between nodes."""
    where = f"up to {cores} ranks, of one node" if within else f"more than {cores} ranks"
    return Caveat(
        "model",
        f"the model of messages is poor: {reason or 'it does not describe the ping-pong well'}",
        "all predictions" if cores < 2 else f"predictions on {where}",
        "survey again with more time or on a quiet machine",
    )


def extrapolated(sizes: Sequence[str]) -> Caveat:
    return Caveat(
        "extrapolated",
        "the model of messages was fitted to other sizes",
        f"predictions with messages of {listing(list(sizes))}",
        "survey with --sizes up to the largest message",
    )
