# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of occasional long delays, as of lost packets, between two sides: the shares of delayed repetitions
of nodes, of links and of the machine as a whole.

If a part did not change, each of its delays is in B with a probability of B's share of the messages (the
exact conditional test of two Poisson rates; J. Przyborowski, H. Wilenski, Biometrika 31 (1940) 313). If the
whole machine has more delays, this share is larger: that of the delays of all other parts. It is uncertain if
they are few, so it has a beta distribution, and the delays of the part in B a beta-binomial one.

Given the totals of both sides, the tests are valid for any choice of parts that depends only on the totals
(R. E. Tarone, Biometrics 46 (1990) 515). So only parts are tested that have more delays than others over both
sides together (`node_delays`), and these share the significance level of all parts of their kind (weights of
C. R. Genovese, K. Roeder, L. Wasserman, Biometrika 93 (2006) 509). Other parts are the reference. A node's
worst link, and its links to other tested nodes, are left out of its counts.

As in `node_delays`, counts are divided by the dispersion of all parts over the launches. A single part may
vary more, so its change must also be significant by Student's t test of its own variance over the launches
(quasi-likelihood; R. W. M. Wedderburn, Biometrika 61 (1974) 439). For the machine as a whole, this is the
only test. Because the load of a machine varies, its delays have changed only if they also changed the mean
time by more than the tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.models.node_delays import (
    CONSISTENT_P,
    FACTORS,
    MAX_NEEDED,
    DelayCounts,
    detectable_share,
    dispersion_of,
    link_delays,
    node_delays,
)
from hockney.models.node_effects import FALSE_SHARE, MIN_LAUNCHES, Kind

PRIOR_DELAYS = 40.0
"""The delays of a machine that has not changed are known as well as from this number of delays: before any is
seen, the odds of a delay in B are between 0.53 and 1.9 times those of its messages (95%)."""


@dataclass(frozen=True)
class DelayChanges:
    """Changes of n parts: two-sided p-values, to be adjusted for n tests (nan if the launches are too few),
    whether the share of delayed repetitions grew, and the delayed and all repetitions that were compared (A
    and B, n). `detectable` is the smallest share of delayed messages of a part without delays in A that is
    found with a probability of `POWER`, as the only change; nan if unknown."""

    p_values: np.ndarray
    grew: np.ndarray
    delayed: np.ndarray
    repetitions: np.ndarray
    detectable: float


def _p_value(delayed: np.ndarray, messages: np.ndarray, reference: np.ndarray) -> float:
    """The two-sided p-value of the hypotheses that a part did not change, or changed like the reference: the
    larger one. From the delays and messages of A and B, and the delays of the reference."""
    from scipy.stats import betabinom

    side = _side_with_more(delayed, messages)
    # what the dispersion divided is rounded to what is less significant
    own, other = int(delayed[side]), int(np.ceil(delayed[1 - side]))
    unchanged = PRIOR_DELAYS * messages / max(1, messages.sum())
    if not own or not unchanged.all():
        return 1.0
    counts = np.arange(own, own + other + 1)
    tails = [
        betabinom.pmf(counts, own + other, expected[side], expected[1 - side]).sum()
        for expected in (unchanged, unchanged + reference)
    ]
    return min(1.0, 2 * float(max(tails)))


def _side_with_more(delayed: np.ndarray, messages: np.ndarray) -> int:
    """The side with the larger share of delays: 1 for B, otherwise 0."""
    return int(delayed[1] * messages[0] > delayed[0] * messages[1])


def _p_over_launches(delayed: np.ndarray, messages: np.ndarray, launches: int, dispersion: float) -> float:
    """The one-sided p-value of Student's test that the delays of A and B have different shares of their
    messages."""
    from scipy.special import stdtr

    if not delayed.any() or not messages.all():
        return 1.0
    variance = dispersion * delayed.sum() / messages.sum() * (1 / messages).sum()
    difference = abs(np.subtract(*(delayed / messages)))
    return float(stdtr(launches - 2, -difference / variance**0.5))


def _dispersion_of_part(delayed: np.ndarray, messages: np.ndarray, split: int) -> float:
    """The variance of the delays of a part over the launches, as in `dispersion_of`."""
    shares = _by_side(delayed, split) / np.maximum(1, _by_side(messages, split))
    expected = messages * np.repeat(shares, (split, len(messages) - split))
    present = expected > 0
    excess = ((delayed - expected)[present] ** 2 / expected[present]).sum()
    return max(1.0, float(excess) / max(1, len(messages) - 2))


def delay_changes(
    before: DelayCounts, after: DelayCounts, tolerance: float, tests: dict[Kind, int]
) -> dict[Kind, DelayChanges]:
    """Compare all nodes, all links (in the order of `triu_indices`) and the machine as a whole. `tests` are
    the numbers of tests that the p-value of a kind's only changed part is adjusted for."""
    counts = before.followed_by(after)
    size = counts.repetitions.shape[-1]
    first, second = np.triu_indices(size, 1)
    nodes = node_delays(counts, size)
    is_lossy = nodes.p_values * size <= FALSE_SHARE
    links = link_delays(counts, is_lossy, len(first))
    is_lossy_link = links.p_values * len(first) <= FALSE_SHARE
    reference = ~(is_lossy[first] | is_lossy[second] | is_lossy_link)
    pairs = DelayCounts(
        counts.delayed[..., first, second],
        counts.repetitions[:, first, second],
        counts.messages[:, first, second],
        counts.split,
    )
    others, by_pair = pairs.delayed[..., reference].sum(axis=-1), pairs.delayed.sum(axis=1)
    own_pairs = np.zeros((size, len(first)), dtype=int)
    for node, own in enumerate(own_pairs):
        own[:] = ((first == node) & ~is_lossy[second]) | ((second == node) & ~is_lossy[first])
        own[np.argmax(np.where(own, by_pair[nodes.factor[node]], -1))] = 0
    delayed, repetitions, messages = (table @ own_pairs.T for table in pairs.tables)
    by_node = DelayCounts(delayed, repetitions, messages, pairs.split)
    node_links = int(own_pairs.sum(axis=1).max()) + 1
    return {
        "machine": _machine_change(pairs, reference, tolerance),
        "node": _changes(by_node, others, is_lossy, nodes.factor, tests["node"], node_links),
        "link": _changes(pairs, others, is_lossy_link, links.factor, tests["link"]),
    }


