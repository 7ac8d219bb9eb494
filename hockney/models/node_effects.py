# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slow nodes and slow links, separated from the times of all pairs of nodes.

The log time of a message from node i to node j is modelled as mu + s_i + r_j + e_ij: effects of the sender
and of the receiver, and of the link between both. Effects are fitted in each launch by medians (J. W. Tukey,
Exploratory Data Analysis, 1977, median polish), and refined by means of clipped residuals, so a slow link
hardly changes the effects of its two nodes, and a slow node those of other nodes. All effects are relative to
the median node.

The statistical unit is the launch. The variance of an effect over the launches is moderated by those of all
other effects of its kind (G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004) 3), because a few launches say
little about a single variance. Effects are logarithms of ratios of times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hockney.models.statistics import NOTABLE, center, variance_of_center

MIN_NODES_FOR_PAIRS = 4
"""With fewer nodes, a slow node cannot be distinguished from two slow links."""
MIN_LAUNCHES = 3
POWER = 0.95
FALSE_SHARE = 0.05
"""Expected share of false names among all names. If nothing is slow, the probability of any name."""
MEDIAN_SWEEPS, MEAN_SWEEPS = 6, 6
CLIP = 1.5
"""Limit of residuals in the means, in standard deviations: the usual constant of P. J. Huber's M-estimators
(Ann. Math. Stat. 35 (1964) 73)."""
NORMAL_DEVIATION = 1.4826
"""Standard deviation of a normal distribution divided by its median absolute deviation."""
LINK_SHARE = 1.7
"""The share of the effect of a slow link that is attributed to its nodes is about this number divided by the
number of a node's links (benchmarks/nodes.py)."""
MIN_MODERATED = 8
"""The number of effects from which their variances have a common distribution that can be estimated."""
MIN_FREEDOM = 1e-6


@dataclass(frozen=True)
class PairEffects:
    """Effects in each launch: of nodes as senders and receivers, with one row per launch and one column per
    node, and of links, with one matrix per launch (nan on the diagonal and for missing pairs)."""

    sending: np.ndarray
    receiving: np.ndarray
    links: np.ndarray


@dataclass(frozen=True)
class Effects:
    """Effects of n nodes or links over all launches, as arrays of length n: the effects, their standard
    errors (nan with fewer than `MIN_LAUNCHES` launches) and degrees of freedom, and the numbers of launches.
    """

    log_ratio: np.ndarray
    standard_error: np.ndarray
    freedom: np.ndarray
    launches: np.ndarray

    @property
    def p_slower(self) -> np.ndarray:
        """One-sided p-values of the hypothesis that there is no slowdown; nan if unknown."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.standard_error > 0, self.log_ratio / self.standard_error, np.nan)
        exact = np.where(self.log_ratio > 0, 0.0, 1.0)
        return np.where(self.standard_error == 0, exact, stdtr(self.freedom, -t))

    def half_width(self, probability: float = 0.975) -> np.ndarray:
        """Half widths of the intervals of the effects, for a quantile of Student's t distribution."""
        return _quantile(self.freedom, probability) * self.standard_error

    def detectable(self, tests: int) -> np.ndarray:
        """Smallest log slowdown that is named with probability `POWER`, as the only one among `tests` tests:
        significant after the adjustment, and estimated to be notable. nan if unknown."""
        return self._smallest(tests, 1.0)

    def detectable_node(self, tests: int, nodes: int) -> np.ndarray:
        """The same for effects of nodes from pairs. The effect of a slow node varies more than those of
        nodes close to the median, and is underestimated, because the median of few nodes follows it. The
        constants are from simulations (benchmarks/nodes.py)."""
        return self._smallest(tests, 1.1 + 2 / nodes) + 4 / nodes * self.standard_error

    def detectable_link(self, tests: int, nodes: int) -> np.ndarray:
        """The same for links, whose effects are partly attributed to their nodes."""
        return self._smallest(tests, 1.1) / (1 - min(0.9, LINK_SHARE / (nodes - 1)))

    def _smallest(self, tests: int, spread: float) -> np.ndarray:
        """`spread` is the standard deviation of a slow one relative to the standard error."""
        critical = _quantile(self.freedom, 1 - FALSE_SHARE / max(1, tests)) * self.standard_error
        return np.maximum(math.log(NOTABLE), critical) + spread * self.half_width(POWER)


