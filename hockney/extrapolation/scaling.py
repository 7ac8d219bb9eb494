# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The run time of a traced program on other numbers of ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from functools import cached_property

import numpy as np

from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate
from hockney.core.units import format_bytes
from hockney.extrapolation.arrivals import Price, in_order_of_arrival, sites_with_tasks
from hockney.extrapolation.computation import ComputationMeans, ComputationModel
from hockney.extrapolation.fitting import arranged_structure
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.laws import ROUGH
from hockney.extrapolation.memory import MemoryModel, MemoryRates
from hockney.extrapolation.placements import Place
from hockney.extrapolation.search import check_run
from hockney.extrapolation.structure import MIN_RUNS, Structure
from hockney.extrapolation.synthesis import Synthesis, Volume, observed_volumes
from hockney.models.schedules import SCHEDULES, algorithm_names
from hockney.profiles.machine_costs import SCALAR_OPERATIONS
from hockney.replay.answers import ExplainedRun, Pop, WhatIf
from hockney.replay.collectives import BEST
from hockney.replay.graph import ONE_SIDED, SEND, computed_by_rank
from hockney.replay.pricing import Machine, MeasuredMachine, PlatformMachine
from hockney.replay.scenarios import RequestedChanges, TracedProgram

SEEDS = 8
"""Samples of the variation of computation; one for large graphs, in which it averages out."""
MANY_OPERATIONS = 5_000_000
MEASURED_MODEL_ERROR = 0.03
"""The relative error of a replay by measured costs alone, as measured for programs on the ranks that were
traced."""
DESCRIBED_MODEL_ERROR = 0.02
"""The relative error of the evaluation on a described machine: single calls differ by less from SimGrid
(benchmarks/results/evaluation.md), programs on a few hundred ranks by about as much."""
UNFENCED_MODEL_ERROR = 0.2
"""The relative error of the evaluation of one-sided operations without fences: the messages of MPI_Win_post,
MPI_Win_complete and locks are not modelled. Programs of nothing else differed by up to 17% from SimGrid."""
MAX_LAW_ERROR = 0.05
"""A smaller relative difference of run times by two laws of a number of iterations does not matter."""
MAX_SIZE_EFFECT = 0.1
"""The largest relative error of run times due to sizes of messages that follow a law only roughly."""
GRAIN_EFFICIENCIES = (0.5, 0.9)
MAX_EVALUATIONS = 20


@dataclass(frozen=True)
class GrainRow:
    """The computation, relative to the program's, with which `efficiency` is reached on these ranks, and its
    mean (s) between two calls of a rank; None if no amount is enough."""

    ranks: int
    efficiency: float
    factor: float | None
    between_calls_s: float | None


@dataclass(frozen=True)
class ErrorSources:
    """What the interval of a run time consists of, as relative errors at 95%: the costs of messages, the
    algorithms of collectives for which none was measured, the law of computation and its difference between
    launches and through cold caches, the variation between ranks and iterations, which the tracing host may
    have caused, the evaluation itself, laws of numbers of
    iterations between which the runs do not decide, the largest sizes of messages that follow their laws only
    roughly, numbers of iterations that differ slightly between the runs without a law, and the unknown share
    of computation that is limited by the memory of a node."""

    costs: float
    algorithms: float
    computation: float
    variation: float
    evaluation: float
    laws: float = 0.0
    sizes: float = 0.0
    iterations: float = 0.0
    memory: float = 0.0

    @property
    def total(self) -> float:
        return math.hypot(*astuple(self))