def _changes(
    parts: DelayCounts,
    references: np.ndarray,
    is_tested: np.ndarray,
    factors: np.ndarray,
    tests: int,
    links: int = 1,
) -> DelayChanges:
    """Compare n parts, whose tables end with an axis of length n, by the delays of one of `FACTORS` each.
    `references` are the delays of pairs without a fault (factors, launches). Of parts with several `links`,
    the worst one was left out."""
    count, split = len(is_tested), parts.split
    dispersions = [dispersion_of(table, split) for table in parts.delayed]
    p_values = np.ones(count)
    for part in np.flatnonzero(is_tested):
        factor = factors[part]
        by_launch, sent = parts.delayed[factor][:, part], parts.messages[:, part]
        own, of = _by_side(by_launch, split), _by_side(sent, split)
        variance = _dispersion_of_part(by_launch, sent, split)
        if _p_over_launches(own, of, len(sent), variance) <= CONSISTENT_P:
            others = _by_side(references[factor], split)
            p_values[part] = _p_value(own / dispersions[factor], of, others / dispersions[factor])
    chosen = parts.delayed[factors, :, np.arange(count)].T
    delayed, trials, sides = (_by_side(table, split) for table in (chosen, parts.repetitions, parts.messages))
    needed = min(
        _needed(
            float(np.median(_by_side(parts.delayed[k], split)[0])),
            np.median(sides, axis=1),
            _by_side(references[k], split),
            dispersions[k],
            len(parts.messages),
            FALSE_SHARE / max(1, tests),
            links,
        )
        for k in range(len(FACTORS))
    )
    share = links / max(1, links - 1)
    detectable = detectable_share(needed, share * trials[1], share * sides[1])
    return DelayChanges(
        _known(p_values * is_tested.sum() / count + ~is_tested, parts),
        np.array([_side_with_more(*part) == 1 for part in zip(delayed.T, sides.T, strict=True)]),
        delayed,
        trials,
        float(np.median(detectable)),
    )


def _known(p_values: np.ndarray, counts: DelayCounts) -> np.ndarray:
    """The p-values, if both sides have enough launches."""
    launches = min(counts.split, len(counts.repetitions) - counts.split)
    return p_values if launches >= MIN_LAUNCHES else np.full(len(p_values), np.nan)


def _by_side(table: np.ndarray, split: int) -> np.ndarray:
    return np.array([table[:split].sum(axis=0), table[split:].sum(axis=0)])


def _needed(
    delayed: float,
    messages: np.ndarray,
    reference: np.ndarray,
    dispersion: float,
    launches: int,
    level: float,
    links: int,
) -> float:
    """The smallest number of delays in B with a p-value of at most this level, next to those in A; infinity
    beyond `MAX_NEEDED`. Those in A may be more than usual by a standard deviation. The worst of several links
    does not count, and a single part varies more over the launches than all do, up to the 90% quantile."""
    from scipy.special import chdtri

    variance = dispersion * max(1.0, chdtri(max(1, launches - 2), 0.1) / max(1, launches - 2))

    def is_found(number: int) -> bool:
        by_link = number / links
        worst = by_link + (2 * np.log(links) * by_link) ** 0.5 if links > 1 else 0.0
        own = np.array([delayed + delayed**0.5, number - worst])
        return (
            _side_with_more(own, messages) == 1
            and _p_over_launches(own, messages, launches, variance) <= CONSISTENT_P
            and _p_value(own / dispersion, messages, reference / dispersion) <= level
        )

    return float(next((number for number in range(1, MAX_NEEDED) if is_found(number)), np.inf))


def _machine_change(pairs: DelayCounts, reference: np.ndarray, tolerance: float) -> DelayChanges:
    """Compare the pairs without a fault. A delayed repetition takes at least as many times as long as its
    factor."""
    split, launches = pairs.split, len(pairs.repetitions)
    repetitions, messages = (table[:, reference].sum(axis=1) for table in (pairs.repetitions, pairs.messages))
    trials, sent = _by_side(repetitions, split), _by_side(messages, split)
    results = []
    for factor, table in zip(FACTORS, pairs.delayed[..., reference].sum(axis=-1), strict=True):
        delayed = _by_side(table, split)
        dispersion = _dispersion_of_part(table, messages, split)
        p_value = 2 * len(FACTORS) * _p_over_launches(delayed, sent, launches, dispersion)
        added = abs(np.subtract(*(delayed / np.maximum(1, trials)))) * (factor - 1)
        results.append((min(1.0, p_value) if added > tolerance else 1.0, delayed))
    p_value, delayed = min(results, key=lambda result: result[0])
    return DelayChanges(
        _known(np.array([p_value]), pairs),
        np.array([_side_with_more(delayed, sent) == 1]),
        delayed[:, None],
        trials[:, None],
        np.nan,
    )
