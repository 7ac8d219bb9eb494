# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each collective algorithm of the engine costs, from the costs of messages.

There are three answers, all from the algorithm's only description, its message schedule with its closed form
(`schedules`):

    closed form   messages, bytes and combined bytes on the longest path, times alpha, beta and gamma
    textbook      the schedule with a time for each size of message; a rank sends and receives one at a time
    predict       the schedule with everything that is known of a machine: on a real one what a run measured
                  between two ranks (`measured_costs`), on a simulated one its description, with the links
                  that messages share (`network_sim`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hockney.core.case import parse_canonical
from hockney.core.fit import Estimate, Fits, TimeEstimate
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.models import messages
from hockney.models.applications.message_costs import messages_for
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.measured_costs import End, MeasuredCosts, measured_costs
from hockney.models.network_sim import NetworkSimulator
from hockney.models.one_port import one_port_time
from hockney.models.routes import UNLIMITED
from hockney.models.schedules import CLOSED_FORMS, SCHEDULES, ClosedForm, NotModelled, Step

TREES = ("binomial", "recursive_doubling", "bruck", "linear")
"""The algorithm that is "a tree of sends and receives", best known first."""
EACH = {"alltoall": "pairwise_exchange", "reduce_scatter_block": "pairwise"}
"""Operations in which every rank has different data for each other one."""


@dataclass(frozen=True)
class CollectiveTime:
    """Seconds of an operation for blocks or vectors of `size` bytes, from the moment at which all ranks begin
    until the last one ends. `time` has a 95% interval that assumes that all message times change together
    (None if unknown, exact on a machine without noise). `textbook` is the time of whole messages, one at a
    time in and out of each rank. `left_out` are costs of a rank's own work that were not measured and are
    taken as 0: "copy", "combine"."""

    size: int
    time: TimeEstimate
    textbook: float
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class BesideMpi:
    """A measured case of MPI's own collective, and what `algorithm` would take."""

    case: str
    ranks: int
    size: int
    mpi: Estimate
    predicted: CollectiveTime
    algorithm: str


def operations() -> list[str]:
    """MPI operations of which algorithms have a cost model."""
    return sorted({operation for operation, _ in CLOSED_FORMS})


def algorithms(operation: str) -> list[str]:
    """The algorithms of an operation that have a cost model: those of the engine."""
    return sorted(name for of, name in CLOSED_FORMS if of == operation)


def closed_form(operation: str, algorithm: str) -> ClosedForm:
    """Raises UsageError for an unknown algorithm."""
    found = CLOSED_FORMS.get((operation, algorithm))
    if found is None:
        raise messages.unknown_collective_algorithm(operation, algorithm, algorithms(operation))
    return found


def textbook(
    message_s: Callable[[float], float],
    operation: str,
    algorithm: str,
    ranks: int,
    size: int,
    *,
    combine_s_per_byte: float = 0.0,
) -> float:
    """Seconds of an algorithm whose messages take `message_s(bytes)` each, for example a paper's formula:

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
) -> list[CollectiveTime]:
    """The time of `algorithm` on `machine` for each of `sizes`, bytes of each rank's block or vector.

    `fits` are those of a run on it that measured messages between two ranks, named `where`, on `hosts`
    machines like this one. Raises Inconclusive if they have no model of messages, UsageError for an algorithm
    that is unknown or does not exist for `ranks` ranks, and if a simulated machine has fewer cores."""
    closed_form(operation, algorithm)
    if machine.platform is not None:
        return [on_description(machine.platform, operation, algorithm, ranks, size) for size in sizes]
    message = messages_for(fits, machine, where, hosts=hosts)
    ends: tuple[End, ...] = ("value", "low", "high")
    value, low, high = (measured_costs(fits, message, end) for end in ends)
    known = bool(message.band)
    found = []
    for size in sizes:
        steps = list(_steps(operation, algorithm, ranks, size))
        time = _run(value, steps, ranks)
        bounds = [_run(each, steps, ranks) for each in (low, high)] if known else []
        lowest, highest = (min(time, *bounds), max(time, *bounds)) if bounds else (None, None)
        combine = float(value.combine.at(size)) / size if size else 0.0
        found.append(
            CollectiveTime(
                size,
                TimeEstimate(time, lowest, highest),
                one_port_time(steps, ranks, message.one_way, combine),
                _left_out(value, steps),
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
    """For each case of MPI's own `operation` in `fits`, what `algorithm` would take; by default a tree of
    sends and receives, or messages to each rank in turn where every rank has other data for each."""
    chosen = algorithm or tree(operation)
    names = {w.name: w.size for w in fits.workloads if w.performs("collective", operation)}
    measured: dict[int, list[tuple[int, str, Estimate]]] = {}
    for summary in fits.summaries:
        size_name = names.get(summary.case.split(" ", 1)[0])
        if size_name is None:
            continue
        case = parse_canonical(summary.case)
        if case.ranks > 1 and case.usual:
            row = int(case.number(size_name)), summary.case, summary.cost(fits.cost)
            measured.setdefault(case.ranks, []).append(row)
    rows = []
    for ranks, cases in sorted(measured.items()):
        cases.sort(key=lambda each: each[0])
        sizes = [size for size, _, _ in cases]
        times = predict(fits, machine, operation, chosen, ranks, sizes, where=where, hosts=hosts)
        for (size, case_line, mpi), time in zip(cases, times, strict=True):
            rows.append(BesideMpi(case_line, ranks, size, mpi, time, chosen))
    return rows


def tree(operation: str) -> str:
    """The algorithm that is a tree of sends and receives, or the simplest one if there is no tree."""
    known = algorithms(operation)
    preferred = [EACH[operation]] if operation in EACH else [name for name in TREES if name in known]
    if not preferred:
        raise messages.unknown_collective_algorithm(operation, "", known)
    return preferred[0]


def _steps(operation: str, algorithm: str, ranks: int, size: int) -> Iterable[Step]:
    closed_form(operation, algorithm)
    if ranks < 1:
        raise messages.rank_count_not_modelled(operation, algorithm, ranks, "there is no such rank count")
    try:
        return list(SCHEDULES[operation, algorithm](ranks, size))
    except NotModelled as error:
        raise messages.rank_count_not_modelled(operation, algorithm, ranks, str(error)) from None


def _run(costs: MeasuredCosts, steps: Iterable[Step], ranks: int) -> float:
    return float(LogGPSimulator(None, ranks, costs).run(steps).max())


def _left_out(costs: MeasuredCosts, steps: Iterable[Step]) -> tuple[str, ...]:
    needed = {
        "copy": any(step.copied is not None for step in steps) and not costs.copy.sizes,
        "combine": any(step.combine for step in steps) and not costs.combine.sizes,
    }
    return tuple(name for name, missing in needed.items() if missing)


def on_description(
    platform: Platform, operation: str, algorithm: str, ranks: int, size: int
) -> CollectiveTime:
    """The time of `algorithm` on a described machine. Raises UsageError as `predict` does."""
    if ranks > platform.capacity:
        why = f"the machine has {platform.capacity} cores"
        raise messages.rank_count_not_modelled(operation, algorithm, ranks, why)
    steps = list(_steps(operation, algorithm, ranks, size))
    try:
        time = simulated_time(platform, steps, ranks)
    except NotModelled as error:
        raise messages.rank_count_not_modelled(operation, algorithm, ranks, str(error)) from None
    known = None if platform.noise is not None else time
    far = ranks > min(group.cores for group in platform.nodes)
    network = platform.network

    def message_s(size: float) -> float:
        alone = platform.segment(size, on_node=not far).one_way(size, 1, network.hop_s if far else 0.0)
        return alone + (network.medium_message_s + network.medium_s_per_byte * size if far else 0.0)

    whole = one_port_time(steps, ranks, message_s, platform.sum_s_per_byte)
    return CollectiveTime(size, TimeEstimate(time, known, known), whole)


def simulated_time(platform: Platform, steps: Sequence[Step], ranks: int) -> float:
    """Seconds of a schedule on a described machine. Raises NotModelled.

    Without shared links the simulation of clocks alone is exact, unless large messages are posted."""
    network = platform.network
    cables = network.link < UNLIMITED and network.shape != "switch"
    shared = network.nic < UNLIMITED or cables or network.medium_message_s or network.medium_s_per_byte
    if not shared:
        try:
            return float(LogGPSimulator(platform, ranks).run(steps).max())
        except NotModelled:
            pass
    return float(NetworkSimulator(platform, ranks).run(steps).max())