@dataclass(frozen=True)
class ScalingPoint:
    """The program on `ranks` ranks in a grid of `dims`. Speed-up and efficiency are relative to the
    computation of one rank, for weak scaling of one that computes as much."""

    ranks: int
    dims: Dims
    run_s: Estimate
    one_rank_s: float
    pop: Pop
    program: TracedProgram
    scaled_s: Callable[[float], float]
    """The run time with this many times the computation."""
    weak: bool
    computed_s: float
    """Seconds that a rank computes on average."""
    errors: ErrorSources
    ambiguous: str = ""
    """Laws of numbers of iterations between which the traced runs do not decide, if the run time depends on
    it."""
    slowdown: tuple[float, float] | None = None
    """The computation of a rank on the fullest node, relative to the largest traced run, with either end of
    the share that is limited by memory; None if this is not known."""

    @property
    def efficiency(self) -> Estimate:
        share = self.one_rank_s if self.weak else self.one_rank_s / self.ranks
        return Estimate(
            share / self.run_s.value,
            None if self.run_s.high is None else share / self.run_s.high,
            None if self.run_s.low is None else share / self.run_s.low,
        )

    @property
    def speed_up(self) -> Estimate:
        each = self.efficiency
        return Estimate(
            each.value * self.ranks,
            None if each.low is None else each.low * self.ranks,
            None if each.high is None else each.high * self.ranks,
        )

    @property
    def ranks_on_a_node(self) -> int:
        """The largest number of ranks that share the memory of a node."""
        return int(_ranks_of_nodes(self.program.machine["value"], self.ranks).max())

    @property
    def messages(self) -> int:
        return len(self.program.trace_graph.graph.messages)

    @cached_property
    def explained(self) -> ExplainedRun:
        """As a run that took as long as predicted."""
        return ExplainedRun(
            self.program.unchanged_program,
            self.program.unchanged_program.value_s,
            (self.run_s.value,),
            self.program.costs_only_program,
        )

    @cached_property
    def what_ifs(self) -> tuple[WhatIf, ...]:
        """The changes that shorten the run time, the largest gain first."""
        requests = (each for each in self.program.standard_changes() if not each.no_noise)
        found = self.program.predict_changes(self.explained, requests)
        return tuple(each for each in found if each.gain.value > 0)

    def predict_change(self, request: RequestedChanges) -> WhatIf:
        return self.explained.predict_change(self.program.candidate(request))

    def grains(self) -> tuple[GrainRow, ...]:
        graph = self.program.trace_graph.graph
        calls = max(1, int(np.count_nonzero(graph.ops["computed_s"] > 0)))
        between = float(computed_by_rank(graph).sum()) / calls
        rows = []
        for efficiency in GRAIN_EFFICIENCIES:
            factor = self._factor_for(efficiency)
            rows.append(
                GrainRow(self.ranks, efficiency, factor, None if factor is None else factor * between)
            )
        return tuple(rows)

    def _factor_for(self, efficiency: float) -> float | None:
        """The run time is a convex function of the factor, and nearly linear: secants find the factor in few
        evaluations. With ever more computation, messages cost nothing, which limits the efficiency."""
        if self.computed_s <= 0 or self.pop.load_balance * self.pop.serialisation <= efficiency:
            return None
        low, high = 0.0, math.inf
        (first, first_s), factor = (1.0, self.scaled_s(1.0)), 2.0
        for _ in range(MAX_EVALUATIONS):
            run_s = self.scaled_s(factor)
            if self.computed_s * factor / run_s >= efficiency:
                high = min(high, factor)
            else:
                low = max(low, factor)
            slope = (run_s - first_s) / (factor - first)
            gained = self.computed_s - efficiency * slope
            guess = efficiency * (run_s - slope * factor) / gained if gained > 0 else 0.0
            first, first_s = factor, run_s
            if not low < guess < high:
                guess = 4 * factor if high == math.inf else math.sqrt(max(low, high / 1e3) * high)
            if abs(guess / factor - 1) < 0.01:
                return guess
            factor = guess
        return factor


def _ranks_of_nodes(machine: Machine, ranks: int) -> np.ndarray:
    """For each rank, the number of ranks on its node."""
    assert isinstance(machine, PlatformMachine | MeasuredMachine)
    node = machine.node if isinstance(machine, PlatformMachine) else machine.placement.host
    _, place, counts = np.unique(node[:ranks], return_inverse=True, return_counts=True)
    return np.asarray(counts[place.reshape(-1)])


