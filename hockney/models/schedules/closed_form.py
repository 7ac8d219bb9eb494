# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms of an algorithm's time under Hockney's model: a message of x bytes takes alpha + beta x, each
rank sends one message and receives one at a time, and combining x bytes takes gamma x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

CHAN = "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Concurrency and Computation 19 (2007) 1749"
PJESIVAC = "J. Pjesivac-Grbovic et al., Cluster Computing 10 (2007) 127"
THAKUR = "R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19 (2005) 49"
CHEN = "J. Chen, L. Zhang, Y. Zhang, W. Yuan, HPC Asia 2005"
PATARASUK = "P. Patarasuk, X. Yuan, J. Parallel and Distributed Computing 69 (2009) 117"
SANDERS = "P. Sanders, J. L. Traff, EuroPVM/MPI 2006, LNCS 4192, 49"
TRAFF = "J. L. Traff, EuroPVM/MPI 2005, LNCS 3666, 129"

Terms = tuple[float, float, float]
"""Messages, bytes sent and bytes combined on the longest path: the factors of alpha, beta and gamma."""


def always(ranks: int) -> bool:
    return True


def powers_of_two(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def full_trees(ranks: int) -> bool:
    """All levels of a binary tree are full."""
    return ranks > 2 and powers_of_two(ranks + 1)


@dataclass(frozen=True)
class ClosedForm:
    """`text` is the formula for a power of two ranks P and blocks or vectors of m bytes, where log P is
    log2 P rounded up. `terms` are its factors for `ranks` ranks and a size.

    It equals the time of the schedule on numbers of ranks that are `exact`, if vectors divide evenly into
    parts and segments; for others it is about right."""

    text: str
    source: str
    terms: Callable[[int, int], Terms]
    exact: Callable[[int], bool] = always

    def seconds(self, ranks: int, size: int, *, alpha: float, beta: float, gamma: float = 0.0) -> float:
        """`alpha` in seconds; `beta` and `gamma` in seconds per byte. 0 for one rank."""
        if ranks < 2:
            return 0.0
        messages, sent, combined = self.terms(ranks, size)
        return messages * alpha + sent * beta + combined * gamma


def linear(source: str, *, combine: bool = False) -> ClosedForm:
    """P - 1 messages, one after the other."""
    text = "(P − 1)(α + β m + γ m)" if combine else "(P − 1)(α + β m)"
    return ClosedForm(text, source, lambda p, m: (p - 1, (p - 1) * m, (p - 1) * m if combine else 0))


def tree(source: str, *, combine: bool = False) -> ClosedForm:
    """Whole vectors in log P rounds."""

    def terms(ranks: int, size: int) -> Terms:
        rounds = rounds_of_two(ranks)
        return rounds, rounds * size, rounds * size if combine else 0

    return ClosedForm("log P (α + β m + γ m)" if combine else "log P (α + β m)", source, terms)


def blocks(source: str) -> ClosedForm:
    """All blocks in log P rounds, twice as many in each as in the one before."""

    def terms(ranks: int, size: int) -> Terms:
        return rounds_of_two(ranks), (ranks - 1) * size, 0

    return ClosedForm("log P α + (P − 1) β m", source, terms)


def halves(source: str, *, unfold: bool) -> ClosedForm:
    """Halves of halves, combined, and back. Beyond a power of two there is a step before, and with `unfold`
    one after."""

    def terms(ranks: int, size: int) -> Terms:
        power = power_below(ranks)
        rounds, part = rounds_of_two(power), size * (power - 1) / power
        extra = int(ranks > power)
        around = extra * (2 if unfold else 1)
        return 2 * rounds + around, 2 * part + around * size, part + extra * size

    text = "2 log P α + 2 (P − 1)/P β m + (P − 1)/P γ m"
    return ClosedForm(text, source, terms)


def rounds_of_two(ranks: int) -> int:
    """ceil(log2(ranks))."""
    return (ranks - 1).bit_length()


def doublings(ranks: int) -> list[int]:
    """1, 2, 4, ... below `ranks`."""
    return [1 << k for k in range(rounds_of_two(ranks))]


def power_below(ranks: int) -> int:
    """The largest power of two that is at most `ranks`."""
    return 1 << (ranks.bit_length() - 1)
