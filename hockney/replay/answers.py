# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace tells: how well the model of the machine explains the recorded run time, what changes would
bring, what the critical path consists of, which latency and bandwidth the program tolerates, and which rank
delays which.

**Gains** are ratios of two evaluations, with and without a change. What the costs do not explain of the
recorded calls stays in both as it was; how much it may depend on the change is in the interval, which
contains the gain by the costs alone. So are the ends of the machine's costs, LEAST_ERROR and, for run times,
the launches. Where ranks have different clocks, all of the replay error is in the interval instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hockney.core.errors import UsageError
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

LARGEST_ERROR = 0.05
"""With a larger replay error, the model does not explain the program: gains are withheld if the ranks have
different clocks."""
LARGEST_ERRATIC = 0.25
"""With a larger share of the run time that is unexplained and differs from call to call, gains are
withheld."""
LEAST_ERROR = 0.02
"""No replay is assumed to be more exact, however well it meets the recorded run time: gains on real machines
differ by about as much from measured ones (docs/benchmarks/accuracy.md)."""
MOST_NAMED = 3
"""So many calls that are not explained are named."""
INCREASES = (0.01, 0.05)
"""The longer run times for which a tolerance is given."""
WAITS = {
    LATE_SENDER: "late sender",
    LATE_RECEIVER: "late receiver",
    LATE_TO_COLLECTIVE: "late to a collective",
}


@dataclass(frozen=True)
class EvaluatedProgram:
    """A program on a machine: its graph with the machine's costs, by the end of their intervals (at least
    "value"). On the described `platform` messages may share links, so that they are run event by event."""

    priced: Mapping[End, PricedGraph]
    platform: Platform | None = None

    @property
    def graph(self) -> Graph:
        return self.priced["value"].graph

    @property
    def choices(self) -> tuple[CollectiveTiming, ...]:
        """The algorithms of collectives."""
        return self.priced["value"].choices

    @cached_property
    def evaluator(self) -> Evaluator:
        return Evaluator(self.graph, self.priced["value"].costs)

    @cached_property
    def ends(self) -> np.ndarray:
        """The time at which each rank ends."""
        return (self.network or self.evaluator).run().ends

    @cached_property
    def network(self) -> NetworkModel | None:
        """The model of messages that share links, if they do. Raises UsageError for too small a machine."""
        if self.platform is None or not shares_links(self.platform):
            return None
        graph = self.graph
        if len(graph.unexplained_s):
            # In a model that runs event by event no time passes backwards.
            ops = graph.ops.copy()
            ops["computed_s"] = np.maximum(ops["computed_s"], 0)
            graph = replace(graph, ops=ops, tail_s=np.maximum(graph.tail_s, 0.0))
        try:
            return NetworkModel(graph, self.platform, self.priced["value"].costs)
        except UsageError as error:
            if error.code != "replay-network-not-modelled":
                raise
            return None

    @property
    def method(self) -> str:
        """How the run time is found, and why so."""
        if self.network is not None:
            return "event by event, as messages share links"
        if self.platform is not None and shares_links(self.platform):
            return "in the recorded order of messages, as the links that they share are not modelled"
        return "in the recorded order of messages, which do not share links"

    @cached_property
    def run_s(self) -> Mapping[End, float]:
        """The run time with each end of the costs."""
        others = {end: each for end, each in self.priced.items() if end != "value"}
        found: dict[End, float] = {"value": float(self.ends.max(initial=0.0))}
        found |= {end: Evaluator(each.graph, each.costs).run().run_s for end, each in others.items()}
        # Where the costs are too high for the recorded calls, a change might save more than there is.
        least = float(computed_by_rank(self.graph).max(initial=0.0))
        return {end: max(run_s, least) for end, run_s in found.items()}

    @property
    def value_s(self) -> float:
        return self.run_s["value"]

    @cached_property
    def path(self) -> CriticalPath:
        return self.evaluator.critical_path()

    @cached_property
    def latency(self) -> Parameter:
        """Latency that is added to every message."""
        priced = self.priced["value"]
        return Parameter.latency(priced.costs, count=priced.rounds)

    @cached_property
    def transfer(self) -> Parameter:
        """The time of all bytes, relative to the machine's."""
        return Parameter.transfer(self.priced["value"].costs)


