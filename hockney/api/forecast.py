# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted performance of a parallel algorithm on a machine with known message times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hockney import measurement
from hockney.api import find_runs
from hockney.api.export import Library, forecast_table, frame
from hockney.api.programs import default_max_ranks
from hockney.api.tables import Rows
from hockney.core.errors import UsageError, one_line
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath
from hockney.core.platform import Platform
from hockney.core.units import doubling_series
from hockney.core.wording import option
from hockney.draw.page import Caveat
from hockney.machines import simulated
from hockney.measurement import Listener, ignore_event
from hockney.models.applications import grain_prediction as prediction
from hockney.models.applications.contention import override_network
from hockney.models.applications.grain_prediction import Prediction, RanksRow
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.layouts import NodeLimits, RequestedLayout, apply_layout
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages import grain_prediction
from hockney.pages.caveats.predictions import CostsOrigin, prediction_caveats
from hockney.report import notebook
from hockney.report.notebook import text_lines


@dataclass(frozen=True, repr=False)
class Forecast:
    """`prediction` contains all numbers. `known` is the source of the message times."""

    prediction: Prediction
    known: CostsOrigin

    @property
    def rows(self) -> tuple[RanksRow, ...]:
        """One row per number of ranks: time (s), speed-up, efficiency, share of communication."""
        return self.prediction.rows

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """The warnings about the prediction, each with a code."""
        return prediction_caveats(self.prediction, self.known)

    def table(self) -> Rows:
        """Table of the rows. Each value has columns for the bounds of its 95% interval."""
        return forecast_table(self.rows)

    def frame(self, library: Library | None = None) -> Any:
        """The rows as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(), library)

    def __repr__(self) -> str:
        lines = text_lines(grain_prediction.ranks_table(self.prediction))
        sentences = (*self._assumption_sentences, *lines, *grain_prediction.best_sentences(self.prediction))
        return "\n".join(map(one_line, sentences))

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        before, after = self._assumption_sentences, grain_prediction.best_sentences(self.prediction)
        return notebook.summary(before, self.caveats, [grain_prediction.ranks_table(self.prediction)], after)

    @property
    def _assumption_sentences(self) -> tuple[str, ...]:
        return grain_prediction.assumption_sentences(self.prediction, self.known.platform)


def predict(
    algorithm: Algorithm,
    *,
    ranks: tuple[int, ...] = (),
    run: AnyPath | None = None,
    machine: str = "",
    shared: bool | None = None,
    larger: bool = False,
    cost: Cost = "typical",
    nodes: int = 0,
    ranks_per_node: int = 0,
    listen: Listener = ignore_event,
) -> Forecast:
    """Predict the algorithm's time (s), speed-up and efficiency on `ranks` (default: powers of two up to the
    number of cores).

    The message times come from the folder `run`, the description of `machine`, or by default the newest
    survey in runs. For a run, `cost` selects the typical or the undisturbed cost. `shared` overrides the
    measured finding whether concurrent messages share the bandwidth. With `larger`, more ranks than cores run
    on a larger machine of this kind instead of sharing cores. `nodes` spreads the ranks evenly over this
    number of nodes of this kind; `ranks_per_node` places this number on each (0: as in the run, or as the
    machine's cores). Nothing is measured. Raises UsageError for an unknown run or machine and for unavailable
    numbers of ranks, Inconclusive if the cost of messages is unknown."""
    if machine and cost != "typical":
        raise UsageError(
            f"{option('cost', cost)} and {option('machine')} exclude each other",
            "a described machine has one cost of a message",
            "omit one",
            code="cost-with-machine",
            cost=cost,
        )
    source = _find_source(run, machine, listen, cost)
    costs = source.messages if shared is None else override_network(source.messages, shared)
    layout = RequestedLayout(nodes, ranks_per_node)
    nodes_here = replace(source.nodes, count=0) if larger else source.nodes
    costs = apply_layout(
        costs, layout, nodes_here, ranks, ranks_on_separate_nodes=source.origin.pair_hosts > 1
    )
    rank_counts = ranks or tuple(doubling_series(2, default_max_ranks(costs.max_ranks, here=source.is_local)))
    if source.platform is not None and not larger:
        simulated.check_ranks(source.platform, rank_counts[-1])
    result = prediction.predict(
        algorithm, costs, rank_counts, allow_larger_machine=larger, has_layout=bool(layout)
    )
    return Forecast(result, source.origin)


@dataclass(frozen=True)
class _Source:
    """Source of message costs. `platform` limits the number of ranks that can start. With `is_local`, the
    cores of this machine are to be filled."""

    messages: PointToPointCosts
    origin: CostsOrigin
    platform: Platform | None
    is_local: bool
    nodes: NodeLimits


def _find_source(run: AnyPath | None, machine: str, listen: Listener, cost: Cost) -> _Source:
    find_runs.check_single_source(run, machine)
    if machine:
        name = measurement.description_name(machine)
        platform = simulated.platform(name)
        return _Source(
            costs_of_description(platform),
            CostsOrigin(platform, name),
            platform,
            False,
            _platform_nodes(platform),
        )
    source = find_runs.message_source(run, listen, cost)
    measured_machine = source.machine
    nodes = (
        NodeLimits(measured_machine.cores)
        if measured_machine.platform is None
        else _platform_nodes(measured_machine.platform)
    )
    is_local = not measured_machine.traits.described
    return _Source(source.messages, source.origin, measured_machine.platform, is_local, nodes)


def _platform_nodes(platform: Platform) -> NodeLimits:
    return NodeLimits(
        min(group.cores for group in platform.nodes), sum(group.count for group in platform.nodes)
    )
