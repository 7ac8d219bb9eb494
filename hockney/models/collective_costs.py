# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of the engine's collective algorithms, derived from the costs of messages.

There are three predictions, all based on the algorithm's message schedule with its closed form (`schedules`):

    closed form   messages, bytes and combined bytes on the longest path, times alpha, beta and gamma
    textbook      the schedule with a time for each size of message; a rank sends and receives one at a time
    predict       the schedule with everything that is known of a machine: on a real one what a run measured
                  between two ranks (`measured_costs`), on a simulated one its description, with the links
                  that messages share (`network_sim`)

The textbook prediction uses Hockney's model: the time of a message depends only on its size. During this time
its sender sends no other message and its receiver receives none; a rank may send and receive at once (the
one-port model of E. Chan et al., Concurrency and Computation 19 (2007) 1749). With alpha + beta x for a
message of x bytes, the results are the closed forms of textbooks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from msgspec.structs import replace

from hockney.core.case import ALGORITHM, MPI, Case
from hockney.core.errors import HockneyError, UsageError, printable
from hockney.core.fit import Estimate, Fits, TimeEstimate
from hockney.core.layout import NETWORK, PAIR_RANKS
from hockney.core.machine import Machine
from hockney.core.platform import NodeGroup, Platform
from hockney.models.applications.layouts import nodes_beyond_machine, ranks_per_node_beyond_cores
from hockney.models.applications.message_costs import messages_for, no_inter_node_costs
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.level_costs import CostsByLevel
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.measured_costs import End, measured_costs
from hockney.models.network_sim import NetworkSimulator
from hockney.models.routes import shares_links
from hockney.models.schedules import CLOSED_FORMS, SCHEDULES, ClosedForm, NotModelled, Step

TREE_NAMES = ("binomial", "recursive_doubling", "bruck", "linear")
"""The algorithm that is "a tree of sends and receives", best known first."""
BARRIER = SCHEDULES["barrier", "dissemination"]
"""The barrier before a collective; it is not known which one MPI uses."""
LINEAR_OPERATIONS = {"alltoall": "pairwise_exchange", "reduce_scatter_block": "pairwise"}
"""Operations in which every rank has different data for each other one."""


@dataclass(frozen=True)
class CollectiveTime:
    """Seconds of an operation with blocks or vectors of `size` bytes, from the common start until the last
    rank ends. The interval of `time` assumes that all message times vary together (None if unknown, exact on
    a machine without noise). `textbook` counts whole messages, one at a time into and out of each rank.
    `left_out` lists costs of a rank's own work that were not measured and are assumed to be 0: "copy",
    "combine"."""

    size: int
    time: TimeEstimate
    textbook: float
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class BesideMpi:
    """A measured case of MPI's own collective, and the predicted time of `algorithm` on this number of
    `nodes` (0: unknown)."""

    case: str
    ranks: int
    size: int
    mpi: Estimate
    predicted: CollectiveTime
    algorithm: str
    nodes: int = 0

    @property
    def error(self) -> float:
        """Relative error of the prediction, assuming that MPI uses the same algorithm."""
        return self.predicted.time.value / self.mpi.value - 1


def operations() -> list[str]:
    """MPI operations with algorithms that have a cost model."""
    return sorted({operation for operation, _ in CLOSED_FORMS})


def algorithms(operation: str) -> list[str]:
    """The engine's algorithms of an operation that have a cost model."""
    return sorted(name for of, name in CLOSED_FORMS if of == operation)


def closed_form(operation: str, algorithm: str) -> ClosedForm:
    """Raises UsageError for an unknown algorithm."""
    form = CLOSED_FORMS.get((operation, algorithm))
    if form is None:
        raise _unknown_collective_algorithm(operation, algorithm, algorithms(operation))
    return form


def textbook(
    message_s: Callable[[float], float],
    operation: str,
    algorithm: str,
    ranks: int,
    size: int,
    *,
    combine_s_per_byte: float = 0.0,
) -> float:
    """Seconds of an algorithm whose messages take `message_s(bytes)` each, for example with a published
    formula:

        textbook(lambda x: 56e-6 + x / 308e6, "bcast", "binomial", 32, 1_000_000)

    Raises UsageError for an algorithm that is unknown, or does not exist for `ranks` ranks."""
    steps = _steps(operation, algorithm, ranks, size)
    return one_port_time(steps, ranks, message_s, combine_s_per_byte)