class _GeneratedProgram:
    """A program with sampled computation, which is priced once, and its run times with other computation:
    seconds before each call of each rank, and after the last one."""

    def __init__(
        self,
        synthesis: Synthesis,
        computation: ComputationModel,
        price: Price,
        effect: Callable[[int], float],
    ) -> None:
        """`effect`: the computation of a rank by the number of ranks of its node, relative to that of the
        model."""
        self._synthesis, self._computation = synthesis, computation
        self._means = self._means_by(computation)
        counted = synthesis.build(lambda rank: np.ones(len(self._means[rank].region)))
        busy = _ranks_of_nodes(price(counted)["value"], synthesis.ranks)
        self._effects = np.vectorize(effect, otypes=[float])(busy)
        self.seconds = self.sampled(0)
        self._counts, self._tail_counts = counted.graph.ops["computed_s"], counted.graph.tail_s
        self._first = counted.graph.first
        ops = counted.graph.ops.copy()
        ops["computed_s"], tail_s = self._computed_s(self.seconds)
        graph = replace(counted.graph, ops=ops, tail_s=tail_s)
        self.program = in_order_of_arrival(replace(counted, graph=graph), price)
        self.value_s = self.program.costs_only_program.value_s

    def _means_by(self, computation: ComputationModel) -> list[ComputationMeans]:
        return computation.means_of_ranks(*self._synthesis.calls_by_role(), self._synthesis.place)

    def _sampled(self, means: Sequence[ComputationMeans], seed: int) -> list[np.ndarray]:
        random = np.random.default_rng((len(means), seed))
        factor = self._computation.rank_factor
        return [
            effect * each.vary(random) * factor(random)
            for effect, each in zip(self._effects, means, strict=True)
        ]

    def sampled(self, seed: int) -> list[np.ndarray]:
        return self._sampled(self._means, seed)

    def steady(self) -> list[np.ndarray]:
        """Without variation between ranks and iterations."""
        return [effect * each.steady() for effect, each in zip(self._effects, self._means, strict=True)]

    def doubtful(self, sign: int) -> list[np.ndarray]:
        """As the first sample, with `ComputationModel.with_doubts`."""
        return self._sampled(self._means_by(self._computation.with_doubts(sign)), 0)

    def _computed_s(self, seconds: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The seconds before each operation, and at the end of each rank."""
        computed, tails = np.zeros(len(self._counts)), np.zeros(len(seconds))
        for rank, (own, first, last) in enumerate(zip(seconds, self._first, self._first[1:], strict=False)):
            before = np.concatenate([[0.0], np.cumsum(own)])
            counts = np.rint(self._counts[first:last]).astype(np.int64)
            reached = np.cumsum(counts)
            computed[first:last] = before[reached] - before[reached - counts]
            tails[rank] = before[-1] - before[len(own) - round(self._tail_counts[rank])]
        return computed, tails

    def run_s(self, seconds: Sequence[np.ndarray]) -> float:
        evaluated = self.program.costs_only_program
        priced, graph = evaluated.priced_graphs["value"], self.program.trace_graph.graph
        computed_s, tail_s = self._computed_s(seconds)
        position = priced.position if len(priced.position) else np.arange(len(computed_s))
        computes = computed_s != graph.ops["computed_s"]
        changed = priced.graph.ops["computed_s"].astype(np.float64)
        np.add.at(changed, position[computes], (computed_s - graph.ops["computed_s"])[computes])
        ends = (evaluated.network or evaluated.evaluator).run(computed_s=np.maximum(changed, 0.0)).ends
        return float((ends + tail_s - graph.tail_s).max())

    def scaled_s(self, factor: float) -> float:
        return self.run_s([factor * each for each in self.seconds])


def scaling_point(
    structure: Structure,
    computation: ComputationModel,
    ranks: int,
    dims: Dims,
    price: Price,
    compute_scale: float = 1.0,
    memory: MemoryModel | None = None,
    rates: MemoryRates | None = None,
) -> ScalingPoint:
    """`rates` are those of the machine's memory (default: those of the traced machine), if the `memory` use
    of the program is known, without which computation lacks its slowdown. Raises Inconclusive if the
    structure on this number of ranks is not known."""
    nodes: Sequence[int] = ()
    if structure.asks_for_nodes:
        # Without nodes it may not be the program, but the machine is the same.
        synthesis = Synthesis(replace(structure, misfits=[]), ranks, dims)
        calls, role_of = synthesis.calls_by_role()
        machine = price(synthesis.build(lambda rank: np.zeros(len(calls[role_of[rank]].kinds) + 1)))["value"]
        nodes = machine.node[:ranks].tolist() if isinstance(machine, PlatformMachine) else ()

    def effect(busy: int) -> float:
        return compute_scale * (1.0 if memory is None else memory.effect(busy, rates))

    def generated(structure: Structure) -> _GeneratedProgram:
        return _GeneratedProgram(Synthesis(structure, ranks, dims, nodes), computation, price, effect)

    own = generated(structure)
    first = own.program
    values = [own.value_s]
    if len(first.trace_graph.graph.ops) < MANY_OPERATIONS:
        values += [own.run_s(own.sampled(seed)) for seed in range(1, SEEDS)]
    value = float(np.exp(np.mean(np.log(values))))
    steady_s = own.run_s(own.steady())
    more_s = own.scaled_s(1 + computation.error_at(ranks))
    of_doubts = 0.0
    if computation.has_doubts:
        of_doubts = max(abs(math.log(own.run_s(own.doubtful(sign)) / own.value_s)) for sign in (-1, 1))
    slowdown, of_memory, alone = None, 0.0, 1.0
    if memory is not None:
        busiest = int(_ranks_of_nodes(first.machine["value"], ranks).max())
        slowdown, alone = memory.bounds(busiest, rates), memory.effect(1, rates)
        # Either end differs by this factor from the middle.
        factor = math.sqrt(slowdown[1] / slowdown[0])
        longest_s = own.scaled_s(factor)
        of_memory = abs(math.log(longest_s / values[0]))
    described = first.machine["value"].communication.platform is not None
    graph = first.trace_graph.graph
    has_accesses = bool((graph.ops["flags"][graph.ops["kind"] == SEND] & ONE_SIDED).any())
    evaluation_error = DESCRIBED_MODEL_ERROR if described else MEASURED_MODEL_ERROR
    if has_accesses and "win_fence" not in graph.operations:
        evaluation_error = UNFENCED_MODEL_ERROR
    of_laws, ambiguous = 0.0, ""
    for text, other in structure.others(Place(ranks, dims, tuple(nodes))):
        changed_s = generated(other).value_s
        error = abs(math.log(changed_s / values[0]))
        if not other.misfits and error > max(of_laws, MAX_LAW_ERROR):
            of_laws, ambiguous = error, text
    of_sizes = 0.0
    if rough := structure.rough_sizes():
        largest = generated(replace(structure, has_largest_sizes=True))
        of_sizes = abs(math.log(largest.value_s / values[0]))
        if of_sizes > MAX_SIZE_EFFECT:
            for site, size_error in rough.items():
                structure.add_site_misfit(
                    site,
                    f"the sizes of messages have no pattern: with errors of {size_error:.0%}, the run time "
                    f"on {ranks} ranks changes by {math.expm1(of_sizes):.0%}",
                )
    errors = ErrorSources(
        costs=max(abs(math.log(each / values[0])) for each in first.costs_only_program.run_s.values()),
        algorithms=error_of_algorithms(first),
        computation=math.hypot(math.log(more_s / values[0]), of_doubts),
        variation=max(math.log(max(values) / min(values)) / 2, abs(math.log(steady_s / value))),
        evaluation=evaluation_error,
        laws=of_laws,
        sizes=of_sizes,
        iterations=math.log1p(structure.iteration_error(ranks)),
        memory=of_memory,
    )
    width = errors.total
    computed = computed_by_rank(first.trace_graph.graph)
    longest = float(computed.max(initial=0.0))
    ideal_s = first.ideal_s
    balance = float(computed.mean()) / longest if longest > 0 else 1.0
    return ScalingPoint(
        ranks,
        dims,
        Estimate(value, value * math.exp(-width), value * math.exp(width)),
        computation.total.at(1, (1,) * len(dims)) * compute_scale * alone,
        Pop(
            balance, longest / ideal_s if ideal_s > 0 else 1.0, ideal_s / values[0] if values[0] > 0 else 1.0
        ),
        first,
        own.scaled_s,
        computation.scaling == "weak",
        float(computed.mean()),
        errors,
        ambiguous,
        slowdown,
    )


def error_of_algorithms(program: TracedProgram) -> float:
    """The relative difference of the run time due to collectives for which no algorithm is known. They are
    evaluated with the fastest one; an MPI may choose another, so the difference from the median of all is
    assumed for each operation."""
    costs_only = program.costs_only_program
    assumed = {
        SCALAR_OPERATIONS.get(each.operation, each.operation)
        for each in costs_only.choices
        if each.basis == "assumed"
    }
    is_large = len(program.trace_graph.graph.ops) >= MANY_OPERATIONS
    errors = []
    for operation in sorted(assumed & {operation for operation, _ in SCHEDULES}):
        times = []
        for name in (BEST,) if is_large else algorithm_names(operation):
            with suppress(UsageError):  # no such algorithm on so many ranks
                changed = program.with_changes(RequestedChanges(algorithms={operation: name}))
                times.append(changed.value_s)
        errors.append(abs(math.log(float(np.median(times)) / costs_only.value_s)) if times else 0.0)
    return math.hypot(*errors)


# What does not fit


@dataclass(frozen=True)
class SiteShare:
    """A call site whose behaviour on more ranks is not known, the share of the time in its calls and before
    them, and its share of the calls."""

    site: str
    reason: str
    share: float
    calls: float


def unknown_sites(structure: Structure) -> tuple[SiteShare, ...]:
    """The largest share first: of the time in the largest run whose ranks had a core each, or of the calls in
    the largest run. Calls count as well because they take more of the time on more ranks."""
    alone = [ranks for ranks, run in structure.runs.items() if not run.crowded and ranks > 1]
    run = structure.runs[max(alone or structure.runs)]
    size = len(structure.kinds.kinds)
    seconds = np.zeros(size)
    total = 0.0
    for each in run.sequences:
        seconds += np.bincount(each.kinds, each.called_s + each.computed_s, size)
        total += float((each.called_s + each.computed_s).sum()) + each.tail_s
    largest = structure.runs[max(structure.runs)]
    calls = np.bincount(np.concatenate([each.kinds for each in largest.sequences]), minlength=size)
    by_site: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
    for kind, *shares in zip(
        structure.kinds.kinds, seconds / max(total, 1e-300), calls / max(calls.sum(), 1), strict=True
    ):
        by_site[kind.site] += shares
    reasons: dict[str, str] = {}
    tasks = sites_with_tasks(structure) if structure.misfits else {}
    for misfit in structure.misfits:
        reasons.setdefault(misfit.site, tasks.get(misfit.site, misfit.reason))
    rows = [
        SiteShare(site, reason, float(by_site[site][0]), float(by_site[site][1]))
        for site, reason in reasons.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-max(row.share, row.calls), row.site)))


MAX_VOLUME_ERROR = 0.05


def check_largest_run(structure: Structure) -> None:
    """Predict the calls of the largest run from the others, and note the call sites at which the numbers or
    sizes of messages and collectives, or their partners, differ. Without effect if the others do not show
    what its ranks do."""
    largest = max(structure.runs)
    others = [run for ranks, run in structure.runs.items() if ranks != largest]
    if len(others) < MIN_RUNS:
        return
    dims = {run.ranks: structure.arrangement.dims[run.ranks] for run in others}
    smaller = arranged_structure(
        others,
        structure.kinds,
        replace(structure.arrangement, dims=dims),
        structure.features,
        structure.folded,
        structure.ruled,
    )
    try:
        place = structure.place(largest)
        made = Synthesis(smaller, largest, place.dims, place.nodes)
    except Inconclusive:
        return
    predicted = made.volumes()
    traced = observed_volumes(structure.runs[largest], structure.kinds)
    known = {misfit.site for misfit in smaller.misfits}
    rough = {*structure.rough_sizes(), *smaller.rough_sizes()}
    kinds = {kind.site: number for number, kind in enumerate(structure.kinds.kinds)}
    for site in sorted({*predicted, *traced} - known):
        first, second = predicted.get(site, Volume(0, 0.0)), traced.get(site, Volume(0, 0.0))
        less, more = sorted((first.size, second.size))
        error = (more - less) / max(less, 1.0)
        if first.count == second.count and site in rough and error <= ROUGH:
            structure.size_errors[site] = error
        elif first.count != second.count or error > MAX_VOLUME_ERROR:
            structure.add_misfit(
                kinds[site],
                f"on {largest} ranks, {second.count} messages with {format_bytes(second.size)} were traced, "
                f"{first.count} with {format_bytes(first.size)} are predicted from the other runs",
            )
    if not known and smaller.has_exact_loops:
        check_run(structure, made, structure.runs[largest])
