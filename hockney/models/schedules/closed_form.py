# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms of algorithms' times under Hockney's model: a message of x bytes takes alpha + beta x, each
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
"""Messages, bytes sent and bytes combined on the longest path, which are the factors of alpha, beta and
gamma."""


def is_any_count(ranks: int) -> bool:
    return True


def is_power_of_two(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def has_full_tree(ranks: int) -> bool:
    """Whether all levels of a binary tree are full."""
    return ranks > 2 and is_power_of_two(ranks + 1)


@dataclass(frozen=True)
class ClosedForm:
    """`text` is the formula for P ranks, a power of two, and blocks or vectors of m bytes; log P is log2 P
    rounded up. `terms` returns its factors for a number of ranks and a size.

    It equals the schedule's time on numbers of ranks for which it `is_exact`, if vectors divide evenly into
    parts and segments. Otherwise it is an approximation.
    """

    text: str
    source: str
    terms: Callable[[int, int], Terms]
    is_exact: Callable[[int], bool] = is_any_count

    def seconds(self, ranks: int, size: int, *, alpha: float, beta: float, gamma: float = 0.0) -> float:
        """The time for `alpha` in seconds and `beta` and `gamma` in seconds per byte; 0 for one rank."""
        if ranks < 2:
            return 0.0
        messages, sent_bytes, combined_bytes = self.terms(ranks, size)
        return messages * alpha + sent_bytes * beta + combined_bytes * gamma


def linear(source: str, *, combine: bool = False) -> ClosedForm:
    """P - 1 messages, one after the other."""
    text = "(P − 1)(α + β m + γ m)" if combine else "(P − 1)(α + β m)"
    return ClosedForm(text, source, lambda p, m: (p - 1, (p - 1) * m, (p - 1) * m if combine else 0))


def tree_rounds(source: str, *, combine: bool = False) -> ClosedForm:
    """Whole vectors in log P rounds."""

    def terms(ranks: int, size: int) -> Terms:
        rounds = doubling_rounds(ranks)
        return rounds, rounds * size, rounds * size if combine else 0

    return ClosedForm("log P (α + β m + γ m)" if combine else "log P (α + β m)", source, terms)


def doubling_blocks(source: str) -> ClosedForm:
    """All blocks in log P rounds, with twice as many blocks in each round as in the previous one."""

    def terms(ranks: int, size: int) -> Terms:
        return doubling_rounds(ranks), (ranks - 1) * size, 0

    return ClosedForm("log P α + (P − 1) β m", source, terms)


def halving(source: str, *, unfold: bool) -> ClosedForm:
    """Recursive halving with reduction, and the way back. If the number of ranks is not a power of two, there
    is a step before, and with `unfold` another one after."""

    def terms(ranks: int, size: int) -> Terms:
        power = largest_power_of_two(ranks)
        rounds, part_bytes = doubling_rounds(power), size * (power - 1) / power
        has_extra_ranks = int(ranks > power)
        extra_messages = has_extra_ranks * (2 if unfold else 1)
        return (
            2 * rounds + extra_messages,
            2 * part_bytes + extra_messages * size,
            part_bytes + has_extra_ranks * size,
        )

    text = "2 log P α + 2 (P − 1)/P β m + (P − 1)/P γ m"
    return ClosedForm(text, source, terms)


def doubling_rounds(ranks: int) -> int:
    """ceil(log2(ranks))."""
    return (ranks - 1).bit_length()


def doubling_distances(ranks: int) -> list[int]:
    """1, 2, 4, ... below `ranks`."""
    return [1 << k for k in range(doubling_rounds(ranks))]


def largest_power_of_two(ranks: int) -> int:
    """The largest power of two that is at most `ranks`."""
    return 1 << (ranks.bit_length() - 1)