def predict(
    fits: Fits,
    machine: Machine,
    operation: str,
    algorithm: str,
    ranks: int,
    sizes: Sequence[int],
    *,
    where: str = "this run",
    hosts: int = 1,
    nodes: int = 0,
    after_barrier: bool = False,
) -> list[CollectiveTime]:
    """Predict the time of `algorithm` on `machine` for each of `sizes`, the bytes of each rank's block or
    vector.

    `fits` come from a run on the machine that measured messages between two ranks at the level `where`, on
    `hosts` machines of this kind. The ranks are spread evenly over `nodes` nodes. With 0 nodes, they fill the
    nodes of the run, or the cores of the description, one after the other. With `after_barrier`, each rank
    begins when it leaves a dissemination barrier, and its time counts from then on. Raises Inconclusive if
    the fits lack a model of messages, or of messages between nodes if there are several. Raises UsageError
    for an algorithm that is unknown or does not exist for `ranks` ranks, and for a simulated machine with too
    few cores."""
    closed_form(operation, algorithm)
    if machine.platform is not None:
        each = machine.ranks_per_node
        platform = platform_on_nodes(machine.platform, ranks, nodes or (-(-ranks // each) if each else 0))
        return [
            time_on_description(platform, operation, algorithm, ranks, size, after_barrier=after_barrier)
            for size in sizes
        ]
    message = messages_for(fits, machine, where, hosts=hosts).spread_over(nodes)
    if not message.covers_node_count(nodes):
        raise no_inter_node_costs(where, nodes)
    levels, per_node = message.levels(ranks), message.per_node(ranks)
    ends: tuple[End, ...] = ("value", "low", "high")
    runs = [_RealMachine(_measured(fits, message, end), ranks, per_node, after_barrier) for end in ends]
    value, low, high = runs
    known = all(level.band for level in levels)
    between, near = message.between_nodes.one_way, levels[0].one_way
    found = []
    for size in sizes:
        steps = list(_steps(operation, algorithm, ranks, size))
        time = value.time(steps)
        bounds = [each.time(steps) for each in (low, high)] if known else []
        lowest, highest = (min(time, *bounds), max(time, *bounds)) if bounds else (None, None)
        combine = float(value.costs.own("combine").at(size)) / size if size else 0.0
        found.append(
            CollectiveTime(
                size,
                TimeEstimate(time, lowest, highest),
                one_port_time(steps, ranks, between, combine, per_node=per_node, near_s=near),
                _unmeasured_costs(value.costs, steps),
            )
        )
    return found


def beside_mpi(
    fits: Fits,
    machine: Machine,
    operation: str,
    algorithm: str = "",
    *,
    where: str = "this run",
    hosts: int = 1,
) -> list[BesideMpi]:
    """Each case of MPI's own `operation` in `fits` with the predicted time of `algorithm`. The default is a
    tree of sends and receives, or messages to each rank in turn if every rank has different data for each."""
    chosen = algorithm or tree_algorithm(operation)
    measured: dict[tuple[int, int], list[tuple[int, str, Estimate]]] = {}
    for workload, case, summary in fits.measured_cases("collective", operation=operation):
        nodes = _node_count(case)
        if case.ranks > 1 and case.is_usual and nodes is not None:
            row = int(case.number(workload.size)), summary.case, summary.cost(fits.cost)
            measured.setdefault((case.ranks, nodes), []).append(row)
    rows = []
    for (ranks, nodes), cases in sorted(measured.items()):
        cases.sort(key=lambda each: each[0])
        sizes = [size for size, _, _ in cases]
        times = predict(fits, machine, operation, chosen, ranks, sizes, where=where, hosts=hosts, nodes=nodes)
        for (size, case_line, mpi), time in zip(cases, times, strict=True):
            rows.append(BesideMpi(case_line, ranks, size, mpi, time, chosen, nodes))
    return rows


def _node_count(case: Case) -> int | None:
    """Number of nodes given by the case, 0 if none. The level of two ranks implies one or two nodes. With
    more ranks the level only describes pairs: None."""
    if not case.place:
        return case.nodes
    return (2 if case.place == NETWORK else 1) if case.ranks == PAIR_RANKS else None


def tree_algorithm(operation: str) -> str:
    """An algorithm that is a tree of sends and receives, or the simplest algorithm without one."""
    known = algorithms(operation)
    preferred = (
        [LINEAR_OPERATIONS[operation]]
        if operation in LINEAR_OPERATIONS
        else [name for name in TREE_NAMES if name in known]
    )
    if not preferred:
        raise _unknown_collective_algorithm(operation, "", known)
    return preferred[0]


def _steps(operation: str, algorithm: str, ranks: int, size: int) -> Iterable[Step]:
    closed_form(operation, algorithm)
    if ranks < 1:
        raise _rank_count_not_modelled(operation, algorithm, ranks, "there is no such rank count")
    try:
        return list(SCHEDULES[operation, algorithm](ranks, size))
    except NotModelled as error:
        raise _rank_count_not_modelled(operation, algorithm, ranks, str(error)) from None


@dataclass(frozen=True)
class _RealMachine:
    """Runs schedules on a real machine."""

    costs: CostsByLevel
    ranks: int
    per_node: int
    after_barrier: bool

    def time(self, steps: Iterable[Step]) -> float:
        costs = self.costs.on(self.ranks, self.per_node)
        start = np.zeros(self.ranks)
        if self.after_barrier:
            start = LogGPSimulator(None, self.ranks, costs).run(BARRIER(self.ranks, 0)).copy()
        return float((LogGPSimulator(None, self.ranks, costs, start).run(steps) - start).max())


def _measured(fits: Fits, message: PointToPointCosts, end: End) -> CostsByLevel:
    near = (
        None
        if message.within_node is None
        else measured_costs(fits, _shared_costs(message.within_node, end), end)
    )
    return CostsByLevel(near, measured_costs(fits, _shared_costs(message.between_nodes, end), end))


def _shared_costs(message: PointToPointCosts, end: End) -> PointToPointCosts:
    """Costs with the share of each message on a node, at this end of its interval."""
    if end == "value" or message.node_sharing is None:
        return message
    return dataclasses.replace(message, node_sharing=message.node_sharing.at_rate_bound(slow=end == "high"))


def _unmeasured_costs(costs: CostsByLevel, steps: Iterable[Step]) -> tuple[str, ...]:
    needed = {
        "copy": any(step.copied is not None for step in steps) and not costs.own("copy").sizes,
        "combine": any(step.combine for step in steps) and not costs.own("combine").sizes,
    }
    return tuple(name for name, missing in needed.items() if missing)


def platform_on_nodes(platform: Platform, ranks: int, nodes: int) -> Platform:
    """The platform with just enough cores on each node for `ranks` ranks on `nodes` of its nodes (0:
    unchanged). Raises UsageError if it has too few nodes, or too few cores per node."""
    if not nodes:
        return platform
    count, each = sum(group.count for group in platform.nodes), -(-ranks // nodes)
    cores = min(group.cores for group in platform.nodes)
    if nodes > count:
        raise nodes_beyond_machine(nodes, count)
    if each > cores:
        raise ranks_per_node_beyond_cores(each, cores)
    network = platform.network
    if not network.nodes or each == cores:
        return platform
    nodes_of_each = (NodeGroup(count=count, cores=each),)
    return replace(platform, network=replace(network, nodes=nodes_of_each))


def time_on_description(
    platform: Platform,
    operation: str,
    algorithm: str,
    ranks: int,
    size: int,
    *,
    after_barrier: bool = False,
) -> CollectiveTime:
    """Time of `algorithm` on a described machine. Raises UsageError like `predict`."""
    if ranks > platform.capacity:
        why = f"the machine has {platform.capacity} cores"
        raise _rank_count_not_modelled(operation, algorithm, ranks, why)
    steps = list(_steps(operation, algorithm, ranks, size))
    try:
        time = simulated_time(platform, steps, ranks, list(BARRIER(ranks, 0)) if after_barrier else ())
    except NotModelled as error:
        raise _rank_count_not_modelled(operation, algorithm, ranks, str(error)) from None
    known = None if platform.varies else time
    far = ranks > min(group.cores for group in platform.nodes)
    network = platform.network

    def message_s(size: float) -> float:
        alone = platform.segment(size, on_node=not far).one_way(size, 1, network.hop_s if far else 0.0)
        return alone + (network.medium_message_s + network.medium_s_per_byte * size if far else 0.0)

    whole = one_port_time(steps, ranks, message_s, platform.sum_s_per_byte)
    return CollectiveTime(size, TimeEstimate(time, known, known), whole)


def simulated_time(
    platform: Platform, steps: Sequence[Step], ranks: int, before: Sequence[Step] = ()
) -> float:
    """Seconds of a schedule on a described machine, after the steps `before` on each rank. Raises
    NotModelled. Without shared links the simulation of clocks alone is exact."""
    start = np.zeros(ranks)
    if not shares_links(platform):
        try:
            if before:
                start = LogGPSimulator(platform, ranks).run(before).copy()
            return float((LogGPSimulator(platform, ranks, start=start).run(steps) - start).max())
        except NotModelled:
            pass
    if before:
        start = NetworkSimulator(platform, ranks).run(before).copy()
    return float((NetworkSimulator(platform, ranks).run([*before, *steps]) - start).max())


def _unknown_collective_algorithm(operation: str, algorithm: str, known: Sequence[str]) -> UsageError:
    name_list = f"its algorithms are {', '.join(known)}" if known else "there is no model of this operation"
    return UsageError(
        f"the cost of {printable(operation)} algorithm={printable(algorithm)} is unknown",
        name_list,
        "give one" if known else "give a collective of docs/collectives.md",
        code="unknown-collective-algorithm",
        operation=operation,
        algorithm=algorithm,
    )


def _rank_count_not_modelled(operation: str, algorithm: str, ranks: int, why: str) -> UsageError:
    return UsageError(
        f"the cost of {operation} algorithm={algorithm} on {ranks} ranks cannot be computed",
        why,
        "give another number of ranks",
        code="rank-count-not-modelled",
        operation=operation,
        algorithm=algorithm,
        ranks=ranks,
    )


def one_port_time(
    steps: Iterable[Step],
    ranks: int,
    message_s: Callable[[float], float],
    combine_s_per_byte: float = 0.0,
    *,
    per_node: int = 1,
    near_s: Callable[[float], float] | None = None,
) -> float:
    """Seconds until the last rank ends. `message_s` returns the seconds of a message by its bytes, `near_s`
    those of a message within a node of `per_node` consecutive ranks."""
    known: dict[tuple[float, bool], float] = {}
    of_level = message_s, near_s or message_s
    now = np.zeros(ranks)
    for step in steps:
        sending, receiving, combining = now.copy(), now.copy(), np.zeros(ranks)
        for layer in step.layers:
            sizes = np.broadcast_to(np.asarray(layer.size, dtype=float), layer.source.shape)
            local = layer.source // per_node == layer.target // per_node
            took = np.zeros(sizes.shape)
            for within in np.unique(local):
                distinct, which = np.unique(sizes[local == within], return_inverse=True)
                for size in distinct:
                    if (size, within) not in known:
                        known[size, within] = of_level[int(within)](float(size))
                took[local == within] = np.array([known[size, within] for size in distinct])[which]
            end = np.maximum(sending[layer.source], receiving[layer.target]) + took
            sending[layer.source] = receiving[layer.target] = end
            if step.combine:
                combining[layer.target] += combine_s_per_byte * sizes
        now = np.maximum(sending, receiving) + combining
    return float(now.max())


@dataclass(frozen=True)
class LayoutErrors:
    """Relative prediction errors of one operation with one algorithm, on `ranks` ranks of `nodes` nodes.
    `predicted_as` is the algorithm used for the prediction, also for MPI's own collective."""

    operation: str
    algorithm: str
    predicted_as: str
    ranks: int
    nodes: int
    errors: tuple[float, ...]

    @property
    def typical(self) -> float:
        """Median absolute error."""
        return median(map(abs, self.errors))

    @property
    def worst(self) -> float:
        """Largest error, with its sign."""
        return max(self.errors, key=abs)


def errors_by_layout(fits: Fits, machine: Machine, *, hosts: int = 1) -> list[LayoutErrors]:
    """Prediction errors of all measured cases with a known number of nodes, except empty ones, which may
    return at once. MPI's own algorithm is unknown, so it is predicted as a `tree_algorithm`."""
    groups: dict[tuple[str, str, int, int, bool], list[tuple[int, float]]] = {}
    for workload, case, summary in fits.measured_cases("collective"):
        if not _comparison_key(case) or not workload.size:
            continue
        after_barrier = case.get("sync") == "barrier"
        key = workload.operation, str(case.get(ALGORITHM, MPI)), case.ranks, case.nodes, after_barrier
        size, time = int(case.number(workload.size)), summary.cost(fits.cost).value
        if size > 0 and time > 0:
            groups.setdefault(key, []).append((size, time))
    found = []
    for (operation, algorithm, ranks, nodes, after_barrier), cases in sorted(groups.items()):
        try:
            known = tree_algorithm(operation) if algorithm == MPI else algorithm
            times = predict(
                fits, machine, operation, known, ranks, [size for size, _ in cases],
                hosts=hosts, nodes=nodes, after_barrier=after_barrier,
            )  # fmt: skip
        except HockneyError:  # no schedule of this algorithm on so many ranks, or no cost of messages
            continue
        off = tuple(p.time.value / measured - 1 for p, (_, measured) in zip(times, cases, strict=True))
        found.append(LayoutErrors(operation, algorithm, known, ranks, nodes, off))
    return found


def _comparison_key(case: Case) -> bool:
    usual = case.with_parameter(ALGORITHM, MPI).is_usual if ALGORITHM in case else case.is_usual
    return case.ranks > 1 and case.nodes > 0 and usual and not case.setting and case.get("sync") != "loop"
