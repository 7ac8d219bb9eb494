# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parallel efficiency as a function of granularity: Amdahl's law with communication.

U. R. Hanebutte, M. Tatsumi, 'Study of Parallel Efficiency in Message Passing Environments' (1996):

    speed-up    T / (T/np + Tcom)                            equation 1
    efficiency  speed-up / np = T / (T + np Tcom)            equation 2
    work        T = Ts + Tp, Ts = s T, Tp = p T, p = 1 - s   equations 4 and 5
    efficiency  T / (p T + np (s T + Tcom))                  equation 6

Two factors are added here. `exchanges` m is the number of exchanges per work T. `imbalance` b >= 1 is the
parallel work of the busiest rank divided by the mean; the other ranks wait for that rank:

    time on np ranks    s T + b p T / np + m Tcom

On one rank the time is T. The largest possible b is np, if one rank does everything. The page's explorer uses
the same model (`report/widgets/efficiency_model.js`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hockney.core.errors import UsageError
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time

Quantity = Literal["work", "serial", "bytes", "exchanges", "imbalance"]

QUANTITIES: dict[Quantity, tuple[str, str]] = {
    "work": ("a computation of {:g} s", "give a time greater than 0"),
    "serial": ("a serial fraction of {:g}", "give 0 to 1, or 0% to 100%"),
    "bytes": ("a message of {:g} B", "give 0 bytes or more"),
    "exchanges": ("{:g} exchanges", "give 0 or more"),
    "imbalance": ("an imbalance of {:g}", "give 1 (even work) or more"),
}

ROUNDING = 1e-12
"""Efficiencies that differ by less are considered equal."""

DENSE_COUNT_LIMIT = 1024
"""Up to this limit, every number of ranks is considered."""

MIN_GAIN = 1e-6
"""The minimum gain of efficiency that counts."""

OVERLAP = "overlap"

AGGREGATION = 10
"""The number of exchanges that aggregation combines."""


@dataclass(frozen=True)
class Algorithm:
    """`work_s` is the time that a single rank computes between two rounds of `exchanges`. The fraction
    `serial` of it cannot be parallelised. Each message has `bytes`. Raises UsageError for impossible
    values."""

    work_s: float
    bytes: float = 0.0
    serial: float = 0.0
    exchanges: float = 1.0
    imbalance: float = 1.0

    def __post_init__(self) -> None:
        checks: tuple[tuple[Quantity, float, bool], ...] = (
            ("work", self.work_s, 0 < self.work_s < float("inf")),
            ("serial", self.serial, 0 <= self.serial <= 1),
            ("bytes", self.bytes, 0 <= self.bytes < float("inf")),
            ("exchanges", self.exchanges, 0 <= self.exchanges < float("inf")),
            ("imbalance", self.imbalance, 1 <= self.imbalance < float("inf")),
        )
        for quantity, value, is_possible in checks:
            if not is_possible:
                raise _impossible_algorithm(quantity, value)


@dataclass(frozen=True)
class Times:
    """The components of one rank's time on `ranks` ranks, in seconds: the serial part (all ranks wait for
    it), an equal share of the parallel work, waiting for the busiest rank, and communication."""

    ranks: int
    single_rank_s: float
    serial: float
    parallel: float
    waiting: float
    communication: float

    @property
    def total(self) -> float:
        return self.serial + self.parallel + self.waiting + self.communication

    @property
    def speed_up(self) -> float:
        return self.single_rank_s / self.total

    @property
    def efficiency(self) -> float:
        return self.speed_up / self.ranks

    @property
    def communication_share(self) -> float:
        return self.communication / self.total


def times(algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0) -> Times:
    """The components of the time. `factor` multiplies the time of an exchange; it is 1 or a bound of its
    interval."""
    work = algorithm.work_s
    if ranks == 1:
        return Times(1, work, algorithm.serial * work, (1 - algorithm.serial) * work, 0.0, 0.0)
    share = (1 - algorithm.serial) * work / ranks
    return Times(
        ranks=ranks,
        single_rank_s=work,
        serial=algorithm.serial * work,
        parallel=share,
        waiting=(min(algorithm.imbalance, ranks) - 1) * share,
        communication=algorithm.exchanges * factor * exchange_time(messages, algorithm.bytes, ranks),
    )


def efficiency(algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0) -> float:
    """The efficiency by equation 6."""
    return times(algorithm, messages, ranks, factor).efficiency


def ceiling(algorithm: Algorithm, ranks: int) -> float:
    """The efficiency that no amount of work exceeds: equation 6 for Tcom = 0, or for infinite T."""
    if ranks == 1:
        return 1.0
    busiest = min(algorithm.imbalance, ranks)
    return 1 / (busiest * (1 - algorithm.serial) + ranks * algorithm.serial)


def required_work(
    target: float, algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0
) -> float | None:
    """The work T (s) from which the efficiency on `ranks` ranks is at least `target`: equation 6 solved for
    T. None if no amount of work suffices, since the serial part and the imbalance grow with it."""
    if ranks == 1:
        return 0.0 if target <= 1 else None
    margin = 1 - target / ceiling(algorithm, ranks)
    communication = algorithm.exchanges * factor * exchange_time(messages, algorithm.bytes, ranks)
    if margin <= ROUNDING:
        return 0.0 if margin >= -ROUNDING and communication == 0 else None
    return target * ranks * communication / margin


def break_even(
    algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0
) -> float | None:
    """The work (s) above which `ranks` ranks are faster than one: efficiency 1/np, speed-up 1."""
    return required_work(1 / ranks, algorithm, messages, ranks, factor)


def with_shared_cores(algorithm: Algorithm, ranks: int, cores: int | None) -> Algorithm:
    """Return the algorithm with `ranks` ranks on `cores` cores (None: one core per rank). Ranks that share a
    core compute one after the other, so all ranks wait as for a rank with correspondingly more work. If there
    are more ranks than cores, hockney does not bind them (`launch.command`) and the scheduler migrates them.
    Each rank then gets cores/ranks of a core, even if the ranks cannot be split evenly."""
    if cores is None or ranks <= cores:
        return algorithm
    return replace(algorithm, imbalance=algorithm.imbalance * ranks / cores)


def best_ranks(algorithm: Algorithm, messages: PointToPointCosts, max_ranks: int, factor: float = 1.0) -> int:
    """The number of ranks with the largest speed-up among `candidate_counts`; the smallest one if several
    have it."""
    return max(
        candidate_counts(max_ranks),
        key=lambda ranks: (times(algorithm, messages, ranks, factor).speed_up, -ranks),
    )


def ranks_reaching(
    target: float, algorithm: Algorithm, messages: PointToPointCosts, max_ranks: int, factor: float = 1.0
) -> int:
    """The largest number of ranks among `candidate_counts` with an efficiency of at least `target`, but at
    least 1."""
    return next(
        (
            rank_count
            for rank_count in reversed(candidate_counts(max_ranks))
            if efficiency(algorithm, messages, rank_count, factor) >= target
        ),
        1,
    )


def candidate_counts(max_ranks: int) -> list[int]:
    """Numbers of ranks to consider: each up to 1024, then in steps of about a thousandth, and `max_ranks`."""
    ranks = list(range(1, min(max_ranks, DENSE_COUNT_LIMIT) + 1))
    step = 2
    while ranks[-1] + step <= max_ranks:
        ranks += range(ranks[-1] + step, min(2 * ranks[-1], max_ranks) + 1, step)
        step *= 2
    return ranks if ranks[-1] == max_ranks else [*ranks, max_ranks]


@dataclass(frozen=True)
class Lever:
    """A change of the algorithm, its description, the resulting efficiency, and the `gain`. `algorithm` is
    the changed algorithm, or None if the change does not affect one of its numbers."""

    name: str
    description: str
    efficiency: float
    gain: float
    algorithm: Algorithm | None = None


def find_levers(algorithm: Algorithm, messages: PointToPointCosts, ranks: int) -> list[Lever]:
    """Possible improvements on `ranks` ranks, the most effective first, without those that change nothing.

    Aggregation computes AGGREGATION times as long between exchanges and combines as many messages into one.
    Overlap hides as much communication as there is parallel work, which is an upper bound for non-blocking
    communication.
    """
    current_times = times(algorithm, messages, ranks)
    changed_algorithms = [
        (
            "aggregation",
            f"exchange {AGGREGATION} times less often, with messages {AGGREGATION} times as long",
            replace(algorithm, work_s=AGGREGATION * algorithm.work_s, bytes=AGGREGATION * algorithm.bytes),
        ),
        ("shorter messages", "send half the bytes", replace(algorithm, bytes=algorithm.bytes / 2)),
        ("less imbalance", "give every rank the same work", replace(algorithm, imbalance=1.0)),
        ("less serial work", "halve the serial part", replace(algorithm, serial=algorithm.serial / 2)),
    ]
    changes = [
        Lever(name, description, new_efficiency, new_efficiency - current_times.efficiency, changed_algorithm)
        for name, description, changed_algorithm in changed_algorithms
        for new_efficiency in (efficiency(changed_algorithm, messages, ranks),)
    ]
    overlap_efficiency = overlapped_efficiency(current_times)
    changes.append(
        Lever(
            OVERLAP,
            "hide communication behind the parallel work",
            overlap_efficiency,
            overlap_efficiency - current_times.efficiency,
        )
    )
    return sorted((lever for lever in changes if lever.gain > MIN_GAIN), key=lambda lever: -lever.gain)


def overlapped_efficiency(current_times: Times) -> float:
    """The best possible efficiency with communication hidden behind the parallel work."""
    return (
        current_times.single_rank_s
        / current_times.ranks
        / (
            current_times.total
            - min(current_times.communication, current_times.parallel + current_times.waiting)
        )
    )


def _impossible_algorithm(quantity: Quantity, value: float) -> UsageError:
    description, remedy = QUANTITIES[quantity]
    return UsageError(
        f"{description.format(value)} is out of range",
        "no algorithm can have it",
        remedy,
        code="impossible-algorithm",
        quantity=quantity,
        value=value,
    )
