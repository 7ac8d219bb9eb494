# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Answers questions about a traced program: how well the model of the machine explains the recorded run time,
what changes would bring, what the critical path consists of, how much latency and bandwidth the program
tolerates, and which rank delays which.

A **gain** is a ratio of two evaluations, with and without a change. Recorded time that the costs do not
explain is the same in both. The interval of the gain contains the gain by the costs alone, because the
unexplained time might change too. It also covers the bounds of the machine's costs, MIN_ERROR and, for run
times, the differences between launches. If ranks have different clocks, the interval covers the whole replay
error instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.platform import Platform
from hockney.core.wording import join_words
from hockney.models.measured_costs import End
from hockney.models.routes import shares_links
from hockney.profiles.efficiencies import over_values
from hockney.replay.collectives import CollectiveTiming, PricedGraph
from hockney.replay.evaluator import (
    LATE_RECEIVER,
    LATE_SENDER,
    LATE_TO_COLLECTIVE,
    PARTS,
    CriticalPath,
    Curve,
    Evaluator,
    Parameter,
)
from hockney.replay.graph import Graph, computed_by_rank
from hockney.replay.network_model import NetworkModel
from hockney.replay.predictions import Change, Choice
from hockney.replay.unexplained import erratic_by_place, unexplained_by_place

MAX_ERROR = 0.05
"""If the replay error is larger, the model does not explain the program. If the ranks have different clocks,
gains are then withheld."""
MAX_ERRATIC_SHARE = 0.25
"""Gains are withheld if a larger share of the run time is unexplained and differs from call to call."""
MIN_ERROR = 0.02
"""The smallest error that is assumed for a replay, even if it reproduces the recorded run time better. On
real machines predicted gains differ from measured ones by about this much (docs/benchmarks/accuracy.md)."""
MAX_NAMED_CALLS = 3
"""The number of unexplained calls that a message names."""
INCREASES = (0.01, 0.05)
"""The relative increases of the run time for which tolerances are computed."""
WAITS = {
    LATE_SENDER: "late sender",
    LATE_RECEIVER: "late receiver",
    LATE_TO_COLLECTIVE: "late to a collective",
}


@dataclass(frozen=True)
class EvaluatedProgram:
    """A program on a machine: its graph with the machine's costs, for each bound of the cost intervals (at
    least "value"). If messages share links of the described `platform`, the program is run event by event."""

    priced_graphs: Mapping[End, PricedGraph]
    platform: Platform | None = None

    @property
    def graph(self) -> Graph:
        return self.priced_graphs["value"].graph

    @property
    def choices(self) -> tuple[CollectiveTiming, ...]:
        """The algorithms of the collectives."""
        return self.priced_graphs["value"].choices

    @cached_property
    def evaluator(self) -> Evaluator:
        return Evaluator(self.graph, self.priced_graphs["value"].costs)

    @cached_property
    def ends(self) -> np.ndarray:
        """The time at which each rank ends."""
        return (self.network or self.evaluator).run().ends

    @cached_property
    def network(self) -> NetworkModel | None:
        """The model of shared links, or None if messages share none. Raises UsageError if the machine is too
        small."""
        if self.platform is None or not shares_links(self.platform):
            return None
        graph = self.graph
        if len(graph.unexplained_s):
            # The event-driven model cannot handle negative times.
            ops = graph.ops.copy()
            ops["computed_s"] = np.maximum(ops["computed_s"], 0)
            graph = replace(graph, ops=ops, tail_s=np.maximum(graph.tail_s, 0.0))
        return NetworkModel(graph, self.platform, self.priced_graphs["value"].costs)

    @property
    def method(self) -> str:
        """How the run time is computed, and why."""
        if self.network is not None:
            return "event by event, as messages share links"
        return "in the recorded order of messages, which do not share links"

    @cached_property
    def run_s(self) -> Mapping[End, float]:
        """The run time for each bound of the costs."""
        bounds = {end: priced_graph for end, priced_graph in self.priced_graphs.items() if end != "value"}
        run_times: dict[End, float] = {"value": float(self.ends.max(initial=0.0))}
        run_times |= {
            end: Evaluator(priced_graph.graph, priced_graph.costs).run().run_s
            for end, priced_graph in bounds.items()
        }
        # If the costs are too high for the recorded calls, a change might save more time than was spent.
        min_s = float(computed_by_rank(self.graph).max(initial=0.0))
        return {end: max(run_s, min_s) for end, run_s in run_times.items()}

    @property
    def value_s(self) -> float:
        return self.run_s["value"]

    @cached_property
    def path(self) -> CriticalPath:
        return self.evaluator.critical_path()

    @cached_property
    def latency(self) -> Parameter:
        """The latency added to every message."""
        priced_graph = self.priced_graphs["value"]
        return Parameter.latency(priced_graph.costs, count=priced_graph.rounds)

    @cached_property
    def transfer(self) -> Parameter:
        """The transfer time of all bytes, relative to the machine's."""
        return Parameter.transfer(self.priced_graphs["value"].costs)


