# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which assumption of a model fails for a program: the one whose repair alone corrects most of the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hockney.suites.bsp.models.costs import REPAIRS, Base, CostModel, NotMeasured, Repair, predict
from hockney.suites.bsp.models.parameters import BulkCosts
from hockney.suites.bsp.models.superstep import Superstep

CLOSE = 0.1
"""A model with a smaller relative error is right."""
CORRECTED = 1 / 3
"""An assumption is named if its repair removes at least this part of the error."""

ASSUMPTIONS: dict[Repair, str] = {
    "startups": "every superstep pays for the messages of a full relation",
    "sparse": "the bytes of a message travel during the startups of others",
    "balance": "all ranks send as much as the busiest one",
    "copies": "a rank copies no data in its own memory",
}
"""What a model assumes, by the repair that drops it."""


@dataclass(frozen=True)
class Diagnosis:
    """`error` is (predicted - measured) / measured of the model `base`; `failing` the assumption whose repair
    corrects most of it (None if the error is small, or if no repair corrects enough), and `corrected` the
    error with that repair."""

    base: Base
    error: float
    failing: Repair | None = None
    corrected: float | None = None


def relative_error(predicted: float, measured: float) -> float:
    return predicted / measured - 1


def diagnose(
    supersteps: Sequence[Superstep], machine: BulkCosts, base: Base, measured: float
) -> Diagnosis | None:
    """The error of the model `base` and the assumption that fails; None if the model's parameters were not
    measured."""
    try:
        error = relative_error(predict(supersteps, machine, CostModel(base)).total, measured)
    except NotMeasured:
        return None
    tried: dict[Repair, float] = {}
    for repair in REPAIRS[base]:
        try:
            time = predict(supersteps, machine, CostModel(base, frozenset({repair}))).total
        except NotMeasured:
            continue
        tried[repair] = relative_error(time, measured)
    best = min(tried, key=lambda repair: abs(tried[repair]), default=None)
    if best is None or abs(error) <= CLOSE or abs(tried[best]) > (1 - CORRECTED) * abs(error):
        return Diagnosis(base, error)
    return Diagnosis(base, error, best, tried[best])
