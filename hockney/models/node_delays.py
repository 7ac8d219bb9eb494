# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Occasional long delays of messages, as of lost packets: parts of a cluster that have more than the others.

The delayed repetitions of a node or a link are compared with those of all others by an exact binomial test,
given their total number: without a fault, each is equally likely in every repetition. A node's worst link is
left out of its count, because a single lossy link is no fault of its nodes; and a link must also have more
delays than the other links of its nodes, because all links of a lossy node have many.

Delays come in bursts, when other programs use a node for a while. So all counts are divided by their
dispersion over the launches (R. W. M. Wedderburn, Biometrika 61 (1974) 439), and a part must also have more
delays than others without the launch in which it has most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.node_effects import FALSE_SHARE, MIN_LAUNCHES, POWER, group_medians, row_medians

FACTORS = (1.5, 5.0, 25.0)
"""A repetition is delayed if it takes this many times as long as is typical of its pair. The test with the
smallest p-value counts, corrected for their number."""
CONSISTENT_P = 0.01
"""The maximum p-value without the launch in which a part has most delays."""
MAX_NEEDED = 1000


@dataclass(frozen=True)
class DelayCounts:
    """The number of delayed repetitions for each of `FACTORS` (factors, launches, nodes, nodes), and the
    numbers of all repetitions and of their messages (launches, nodes, nodes), all symmetric. Launches before
    number `split` are those of another side, with another share of delays."""

    delayed: np.ndarray
    repetitions: np.ndarray
    messages: np.ndarray
    split: int = 0

    def __add__(self, other: DelayCounts) -> DelayCounts:
        delayed, repetitions, messages = (a + b for a, b in zip(self.tables, other.tables, strict=True))
        return DelayCounts(delayed, repetitions, messages)

    def followed_by(self, other: DelayCounts) -> DelayCounts:
        """The launches of both; those of `other` are the other side."""
        pairs = zip(self.tables, other.tables, strict=True)
        delayed, repetitions, messages = (np.concatenate(pair, axis=-3) for pair in pairs)
        return DelayCounts(delayed, repetitions, messages, len(self.repetitions))

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        return self.delayed, self.repetitions, self.messages


@dataclass(frozen=True)
class Delays:
    """Unadjusted p-values of more delays than elsewhere, the number of the factor with the smallest p-value,
    the numbers of delayed and of all repetitions, and the smallest shares of delayed messages that are found
    with a probability of `POWER` (nan if unknown); of n nodes or links."""

    p_values: np.ndarray
    factor: np.ndarray
    delayed: np.ndarray
    repetitions: np.ndarray
    detectable: np.ndarray


def count_delays(
    launches: Sequence[tuple[np.ndarray, np.ndarray]], nodes: int, messages: int = 1
) -> DelayCounts:
    """Count the delayed repetitions of one case, which consist of this number of messages. Each launch has
    the pairs (the lower node multiplied by `nodes`, plus the upper node) and the log times of all repetitions
    of pairs."""
    size = nodes * nodes
    typical = np.array([group_medians(*launch, size) for launch in launches]).reshape(-1, size)
    shifts = row_medians(typical)
    levels = row_medians((typical - shifts[:, None]).T)
    delayed = np.zeros((len(FACTORS), len(launches), size), dtype=int)
    repetitions = np.zeros((len(launches), size), dtype=int)
    for k, (pairs, log_times) in enumerate(launches):
        repetitions[k] = np.bincount(pairs, minlength=size)
        excess = log_times - levels[pairs] - shifts[k]
        for number, factor in enumerate(FACTORS):
            delayed[number, k] = np.bincount(pairs[excess > np.log(factor)], minlength=size)
    delayed, repetitions = _symmetric(delayed, nodes), _symmetric(repetitions, nodes)
    return DelayCounts(delayed, repetitions, messages * repetitions)


def _symmetric(table: np.ndarray, nodes: int) -> np.ndarray:
    square = table.reshape(*table.shape[:-1], nodes, nodes)
    return np.asarray(square + square.swapaxes(-1, -2))


def node_delays(counts: DelayCounts, tests: int) -> Delays:
    """Compare all nodes; `tests` are those that p-values are adjusted for."""
    nodes = np.arange(counts.repetitions.shape[-1])
    p_values, needed = [], []
    for table in counts.delayed:
        by_node = table.sum(axis=-1)
        dispersion, tails = dispersion_of(by_node, counts.split), []
        for row, *tables in _sums(by_node, table, counts.repetitions):
            link = np.argmax(tables[0][row, nodes], axis=-1)
            own, trials = (t[row, nodes].sum(axis=-1) - t[row, nodes, link] for t in tables)
            total, all_trials = (t.sum(axis=(1, 2))[row] / 2 - t[row, nodes, link] for t in tables)
            tails.append(_tail(own, total, trials, all_trials, dispersion))
        p_values.append(_consistent(*tails))
        needed.append(_needed(float(table.sum()) / 2, 2 / len(nodes), dispersion, tests))
    delayed, repetitions, messages = (table.sum(axis=-1) for table in counts.tables)
    return _result(np.array(p_values), delayed, repetitions, messages, min(needed))