@dataclass(frozen=True)
class Candidate:
    """Changes, and the program with them. `alternatives` are evaluations with and without the changes, under
    different assumptions, the first of which gives the value. `choices` and `variables` are how a launch
    makes the changes."""

    changes: tuple[Change, ...]
    alternatives: Callable[[], Iterable[tuple[EvaluatedProgram, EvaluatedProgram]]]
    choices: tuple[Choice, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class WhatIf:
    """What changes would bring: the run time, that relative to the run time without them, and the `gain`,
    which is 1 minus that ratio. `method` is how the run time is found."""

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
    """The seconds of the critical path at one place, by PARTS; unexplained ones may be negative."""

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
    """The latency that can be added to every message, and the bandwidth relative to the machine's, with which
    the program takes `increase` more time; None if there is none."""

    increase: float
    latency_s: float | None
    bandwidth: float | None


@dataclass(frozen=True)
class UnexplainedRow:
    """How much longer the calls at `place` took than the costs explain, over all ranks, and relative to the
    run time of all ranks, and how far single calls are from their median, likewise."""

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
    """A rank: its time on the critical path, how much longer it could compute at its end, and how long others
    wait for it."""

    rank: int
    on_path_s: float
    slack_s: float
    delays_s: float


@dataclass(frozen=True)
class Pop:
    """The efficiencies of the POP Centre of Excellence: their product is the parallel efficiency."""

    load_balance: float
    serialisation: float
    transfer: float

    @property
    def parallel(self) -> float:
        return self.load_balance * self.serialisation * self.transfer


@dataclass(frozen=True)
class ExplainedRun:
    """The recorded run times of the launches and two evaluations of the trace: `costs_only`, and `program`,
    which keeps what the costs do not explain. Both are the same if the ranks have different clocks.
    `recorded_s` is the run time of the launch whose trace is evaluated."""

    program: EvaluatedProgram
    recorded_s: float
    launches_s: tuple[float, ...]
    costs_only: EvaluatedProgram

    @property
    def method(self) -> str:
        """How the run time is found."""
        return self.program.method

    @property
    def error(self) -> float:
        """The replay error: the relative difference between the run time by costs alone and the recorded
        one."""
        return self.costs_only.value_s / self.recorded_s - 1

    @cached_property
    def unexplained(self) -> tuple[UnexplainedRow, ...]:
        """By place, the largest first."""
        graph = self.program.graph
        total = self.recorded_s * graph.ranks
        seconds, erratic = unexplained_by_place(graph), erratic_by_place(graph)
        return tuple(
            UnexplainedRow(
                graph.places[k], float(seconds[k]), float(seconds[k] / total), float(erratic[k] / total)
            )
            for k in np.argsort(-np.maximum(np.abs(seconds), erratic), kind="stable").tolist()
            if seconds[k] or erratic[k]
        )

    @property
    def erratic_share(self) -> float:
        """What the costs do not explain and what is not the same in most calls of a place, relative to the
        run time."""
        return sum(row.erratic_share for row in self.unexplained)

    @property
    def reliable(self) -> bool:
        return abs(self._remaining_error) <= LARGEST_ERROR and self.erratic_share <= LARGEST_ERRATIC

    @property
    def _remaining_error(self) -> float:
        """The error with what the costs do not explain."""
        return self.program.value_s / self.recorded_s - 1

    @property
    def why_withheld(self) -> str:
        """Why gains are not reliable."""
        if abs(self._remaining_error) > LARGEST_ERROR:
            return f"the replay error is {self._remaining_error:+.1%}, more than {LARGEST_ERROR:.0%}"
        rows = sorted(self.unexplained, key=lambda row: -row.erratic_share)[:MOST_NAMED]
        places = join_words([f"{row.place} ({row.erratic_share:.0%})" for row in rows])
        return f"calls vary by {self.erratic_share:.0%} of the run time, which no cost explains: {places}"

    @cached_property
    def typical(self) -> Estimate:
        """The run time of the launches."""
        return over_values(self.launches_s)

    @cached_property
    def _error_log(self) -> float:
        return max(abs(math.log1p(self._remaining_error)), LEAST_ERROR)

    @cached_property
    def run_s(self) -> Estimate:
        """The predicted run time without changes: what the launches took."""
        return self._estimate(self.typical.value, [self._error_log, self._launches_log])

    @cached_property
    def _launches_log(self) -> float:
        low, high = self.typical.low, self.typical.high
        return 0.0 if low is None or high is None or low <= 0 else math.log(high / low) / 2

    @staticmethod
    def _estimate(value: float, logs: Sequence[float], low: float = 0.0, high: float = 0.0) -> Estimate:
        """With an interval of the `logs` around one from `low` to `high`, relative to the value."""
        width = math.hypot(*logs)
        return Estimate(value, value * math.exp(low - width), value * math.exp(high + width))

    def what_if(self, candidate: Candidate) -> WhatIf:
        """What the changes of a candidate bring."""
        alternatives = iter(candidate.alternatives())
        program, without = next(alternatives)
        changed, before = program.run_s, without.run_s
        value = changed["value"] / before["value"]
        others = [other.value_s / unchanged.value_s for other, unchanged in alternatives]
        ratios = [
            changed.get(end, changed["value"]) / before.get(end, before["value"])
            for end in {*changed, *before}
        ]
        of_costs = max(abs(math.log(ratio / value)) for ratio in ratios)
        logs = [0.0, *(math.log(other / value) for other in others)]
        low, high = min(logs), max(logs)
        model = [self._error_log if value != 1 or low < high else 0.0, of_costs]
        run_logs = [self._error_log, of_costs, self._launches_log]
        return WhatIf(
            candidate,
            self._estimate(self.typical.value * value, run_logs, low, high),
            self._estimate(value, model, low, high),
            program.method,
        )

    def path_rows(self) -> Iterator[PathRow]:
        """The places of the critical path, the longest first."""
        path, places = self.program.path, [*self.program.graph.places, "after the last call"]
        seconds = path.by_place.sum(axis=1)
        for k in np.argsort(-seconds, kind="stable").tolist():
            if seconds[k] > 0:
                yield PathRow(places[k], dict(zip(PARTS, path.by_place[k].tolist(), strict=True)))

    def tolerances(self) -> Iterator[ToleranceRow]:
        program = self.program
        for increase in INCREASES:
            added, slower = (
                _finite(program.evaluator.tolerance(each, increase))
                for each in (program.latency, program.transfer)
            )
            yield ToleranceRow(increase, added, None if slower is None else 1 / slower)

    def curve(self, low_s: float, high_s: float) -> Curve:
        """The run time over the latency that is added to every message."""
        return self.program.evaluator.curve(self.program.latency, low_s, high_s)

    def delays(self) -> Iterator[Delay]:
        """The longest first."""
        waits, places = self.program.path.waits, self.program.graph.places
        for row in waits[np.argsort(-waits["seconds"], kind="stable")]:
            numbers = (int(row[name]) for name in ("place", "by_place"))
            where, late = (places[k] if k < len(places) else "its end" for k in numbers)
            kind = WAITS[int(row["kind"])]
            yield Delay(kind, where, int(row["by_rank"]), late, int(row["count"]), float(row["seconds"]))

    def ranks(self) -> Iterator[RankRow]:
        path = self.program.path
        delays = np.bincount(path.waits["by_rank"], path.waits["seconds"], minlength=self.program.graph.ranks)
        for rank, (on_path, slack) in enumerate(zip(path.by_rank.sum(axis=1), path.slack_s, strict=True)):
            yield RankRow(rank, float(on_path), float(slack), float(delays[rank]))

    def pop(self, ideal_s: float) -> Pop:
        """`ideal_s` is the run time on a network without costs."""
        computed = computed_by_rank(self.program.graph)
        most = float(computed.max(initial=0.0))
        if most <= 0 or ideal_s <= 0:
            return Pop(1.0, 0.0, ideal_s / self.program.value_s if self.program.value_s else 1.0)
        return Pop(float(computed.mean()) / most, most / ideal_s, ideal_s / self.program.value_s)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