def _quantile(freedom: np.ndarray, probability: float) -> np.ndarray:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, probability))


def pair_effects(log_times: np.ndarray, classes: np.ndarray | None = None) -> PairEffects:
    """Effects from log times of shape (launches, nodes, nodes), from the node of the first index to that of
    the second; nan where unknown. `classes` numbers the distances of the pairs (nodes, nodes): each class has
    a separate mean mu."""
    times = np.array(log_times, dtype=float)
    launches, nodes, _ = times.shape
    times[:, np.arange(nodes), np.arange(nodes)] = np.nan
    sending, receiving = np.zeros((launches, nodes)), np.zeros((launches, nodes))
    links = times
    for location in _LOCATIONS:
        links = links - _class_medians(links, classes)
        rows = _centered(location(links))
        sending, links = sending + rows, links - rows[:, :, None]
        columns = _centered(location(links.swapaxes(1, 2)))
        receiving, links = receiving + columns, links - columns[:, None, :]
    return PairEffects(_centered(sending), _centered(receiving), links - _class_medians(links, classes))


def symmetric_pair_effects(log_times: np.ndarray, classes: np.ndarray | None = None) -> PairEffects:
    """The same for times that do not depend on the direction; a time may be given for one direction or both.
    Both effects of a node are equal."""
    times = np.array(log_times, dtype=float)
    launches, nodes, _ = times.shape
    reverse = times.swapaxes(1, 2)
    times = np.where(np.isnan(times), reverse, np.where(np.isnan(reverse), times, (times + reverse) / 2))
    times[:, np.arange(nodes), np.arange(nodes)] = np.nan
    effects = np.zeros((launches, nodes))
    links = times
    for location in _LOCATIONS:
        links = links - _class_medians(links, classes)
        step = _centered(location(links))
        effects, links = effects + step, links - step[:, :, None] - step[:, None, :]
    effects = _centered(effects)
    return PairEffects(effects, effects, links - _class_medians(links, classes))


def _centered(effects: np.ndarray) -> np.ndarray:
    """Effects of nodes relative to the median node of each launch."""
    return np.asarray(effects - row_medians(effects)[:, None])


def _clipped_means(links: np.ndarray) -> np.ndarray:
    """Means over the last axis without nan, of values clipped at `CLIP` standard deviations of a launch."""
    limit = CLIP * NORMAL_DEVIATION * row_medians(np.abs(links).reshape(links.shape[0], -1))[:, None, None]
    known = np.isfinite(links)
    clipped = np.where(known, np.clip(np.nan_to_num(links), -limit, limit), 0.0)
    return np.asarray(clipped.sum(axis=-1) / np.maximum(known.sum(axis=-1), 1))


def _class_medians(links: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """The median of each class and launch, in the places of its pairs."""
    launches = links.shape[0]
    if classes is None:
        return row_medians(links.reshape(launches, -1))[:, None, None]
    medians = np.zeros_like(links)
    for number in np.unique(classes):
        selected = classes == number
        if selected.any():
            medians[:, selected] = row_medians(links[:, selected])[:, None]
    return np.nan_to_num(medians)


def row_medians(values: np.ndarray) -> np.ndarray:
    """Medians over the last axis without nan; 0 where all are nan."""
    ordered = np.sort(values, axis=-1)  # nan last
    counts = np.isfinite(ordered).sum(axis=-1)
    lower, upper = np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, values.shape[-1] - 1)
    picks = [np.take_along_axis(ordered, index[..., None], axis=-1)[..., 0] for index in (lower, upper)]
    return np.where(counts > 0, (picks[0] + picks[1]) / 2, 0.0)


def relative_to_median(log_times: np.ndarray) -> np.ndarray:
    """Effects of nodes in each launch from their own log times, with shape (launches, nodes)."""
    return _centered(log_times)


