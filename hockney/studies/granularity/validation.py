# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured efficiency, cell by cell, and the assumption that causes an error.

The prediction uses the costs of messages and the preset work, and nothing from the grid. Its assumptions are
replaced by measurements, one after another, until it equals the measurement:

    exchange   an exchange costs what the model of a message predicts  -> the exchange alone, measured
    preset     the work takes the preset time                          -> the work on one rank, measured
    together   a rank computes as fast while all ranks compute         -> its part while all compute, measured
    sum        computation and exchange do not affect each other       -> the cell itself

The change of the efficiency by each replacement is that assumption's part of the error; the parts add up to
it. Ranks that outnumber the cores are predicted to take turns. Neither the time that a message waits for its
receiver's turn nor other programs are predicted.
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
LARGE_ERROR = 0.05
"""Errors of the efficiency above this are explained."""
CORES = "cores"
MAX_LACKING_CORE = 0.05
"""Other programs always use a little. A rank that lacks more than this part of a core is considered
preempted."""
MAX_TYPICAL_ERROR, MAX_ERROR = 0.03, 0.10
"""The targets of the prediction: the median error and the largest error."""


@dataclass(frozen=True)
class Components:
    """The measured components of a cell (s): the exchange, and a rank's part of the work while all ranks
    compute; None if not measured."""

    exchange_s: float | None
    share_s: float | None


@dataclass(frozen=True)
class CheckedCell:
    """A cell with its prediction. `effects` contains the change of efficiency by each of STEPS, or None if a
    measurement is missing; the last step, `sum`, then includes it. `model_s` is the exchange's time by the
    model. `cores` is the number available to the ranks, including those used by other programs.
    `change_bounds` are the sizes (bytes) between which the model cannot locate a change of its line, if the
    cell's messages are between them."""

    cell: Cell
    predicted: Estimate
    components: Components
    model_s: float
    effects: Mapping[str, float | None]
    cores: int
    change_bounds: tuple[float, float] | None = None

    @property
    def error(self) -> float:
        """Measured minus predicted efficiency."""
        return self.cell.efficiency.value - self.predicted.value

    @property
    def is_crowded(self) -> bool:
        """Whether some rank had no core to itself, due to too many ranks or other programs."""
        return self.cell.ranks + self.cell.outside_cores > self.cores + MAX_LACKING_CORE

    @property
    def failed_assumption(self) -> str:
        """The assumption that causes most of a large error; "" if the error is small. Losses of preempted
        ranks appear in the last two steps."""
        if abs(self.error) <= LARGE_ERROR:
            return ""
        sign = 1 if self.error > 0 else -1
        main_step = max(STEPS, key=lambda step: sign * (self.effects[step] or 0.0))
        return CORES if self.is_crowded and sign < 0 and main_step in STEPS[2:] else main_step


@dataclass(frozen=True)
class ErrorSummary:
    """Absolute errors of the predicted efficiency over some cells."""

    cell_count: int
    typical: float
    worst: float

    @property
    def is_within_limits(self) -> bool:
        return self.typical <= MAX_TYPICAL_ERROR and self.worst <= MAX_ERROR


def check(
    evidence: Evidence, measured: Sequence[Cell], messages: PointToPointCosts, cores: int
) -> tuple[CheckedCell, ...]:
    """Every cell with its prediction, on a machine with `cores` cores."""
    exchange_times = {
        (result.case.ranks, result.size): result.summary.typical.value
        for result in evidence.of("round_robin", exchange="ordered")
    }
    share_times = {
        (result.case.ranks, result.case.number("work")): result.summary.typical.value
        for result in evidence.of("compute")
    }
    return tuple(
        _check_cell(
            cell,
            messages.spread_over(cell.nodes),
            Components(
                exchange_times.get((cell.ranks, cell.bytes)),
                share_times.get((cell.ranks, cell.work_s / cell.ranks)),
            ),
            cores,
        )
        for cell in measured
    )


def error_summary(checked: Sequence[CheckedCell]) -> ErrorSummary | None:
    if not checked:
        return None
    errors = [abs(entry.error) for entry in checked]
    return ErrorSummary(len(errors), median(errors), max(errors))


def predict(cell: Cell, messages: PointToPointCosts) -> Estimate:
    """Equation 6 for ranks that take turns on shared cores. The interval follows from the fit's: a longer
    exchange gives a lower efficiency."""
    algorithm = with_shared_cores(cell.algorithm, cell.ranks, messages.max_ranks)
    value = efficiency(algorithm, messages, cell.ranks)
    factors = exchange_bounds(messages, cell.bytes, cell.ranks)
    if factors is None or cell.ranks == 1:
        return Estimate(value, None, None)
    low, high = (efficiency(algorithm, messages, cell.ranks, factor) for factor in reversed(factors))
    return Estimate(value, min(low, value), max(high, value))


def _check_cell(cell: Cell, messages: PointToPointCosts, components: Components, cores: int) -> CheckedCell:
    predicted = predict(cell, messages)
    work, alone_s, ranks = cell.work_s, cell.one_rank.value, cell.ranks
    model_s = exchange_time(messages, cell.bytes, ranks)
    exchange_s = model_s if components.exchange_s is None or ranks == 1 else components.exchange_s
    sharing_factor = max(1.0, ranks / messages.max_ranks) if messages.max_ranks else 1.0
    share_s = sharing_factor * alone_s / ranks if components.share_s is None else components.share_s
    efficiencies = (
        predicted.value,
        _efficiency(cell, work, sharing_factor * work / ranks, exchange_s),
        _efficiency(cell, alone_s, sharing_factor * alone_s / ranks, exchange_s),
        _efficiency(cell, alone_s, share_s, exchange_s),
        cell.efficiency.value,
    )
    steps = zip(STEPS, pairwise(efficiencies), strict=True)
    effects: dict[str, float | None] = {step: after - before for step, (before, after) in steps}
    if components.exchange_s is None:
        effects["exchange"] = None
    if components.share_s is None:
        effects["together"] = None
    return CheckedCell(
        cell, predicted, components, model_s, effects, cores, messages.change_around(cell.bytes, ranks)
    )


def _efficiency(cell: Cell, alone_s: float, share_s: float, exchange_s: float) -> float:
    """Equation 6 from the times of the whole work on one rank, of a rank's equal share, and of the
    exchange."""
    if cell.ranks == 1:
        return alone_s / (cell.serial * alone_s + (1 - cell.serial) * share_s)
    busy_s = cell.serial * alone_s + (1 - cell.serial) * cell.imbalance * share_s
    return alone_s / (cell.ranks * (busy_s + exchange_s))


def separate_time_s(checked: CheckedCell) -> float:
    """The cell's time as the sum of separate measurements."""
    cell, components = checked.cell, checked.components
    share_s = cell.one_rank.value / cell.ranks if components.share_s is None else components.share_s
    busy_s = cell.serial * cell.one_rank.value + (1 - cell.serial) * cell.imbalance * share_s
    return busy_s + (checked.model_s if components.exchange_s is None else components.exchange_s)