def link_delays(counts: DelayCounts, lossy_nodes: np.ndarray, tests: int) -> Delays:
    """Compare all links, in the order of `triu_indices`. Links of the nodes in the mask `lossy_nodes`, which
    are named already, are not compared."""
    nodes = len(lossy_nodes)
    first, second = np.triu_indices(nodes, 1)
    is_compared = ~(lossy_nodes[first] | lossy_nodes[second])
    kept = np.where(lossy_nodes[:, None] | lossy_nodes[None, :], 0, 1)
    by_link, repetitions, messages = (table[..., first, second] for table in counts.tables)
    p_values, needed = [], []
    for table, delayed in zip(counts.delayed, by_link, strict=True):
        dispersion, tails = dispersion_of(delayed, counts.split), []
        for row, *tables in _sums(delayed, table * kept, counts.repetitions * kept):
            own, trials = (t[row, first, second] for t in tables)
            groups = [[t.sum(axis=(1, 2))[row] / 2 for t in tables]]
            groups += [[t.sum(axis=2)[row, ends] for t in tables] for ends in (first, second)]
            tails.append(np.max([_tail(own, total, trials, of, dispersion) for total, of in groups], axis=0))
        p_values.append(np.where(is_compared, _consistent(*tails), 1.0))
        of_node = float(np.median(table.sum(axis=(0, 2))))
        needed.append(_needed(of_node, 1 / max(2, nodes - 1), dispersion, tests))
    return _result(np.array(p_values), by_link, repetitions, messages, min(needed))


def _sums(parts: np.ndarray, *tables: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """The sums of tables over all launches, and over all but each, with the row that each part uses: for the
    second, the sum without the launch in which it has most delays (`parts`: launches, parts)."""
    yield np.zeros(parts.shape[1], dtype=int), *(table.sum(axis=0)[None] for table in tables)
    yield np.argmax(parts, axis=0), *(table.sum(axis=0) - table for table in tables)


def _consistent(p_values: np.ndarray, without_worst_launch: np.ndarray) -> np.ndarray:
    return np.where(without_worst_launch <= CONSISTENT_P, p_values, 1.0)


def _result(
    p_values: np.ndarray, delayed: np.ndarray, repetitions: np.ndarray, messages: np.ndarray, needed: float
) -> Delays:
    """`p_values` (factors, n) of n nodes or links with the counts `delayed` (factors, launches, n) of the
    `repetitions` and `messages` (launches, n). `needed` delays are significant."""
    launches, factor = len(repetitions), np.argmin(p_values, axis=0)
    smallest = np.minimum(1.0, len(FACTORS) * p_values.min(axis=0))
    return Delays(
        smallest if launches >= MIN_LAUNCHES else np.full(len(smallest), np.nan),
        factor,
        np.take_along_axis(delayed.sum(axis=1), factor[None], axis=0)[0],
        repetitions.sum(axis=0),
        detectable_share(needed, repetitions.sum(axis=0), messages.sum(axis=0)),
    )


def _needed(others: float, share: float, dispersion: float, tests: int) -> float:
    """The smallest significant number of delays of a part in which a delay is by chance with the probability
    `share`, next to the delays of others; infinity beyond `MAX_NEEDED`."""
    own = np.arange(1.0, MAX_NEEDED)
    trials = np.full(len(own), share)
    tails = _tail(own, others + own, trials, np.ones(len(own)), dispersion)
    is_significant = tails <= FALSE_SHARE / (len(FACTORS) * max(1, tests))
    return float(own[is_significant][0]) if is_significant.any() else np.inf


def detectable_share(needed: float, repetitions: np.ndarray, messages: np.ndarray) -> np.ndarray:
    """The shares of delayed messages with which at least `needed` repetitions are delayed with a probability
    of `POWER`."""
    from scipy.stats import beta

    if not np.isfinite(needed):
        return np.full(len(repetitions), np.nan)
    shares = beta.ppf(POWER, needed, np.maximum(1, repetitions - needed + 1))
    by_message = 1 - (1 - shares) ** (repetitions / np.maximum(1, messages))
    return np.where(repetitions >= needed, by_message, np.nan)


def dispersion_of(delayed: np.ndarray, split: int = 0) -> float:
    """The variance of the counts of parts over the launches of a side, relative to that of independent
    delays, at least 1; from counts of shape (launches, parts). Launches before number `split` are another
    side."""
    excess, freedom = 0.0, 0
    for side in (delayed[:split], delayed[split:]):
        by_launch, by_part = side.sum(axis=1), side.sum(axis=0)
        expected = by_launch[:, None] * by_part[None, :] / max(1, side.sum())
        present = expected > 0
        excess += float(((side - expected)[present] ** 2 / expected[present]).sum())
        freedom += max(0, int((by_launch > 0).sum()) - 1) * max(0, int((by_part > 0).sum()) - 1)
    return max(1.0, excess / max(1, freedom))


def _tail(
    own: np.ndarray, total: np.ndarray, trials: np.ndarray, all_trials: np.ndarray, dispersion: float
) -> np.ndarray:
    """The probabilities of at least `own` of `total` delayed repetitions in `trials` of `all_trials`."""
    from scipy.special import betainc

    is_tested = (own > 0) & (trials < all_trials)
    own, rest = np.where(is_tested, own, 1) / dispersion, np.maximum(0, total - own) / dispersion
    return np.where(is_tested, betainc(own, rest + 1, trials / np.maximum(1, all_trials)), 1.0)