@dataclass(frozen=True)
class Candidate:
    """Changes to evaluate. `alternatives` returns pairs of evaluations, with and without the changes, under
    different assumptions; the first pair gives the value. A launch makes the changes with `choices` and
    `variables`."""

    changes: tuple[Change, ...]
    alternatives: Callable[[], Iterable[tuple[EvaluatedProgram, EvaluatedProgram]]]
    choices: tuple[Choice, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class WhatIf:
    """The effect of changes: the run time and its `ratio` to the run time without them. The `gain` is 1 minus
    that ratio. `method` tells how the run time was computed."""

    candidate: Candidate
    run_s: Estimate
    ratio: Estimate
    method: str

    @property
    def text(self) -> str:
        return ", ".join(change.text for change in self.candidate.changes)

    @property
    def gain(self) -> Estimate:
        low, high = self.ratio.low, self.ratio.high
        return Estimate(
            1 - self.ratio.value, None if high is None else 1 - high, None if low is None else 1 - low
        )

    @property
    def decided(self) -> bool:
        """Whether the direction of the change is certain."""
        low, high = self.ratio.low, self.ratio.high
        return low is not None and high is not None and not low <= 1 <= high


@dataclass(frozen=True)
class PathRow:
    """The seconds of the critical path at one place, by PARTS. Unexplained seconds may be negative."""

    place: str
    parts: Mapping[str, float]

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())

    @property
    def software_s(self) -> float:
        return sum(self.parts[name] for name in ("overhead", "receive", "gap", "exchange"))


@dataclass(frozen=True)
class ToleranceRow:
    """The latency that can be added to every message, and the bandwidth relative to the machine's, until the
    program takes `increase` more time. None if the run time never grows as much."""

    increase: float
    latency_s: float | None
    bandwidth: float | None


@dataclass(frozen=True)
class UnexplainedRow:
    """The time of the calls at `place` that the costs do not explain, summed over all ranks, and its share of
    the run time of all ranks. `erratic_share` measures how far single calls are from their median."""

    place: str
    seconds: float
    share: float
    erratic_share: float


@dataclass(frozen=True)
class Delay:
    """Ranks wait at `place` for rank `by_rank`, which is late at `by_place`."""

    kind: str
    place: str
    by_rank: int
    by_place: str
    count: int
    seconds: float


@dataclass(frozen=True)
class RankRow:
    """The time of a rank on the critical path, how much longer it could compute at its end without delaying
    the run, and how long other ranks wait for it."""

    rank: int
    on_path_s: float
    slack_s: float
    delays_s: float


@dataclass(frozen=True)
class Pop:
    """The efficiencies of the POP Centre of Excellence. Their product is the parallel efficiency."""

    load_balance: float
    serialisation: float
    transfer: float

    @property
    def parallel(self) -> float:
        return self.load_balance * self.serialisation * self.transfer


