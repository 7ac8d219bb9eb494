# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parallel efficiency from the grain of the work: Amdahl's law with communication.

U. R. Hanebutte, M. Tatsumi, 'Study of Parallel Efficiency in Message Passing Environments' (1996):

    speed-up    T / (T/np + Tcom)                            equation 1
    efficiency  speed-up / np = T / (T + np Tcom)            equation 2
    work        T = Ts + Tp, Ts = s T, Tp = p T, p = 1 - s   equations 4 and 5
    efficiency  T / (p T + np (s T + Tcom))                  equation 6

Two factors are added here. `exchanges` m is how often the ranks exchange for one work T, `imbalance` b >= 1
the parallel work of the rank that has most of it over the mean; the others wait for that one:

    time on np ranks    s T + b p T / np + m Tcom

On one rank it is T; b is at most np, when one rank has it all. The page's explorer computes the same
(`report/widgets/efficiency_model.js`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hockney.models import messages
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time

ROUNDING = 1e-12
"""Efficiencies that differ by less are the same."""

FINE = 1024
"""Up to so many ranks every number is looked at."""

SEEN = 1e-6
"""A gain of efficiency that is one."""

OVERLAP = "overlap"

TOGETHER = 10
"""So many exchanges aggregation makes one of."""


@dataclass(frozen=True)
class Algorithm:
    """`work_s` is what one rank computes alone between two rounds of `exchanges`, of which the fraction
    `serial` cannot be shared; messages have `bytes`. Raises UsageError for values that no algorithm has."""

    work_s: float
    bytes: float = 0.0
    serial: float = 0.0
    exchanges: float = 1.0
    imbalance: float = 1.0

    def __post_init__(self) -> None:
        checks: tuple[tuple[messages.Quantity, float, bool], ...] = (
            ("work", self.work_s, 0 < self.work_s < float("inf")),
            ("serial", self.serial, 0 <= self.serial <= 1),
            ("bytes", self.bytes, 0 <= self.bytes < float("inf")),
            ("exchanges", self.exchanges, 0 <= self.exchanges < float("inf")),
            ("imbalance", self.imbalance, 1 <= self.imbalance < float("inf")),
        )
        for quantity, value, possible in checks:
            if not possible:
                raise messages.impossible_algorithm(quantity, value)


@dataclass(frozen=True)
class Times:
    """What one rank's time on `ranks` ranks consists of, in seconds: its serial part (all wait for it), its
    fair share of the parallel work, waiting for the rank that has most work, and communication."""

    ranks: int
    alone: float
    serial: float
    parallel: float
    waiting: float
    communication: float

    @property
    def total(self) -> float:
        return self.serial + self.parallel + self.waiting + self.communication

    @property
    def speed_up(self) -> float:
        return self.alone / self.total

    @property
    def efficiency(self) -> float:
        return self.speed_up / self.ranks

    @property
    def communication_share(self) -> float:
        return self.communication / self.total


def times(algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0) -> Times:
    """`factor` is what the time of an exchange is multiplied by: an end of its interval."""
    work = algorithm.work_s
    if ranks == 1:
        return Times(1, work, algorithm.serial * work, (1 - algorithm.serial) * work, 0.0, 0.0)
    share = (1 - algorithm.serial) * work / ranks
    return Times(
        ranks=ranks,
        alone=work,
        serial=algorithm.serial * work,
        parallel=share,
        waiting=(min(algorithm.imbalance, ranks) - 1) * share,
        communication=algorithm.exchanges * factor * exchange_time(messages, algorithm.bytes, ranks),
    )


def efficiency(algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0) -> float:
    """Equation 6."""
    return times(algorithm, messages, ranks, factor).efficiency


def ceiling(algorithm: Algorithm, ranks: int) -> float:
    """The efficiency that no amount of work exceeds: equation 6 for Tcom = 0, or for an endless T."""
    if ranks == 1:
        return 1.0
    busiest = min(algorithm.imbalance, ranks)
    return 1 / (busiest * (1 - algorithm.serial) + ranks * algorithm.serial)


def work_needed(
    wanted: float, algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0
) -> float | None:
    """The work T (s) from which the efficiency on `ranks` ranks is at least `wanted`, all else being equal:
    equation 6 solved for T. None where no work is enough, since serial part and imbalance grow with it."""
    if ranks == 1:
        return 0.0 if wanted <= 1 else None
    left = 1 - wanted / ceiling(algorithm, ranks)
    communication = algorithm.exchanges * factor * exchange_time(messages, algorithm.bytes, ranks)
    if left <= ROUNDING:
        return 0.0 if left >= -ROUNDING and communication == 0 else None
    return wanted * ranks * communication / left


def break_even(
    algorithm: Algorithm, messages: PointToPointCosts, ranks: int, factor: float = 1.0
) -> float | None:
    """The work (s) from which `ranks` ranks are faster than one: efficiency 1/np, speed-up 1."""
    return work_needed(1 / ranks, algorithm, messages, ranks, factor)


def on_cores(algorithm: Algorithm, ranks: int, cores: int | None) -> Algorithm:
    """As it is with `ranks` ranks on `cores` cores (None: one each): those that share a core compute one
    after the other, so that all wait as for a rank with so many times its share. Where ranks outnumber cores
    hockney binds none to a core of its own (`launch.command`), and the scheduler moves them: each has
    cores/ranks of a core, also where the ranks cannot be split evenly."""
    if cores is None or ranks <= cores:
        return algorithm
    return replace(algorithm, imbalance=algorithm.imbalance * ranks / cores)


def best_ranks(algorithm: Algorithm, messages: PointToPointCosts, most: int, factor: float = 1.0) -> int:
    """The number of ranks from 1 to `most` with the largest speed-up, the fewest of those, among `counts`."""
    return max(
        counts(most),
        key=lambda ranks: (times(algorithm, messages, ranks, factor).speed_up, -ranks),
    )


def ranks_reaching(
    wanted: float, algorithm: Algorithm, messages: PointToPointCosts, most: int, factor: float = 1.0
) -> int:
    """The largest number of ranks among `counts` of `most` whose efficiency is at least `wanted`; 1 always
    reaches what can be reached."""
    return next(
        (n for n in reversed(counts(most)) if efficiency(algorithm, messages, n, factor) >= wanted), 1
    )


def counts(most: int) -> list[int]:
    """Numbers of ranks to look at: each up to 1024, then in steps of about a thousandth, and `most`."""
    ranks = list(range(1, min(most, FINE) + 1))
    step = 2
    while ranks[-1] + step <= most:
        ranks += range(ranks[-1] + step, min(2 * ranks[-1], most) + 1, step)
        step *= 2
    return ranks if ranks[-1] == most else [*ranks, most]


@dataclass(frozen=True)
class Lever:
    """A change of the algorithm, in words, and the efficiency it would bring; `gain` is what of that is
    new. `algorithm` is the changed one, None where the change is not one of its numbers."""

    name: str
    words: str
    efficiency: float
    gain: float
    algorithm: Algorithm | None = None


def levers(algorithm: Algorithm, messages: PointToPointCosts, ranks: int) -> list[Lever]:
    """What would help on `ranks` ranks, what helps most first; what would change nothing is left out.

    Aggregation computes TOGETHER times as long between exchanges and sends what was gathered in one
    message of as many times the bytes. Overlap hides as much communication as there is parallel work to hide
    it behind, which is the most that non-blocking communication can do.
    """
    now = times(algorithm, messages, ranks)
    changed = [
        (
            "aggregation",
            f"exchange {TOGETHER} times less often, with messages {TOGETHER} times as long",
            replace(algorithm, work_s=TOGETHER * algorithm.work_s, bytes=TOGETHER * algorithm.bytes),
        ),
        ("shorter messages", "send half the bytes", replace(algorithm, bytes=algorithm.bytes / 2)),
        ("less imbalance", "give every rank the same work", replace(algorithm, imbalance=1.0)),
        ("less serial work", "halve the serial part", replace(algorithm, serial=algorithm.serial / 2)),
    ]
    changes = [
        Lever(name, words, value, value - now.efficiency, each)
        for name, words, each in changed
        for value in (efficiency(each, messages, ranks),)
    ]
    hidden = overlapped(now)
    changes.append(
        Lever(OVERLAP, "hide communication behind the parallel work", hidden, hidden - now.efficiency)
    )
    return sorted((lever for lever in changes if lever.gain > SEEN), key=lambda lever: -lever.gain)


def overlapped(now: Times) -> float:
    """The efficiency at best with communication hidden behind the parallel work."""
    return now.alone / now.ranks / (now.total - min(now.communication, now.parallel + now.waiting))
