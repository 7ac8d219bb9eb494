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

On one rank it is T. The page's explorer computes the same (`report/explorer.js`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hockney.core.errors import UsageError
from hockney.models.exchange import Messages


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
        for wrong, what, todo in (
            (not 0 < self.work_s < float("inf"), f"a work of {self.work_s:g} s", "give a time above 0"),
            (
                not 0 <= self.serial <= 1,
                f"a serial fraction of {self.serial:g}",
                "give 0 to 1, or 0% to 100%",
            ),
            (not 0 <= self.bytes < float("inf"), f"a message of {self.bytes:g} B", "give 0 bytes or more"),
            (not 0 <= self.exchanges < float("inf"), f"{self.exchanges:g} exchanges", "give 0 or more"),
            (not 1 <= self.imbalance < float("inf"), f"an imbalance of {self.imbalance:g}", "1 is even work"),
        ):
            if wrong:
                raise UsageError(f"{what} makes no sense", "no algorithm has it", todo)


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


def times(algorithm: Algorithm, messages: Messages, ranks: int, factor: float = 1.0) -> Times:
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
        waiting=(algorithm.imbalance - 1) * share,
        communication=algorithm.exchanges * factor * messages.exchange(algorithm.bytes, ranks),
    )


def efficiency(algorithm: Algorithm, messages: Messages, ranks: int, factor: float = 1.0) -> float:
    """Equation 6."""
    return times(algorithm, messages, ranks, factor).efficiency


def work_needed(
    wanted: float, algorithm: Algorithm, messages: Messages, ranks: int, factor: float = 1.0
) -> float | None:
    """The work T (s) from which the efficiency on `ranks` ranks is at least `wanted`, all else being equal:
    equation 6 solved for T. None where no work is enough, since serial part and imbalance grow with it."""
    if ranks == 1:
        return 0.0 if wanted <= 1 else None
    s, b = algorithm.serial, algorithm.imbalance
    left = 1 - wanted * (b * (1 - s) + ranks * s)
    communication = algorithm.exchanges * factor * messages.exchange(algorithm.bytes, ranks)
    if left <= 0:
        return 0.0 if left == 0 and communication == 0 else None
    return wanted * ranks * communication / left


def break_even(algorithm: Algorithm, messages: Messages, ranks: int, factor: float = 1.0) -> float | None:
    """The work (s) from which `ranks` ranks are faster than one: efficiency 1/np, speed-up 1."""
    return work_needed(1 / ranks, algorithm, messages, ranks, factor)


def best_ranks(algorithm: Algorithm, messages: Messages, most: int, factor: float = 1.0) -> int:
    """The number of ranks from 1 to `most` with the largest speed-up, the fewest of those."""
    return max(
        range(1, most + 1),
        key=lambda ranks: (times(algorithm, messages, ranks, factor).speed_up, -ranks),
    )


@dataclass(frozen=True)
class Lever:
    """A change of the algorithm, in words, and the efficiency it would bring."""

    name: str
    words: str
    efficiency: float
    gain: float


def levers(algorithm: Algorithm, messages: Messages, ranks: int, together: int = 10) -> list[Lever]:
    """What would help on `ranks` ranks, what helps most first; what would change nothing is left out.

    Aggregation computes `together` times as long between exchanges and sends what was gathered in one
    message of as many times the bytes. Overlap hides as much communication as there is parallel work to hide
    it behind, which is the most that non-blocking communication can do.
    """
    now = times(algorithm, messages, ranks)
    aggregated = replace(algorithm, work_s=together * algorithm.work_s, bytes=together * algorithm.bytes)
    changed = [
        (
            "aggregation",
            f"exchange {together} times less often, with messages {together} times as long",
            efficiency(aggregated, messages, ranks),
        ),
        (
            "shorter messages",
            "send half the bytes",
            _with(algorithm, messages, ranks, bytes=algorithm.bytes / 2),
        ),
        ("less imbalance", "give every rank the same work", _with(algorithm, messages, ranks, imbalance=1.0)),
        (
            "less serial work",
            "halve the serial part",
            _with(algorithm, messages, ranks, serial=algorithm.serial / 2),
        ),
        (
            "overlap",
            "hide communication behind the parallel work, at best",
            now.alone / ranks / (now.total - min(now.communication, now.parallel + now.waiting)),
        ),
    ]
    found = [Lever(name, words, value, value - now.efficiency) for name, words, value in changed]
    return sorted((lever for lever in found if lever.gain > 1e-6), key=lambda lever: -lever.gain)


def _with(algorithm: Algorithm, messages: Messages, ranks: int, **changed: float) -> float:
    return efficiency(replace(algorithm, **changed), messages, ranks)
