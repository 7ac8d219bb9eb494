# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured efficiency, cell by cell, and which assumption causes an error.

The prediction uses the costs of messages and the preset work, nothing of the grid. Its assumptions are
replaced by measurements, one after another, until it equals the measurement:

    exchange   an exchange costs what the model of a message predicts  -> the exchange alone, measured
    preset     the work takes the preset time                          -> the work on one rank, measured
    together   a rank computes as fast while all ranks compute         -> its part while all compute, measured
    sum        computation and exchange do not affect each other       -> the cell itself

The change of the efficiency by each replacement is that assumption's part of the error; the parts add up to
it. Ranks that outnumber the cores are predicted to take turns; the time that a message then waits for its
receiver's turn is not predicted, nor are other programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from hockney.core.fit import Estimate
from hockney.models.applications.granularity import efficiency, with_shared_cores
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_bounds, exchange_time
from hockney.pages.evidence import Evidence
from hockney.studies.granularity.results import Cell

STEPS = ("exchange", "preset", "together", "sum")
MUCH = 0.05
"""An error of the efficiency by this much is explained."""
CORES = "cores"
SPARE = 0.05
"""Other programs always use a little; a rank that lacks more than this of a core is being preempted."""
TYPICAL, WORST = 0.03, 0.10
"""The targets of the prediction: the median error, and the largest."""


@dataclass(frozen=True)
class Apart:
    """The measured components of a cell: the exchange, and a rank's part of the work while all compute (s);
    None if not measured."""

    exchange: float | None
    share: float | None


@dataclass(frozen=True)
class Checked:
    """`parts` is the change of efficiency by each of STEPS; `model_s` is the exchange's time by the model. A
    part is None if a measurement for it is missing; the last one, `sum`, then includes it. `cores` is the
    number available to the ranks, without subtracting other programs' load; `gap` are the sizes (bytes)
    between which the model cannot locate a change of its line, if the cell's messages lie there."""

    cell: Cell
    predicted: Estimate
    apart: Apart
    model_s: float
    parts: Mapping[str, float | None]
    cores: int
    gap: tuple[float, float] | None = None

    @property
    def error(self) -> float:
        """Measured minus predicted."""
        return self.cell.efficiency.value - self.predicted.value

    @property
    def crowded(self) -> bool:
        """Whether some rank had no core to itself: too many ranks, or other programs meanwhile."""
        return self.cell.ranks + self.cell.outside > self.cores + SPARE

    @property
    def breaks(self) -> str:
        """The assumption that causes most of a large error; "" if the error is small. Losses of preempted
        ranks appear in the last two steps."""
        if abs(self.error) <= MUCH:
            return ""
        sign = 1 if self.error > 0 else -1
        most = max(STEPS, key=lambda step: sign * (self.parts[step] or 0.0))
        return CORES if self.crowded and sign < 0 and most in STEPS[2:] else most


@dataclass(frozen=True)
class ErrorSummary:
    """Absolute errors of the predicted efficiency over some cells."""

    cells: int
    typical: float
    worst: float

    @property
    def holds(self) -> bool:
        return self.typical <= TYPICAL and self.worst <= WORST


def check(
    evidence: Evidence, measured: Sequence[Cell], messages: PointToPointCosts, cores: int
) -> tuple[Checked, ...]:
    """Every cell with its prediction, on a machine with `cores` cores."""
    exchange = {
        (m.case.ranks, m.size): m.summary.typical.value
        for m in evidence.of("round_robin", exchange="ordered")
    }
    share = {(m.case.ranks, m.case.number("work")): m.summary.typical.value for m in evidence.of("compute")}
    return tuple(
        _checked(
            cell,
            messages.spread_over(cell.nodes),
            Apart(exchange.get((cell.ranks, cell.bytes)), share.get((cell.ranks, cell.work_s / cell.ranks))),
            cores,
        )
        for cell in measured
    )


def error_summary(checked: Sequence[Checked]) -> ErrorSummary | None:
    if not checked:
        return None
    errors = [abs(each.error) for each in checked]
    return ErrorSummary(len(errors), median(errors), max(errors))


def predict(cell: Cell, messages: PointToPointCosts) -> Estimate:
    """Equation 6, with ranks that share cores taking turns, with the interval from the fit's: a longer
    exchange gives a lower efficiency."""
    algorithm = with_shared_cores(cell.algorithm, cell.ranks, messages.max_ranks)
    value = efficiency(algorithm, messages, cell.ranks)
    ends = exchange_bounds(messages, cell.bytes, cell.ranks)
    if ends is None or cell.ranks == 1:
        return Estimate(value, None, None)
    low, high = (efficiency(algorithm, messages, cell.ranks, factor) for factor in reversed(ends))
    return Estimate(value, min(low, value), max(high, value))


def _checked(cell: Cell, messages: PointToPointCosts, apart: Apart, cores: int) -> Checked:
    predicted = predict(cell, messages)
    work, alone, p = cell.work_s, cell.one_rank.value, cell.ranks
    model_s = exchange_time(messages, cell.bytes, p)
    exchange = model_s if apart.exchange is None or p == 1 else apart.exchange
    crowd = max(1.0, p / messages.max_ranks) if messages.max_ranks else 1.0
    share = crowd * alone / p if apart.share is None else apart.share
    ladder = (
        predicted.value,
        _efficiency(cell, work, crowd * work / p, exchange),
        _efficiency(cell, alone, crowd * alone / p, exchange),
        _efficiency(cell, alone, share, exchange),
        cell.efficiency.value,
    )
    steps = zip(STEPS, pairwise(ladder), strict=True)
    parts: dict[str, float | None] = {step: after - before for step, (before, after) in steps}
    if apart.exchange is None:
        parts["exchange"] = None
    if apart.share is None:
        parts["together"] = None
    return Checked(cell, predicted, apart, model_s, parts, cores, messages.change_around(cell.bytes, p))


def _efficiency(cell: Cell, alone_s: float, share_s: float, exchange_s: float) -> float:
    """Equation 6 from the times of the whole work on one rank, of a rank's equal share, of the exchange."""
    if cell.ranks == 1:
        return alone_s / (cell.serial * alone_s + (1 - cell.serial) * share_s)
    busy_s = cell.serial * alone_s + (1 - cell.serial) * cell.imbalance * share_s
    return alone_s / (cell.ranks * (busy_s + exchange_s))


def _parts(checked: Checked) -> float:
    """The cell's time as the sum of separate measurements."""
    cell, apart = checked.cell, checked.apart
    share = cell.one_rank.value / cell.ranks if apart.share is None else apart.share
    busy = cell.serial * cell.one_rank.value + (1 - cell.serial) * cell.imbalance * share
    return busy + (checked.model_s if apart.exchange is None else apart.exchange)