@dataclass(frozen=True)
class ExplainedRun:
    """The recorded run times of the launches and two evaluations of the trace: `costs_only_program`, and
    `program`, which also contains the unexplained time. They are equal if ranks have different clocks.
    `recorded_s` is the run time of the launch whose trace is evaluated."""

    program: EvaluatedProgram
    recorded_s: float
    launches_s: tuple[float, ...]
    costs_only_program: EvaluatedProgram

    @property
    def method(self) -> str:
        """How the run time is computed."""
        return self.program.method

    @property
    def error(self) -> float:
        """The replay error: the relative difference between the run time by the costs alone and the recorded
        run time."""
        return self.costs_only_program.value_s / self.recorded_s - 1

    @cached_property
    def unexplained(self) -> tuple[UnexplainedRow, ...]:
        """The unexplained time by place, largest first."""
        graph = self.program.graph
        total_s = self.recorded_s * graph.ranks
        seconds, erratic_s = unexplained_by_place(graph), erratic_by_place(graph)
        return tuple(
            UnexplainedRow(
                graph.places[k], float(seconds[k]), float(seconds[k] / total_s), float(erratic_s[k] / total_s)
            )
            for k in np.argsort(-np.maximum(np.abs(seconds), erratic_s), kind="stable").tolist()
            if seconds[k] or erratic_s[k]
        )

    @property
    def erratic_share(self) -> float:
        """The share of the run time that is unexplained and differs between the calls of a place."""
        return sum(row.erratic_share for row in self.unexplained)

    @property
    def reliable(self) -> bool:
        return abs(self._remaining_error) <= MAX_ERROR and self.erratic_share <= MAX_ERRATIC_SHARE

    @property
    def _remaining_error(self) -> float:
        """The relative error of the run time that includes the unexplained time."""
        return self.program.value_s / self.recorded_s - 1

    @property
    def withheld_reason(self) -> str:
        """Why gains are not reliable."""
        if abs(self._remaining_error) > MAX_ERROR:
            return f"the replay error is {self._remaining_error:+.1%}, more than {MAX_ERROR:.0%}"
        rows = sorted(self.unexplained, key=lambda row: -row.erratic_share)[:MAX_NAMED_CALLS]
        places = join_words([f"{row.place} ({row.erratic_share:.0%})" for row in rows])
        return f"calls vary by {self.erratic_share:.0%} of the run time, which no cost explains: {places}"

    @cached_property
    def typical_s(self) -> Estimate:
        """The typical run time of the launches."""
        return over_values(self.launches_s)

    @cached_property
    def _error_log(self) -> float:
        return max(abs(math.log1p(self._remaining_error)), MIN_ERROR)

    @cached_property
    def run_s(self) -> Estimate:
        """The predicted run time without changes: the typical run time of the launches."""
        return self._estimate(self.typical_s.value, [self._error_log, self._launches_log])

    @cached_property
    def _launches_log(self) -> float:
        low, high = self.typical_s.low, self.typical_s.high
        return 0.0 if low is None or high is None or low <= 0 else math.log(high / low) / 2

    @staticmethod
    def _estimate(value: float, logs: Sequence[float], low: float = 0.0, high: float = 0.0) -> Estimate:
        """An estimate whose interval extends from `low` to `high` (logarithms relative to the value), widened
        by `logs`."""
        width = math.hypot(*logs)
        return Estimate(value, value * math.exp(low - width), value * math.exp(high + width))

    def predict_change(self, candidate: Candidate) -> WhatIf:
        """Predict the effect of the changes of a candidate."""
        alternatives = iter(candidate.alternatives())
        program, baseline = next(alternatives)
        changed_s, baseline_s = program.run_s, baseline.run_s
        value = changed_s["value"] / baseline_s["value"]
        alternative_ratios = [
            changed_program.value_s / unchanged_program.value_s
            for changed_program, unchanged_program in alternatives
        ]
        ratios = [
            changed_s.get(end, changed_s["value"]) / baseline_s.get(end, baseline_s["value"])
            for end in {*changed_s, *baseline_s}
        ]
        cost_width = max(abs(math.log(ratio / value)) for ratio in ratios)
        logs = [0.0, *(math.log(changed_program / value) for changed_program in alternative_ratios)]
        low, high = min(logs), max(logs)
        ratio_logs = [self._error_log if value != 1 or low < high else 0.0, cost_width]
        run_logs = [self._error_log, cost_width, self._launches_log]
        return WhatIf(
            candidate,
            self._estimate(self.typical_s.value * value, run_logs, low, high),
            self._estimate(value, ratio_logs, low, high),
            program.method,
        )

    def path_rows(self) -> Iterator[PathRow]:
        """The places of the critical path, longest first."""
        path, places = self.program.path, [*self.program.graph.places, "after the last call"]
        seconds = path.by_place.sum(axis=1)
        for k in np.argsort(-seconds, kind="stable").tolist():
            if seconds[k] > 0:
                yield PathRow(places[k], dict(zip(PARTS, path.by_place[k].tolist(), strict=True)))

    def tolerances(self) -> Iterator[ToleranceRow]:
        program = self.program
        for increase in INCREASES:
            added_latency_s, slowdown = (
                _finite(program.evaluator.tolerance(parameter, increase))
                for parameter in (program.latency, program.transfer)
            )
            yield ToleranceRow(increase, added_latency_s, None if slowdown is None else 1 / slowdown)

    def curve(self, low_s: float, high_s: float) -> Curve:
        """The run time as a function of the latency added to every message."""
        return self.program.evaluator.curve(self.program.latency, low_s, high_s)

    def delays(self) -> Iterator[Delay]:
        """The delays, longest first."""
        waits, places = self.program.path.waits, self.program.graph.places
        for row in waits[np.argsort(-waits["seconds"], kind="stable")]:
            place_numbers = (int(row[name]) for name in ("place", "by_place"))
            place, late_place = (places[k] if k < len(places) else "its end" for k in place_numbers)
            kind = WAITS[int(row["kind"])]
            yield Delay(
                kind, place, int(row["by_rank"]), late_place, int(row["count"]), float(row["seconds"])
            )

    def ranks(self) -> Iterator[RankRow]:
        path = self.program.path
        delays = np.bincount(path.waits["by_rank"], path.waits["seconds"], minlength=self.program.graph.ranks)
        for rank, (on_path, slack) in enumerate(zip(path.by_rank.sum(axis=1), path.slack_s, strict=True)):
            yield RankRow(rank, float(on_path), float(slack), float(delays[rank]))

    def pop(self, ideal_s: float) -> Pop:
        """The POP efficiencies. `ideal_s` is the run time on a network without costs."""
        computed_s = computed_by_rank(self.program.graph)
        max_computed_s = float(computed_s.max(initial=0.0))
        if max_computed_s <= 0 or ideal_s <= 0:
            return Pop(1.0, 0.0, ideal_s / self.program.value_s if self.program.value_s else 1.0)
        return Pop(
            float(computed_s.mean()) / max_computed_s,
            max_computed_s / ideal_s,
            ideal_s / self.program.value_s,
        )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