_LOCATIONS = (row_medians,) * MEDIAN_SWEEPS + (_clipped_means,) * MEAN_SWEEPS


def over_launches(values: np.ndarray, *, is_exact: bool = False) -> Effects:
    """Effects over the launches from `values` of shape (launches, effects), nan where unknown. Times of a
    machine that `is_exact` have no variance."""
    counts = np.isfinite(values).sum(axis=0)
    size = values.shape[1]
    log_ratio, variance = np.full(size, np.nan), np.full(size, np.nan)
    for count in np.unique(counts[counts > 0]):
        selected = counts == count
        columns = np.sort(values[:, selected], axis=0)[
            :count
        ].T  # nan last; the order of launches is irrelevant
        log_ratio[selected] = center(columns)
        if is_exact:
            variance[selected] = 0.0
        elif count >= MIN_LAUNCHES:
            variance[selected] = variance_of_center(columns)[0]
    freedom = np.maximum(counts - 1, MIN_FREEDOM).astype(float)
    if not is_exact:
        # the variance of a single launch does not depend on the number of launches
        variance, freedom = moderate(variance * counts, freedom)
        variance = variance / np.maximum(counts, 1)
    return Effects(log_ratio, np.sqrt(variance), freedom, counts)


def moderate(variances: np.ndarray, freedom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances and degrees of freedom after empirical Bayes moderation: the prior is a scaled inverse
    chi-square distribution, fitted to the moments of the logs (Smyth 2004, section 6.2). Fewer than
    `MIN_MODERATED` variances stay unchanged."""
    from scipy.special import polygamma, psi

    known = np.isfinite(variances) & (variances > 0)
    if known.sum() < MIN_MODERATED:
        return variances, freedom
    half = freedom[known] / 2
    logs = np.log(variances[known]) - psi(half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    if excess <= 0:
        prior_freedom, prior = math.inf, math.exp(logs.mean())
        return np.where(np.isfinite(variances), prior, np.nan), np.where(known, math.inf, freedom)
    prior_freedom = 2 * inverse_trigamma(excess)
    prior = math.exp(logs.mean() + psi(prior_freedom / 2) - math.log(prior_freedom / 2))
    total = prior_freedom + freedom
    return (prior_freedom * prior + freedom * variances) / total, np.where(
        np.isfinite(variances), total, freedom
    )


def inverse_trigamma(value: float) -> float:
    """The argument at which the trigamma function has this positive value, by Newton's method on its
    reciprocal, which is convex (Smyth 2004, appendix)."""
    from scipy.special import polygamma

    if value > 1e7:
        return 1 / math.sqrt(value)
    if value < 1e-6:
        return 1 / value
    argument = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, argument))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, argument))
        argument += step
        if -step / argument < 1e-8:
            break
    return argument


def is_slow(effects: Effects, adjusted: np.ndarray) -> np.ndarray:
    """Which nodes or links are named slow: significantly, and notably in size."""
    with np.errstate(invalid="ignore"):
        return np.asarray((adjusted <= FALSE_SHARE) & (effects.log_ratio >= math.log(NOTABLE)))


def adjusted_p_values(nodes: np.ndarray, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Adjust the p-values of all nodes (Benjamini and Hochberg) and of all links (S. Holm, Scand. J. Stat. 6
    (1979) 65). Among thousands of links, even a small expected share of false names would put a false
    name into many runs. Each kind has half of the errors, if there are both. nan stays nan."""
    from hockney.models.statistics import adjust_p_values

    known = [np.isfinite(p) for p in (nodes, links)]
    kinds = sum(bool(mask.any()) for mask in known)
    adjusted = np.full(len(nodes), np.nan), np.full(len(links), np.nan)
    adjusted[0][known[0]] = np.minimum(1.0, kinds * np.array(adjust_p_values(nodes[known[0]].tolist())))
    adjusted[1][known[1]] = np.minimum(1.0, kinds * _holm(links[known[1]]))
    return adjusted


def _holm(p_values: np.ndarray) -> np.ndarray:
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(count)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(count, 0, -1)) if count else []
    return adjusted
