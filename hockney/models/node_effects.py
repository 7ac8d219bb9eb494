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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hockney.models.statistics import NOTABLE, center, variance_of_center

Kind = Literal["machine", "node", "switch", "link"]
"""Kinds of parts whose times are compared."""
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
MIN_MODERATED = 8
"""The number of effects from which their variances have a common distribution that can be estimated."""
MIN_FREEDOM = 1e-6

MIN_NODES_OF_SWITCH = 3
"""With fewer nodes, a slow switch cannot be distinguished from a slow node below it."""
MIN_SWITCHES = 4
"""With fewer switches on a level, the slow one is unknown: messages cross the uplinks of two."""


@dataclass(frozen=True)
class PairEffects:
    """Effects in each launch: of nodes as senders and receivers, with one row per launch and one column per
    node, and of links, with one matrix per launch (nan on the diagonal and for missing pairs). `typical` is
    the log time of a median pair, with one column. The effects of switches (one column per switch) concern
    messages that leave or enter the switch, and those between the nodes `within`; nan if a switch cannot be
    compared."""

    sending: np.ndarray
    receiving: np.ndarray
    links: np.ndarray
    typical: np.ndarray
    switch_sending: np.ndarray
    switch_receiving: np.ndarray
    switch_within: np.ndarray


@dataclass(frozen=True)
class SwitchLevel:
    """Switches at the same distance from the nodes. `groups` contains for each switch the indices of the
    nodes below it; a node is below one switch at most."""

    groups: tuple[tuple[int, ...], ...]

    @property
    def is_comparable(self) -> bool:
        return sum(len(group) >= MIN_NODES_OF_SWITCH for group in self.groups) >= MIN_SWITCHES


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

    def p_above(self, log_bound: float) -> np.ndarray:
        """Two-sided p-values of ratios above a bound: 1 if the ratio is not above it, nan if unknown."""
        return self._p_value(self.log_ratio - log_bound)

    def p_below(self, log_bound: float) -> np.ndarray:
        return self._p_value(log_bound - self.log_ratio)

    def _p_value(self, distance: np.ndarray) -> np.ndarray:
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            tail = stdtr(self.freedom, -distance / self.standard_error)
            p = np.where(self.standard_error == 0, np.where(distance > 0, 0.0, 1.0), 2 * tail)
            return np.where(distance <= 0, np.where(np.isnan(self.standard_error), np.nan, 1.0), p)

    def half_width(self, probability: float = 0.975) -> np.ndarray:
        """Half widths of the intervals of the effects, for a quantile of Student's t distribution."""
        return _quantile(self.freedom, probability) * self.standard_error

    def detectable(self, tests: int) -> np.ndarray:
        """Smallest log slowdown that is named with probability `POWER`, as the only one among `tests` tests:
        significant after the adjustment, and estimated to be notable. nan if unknown."""
        return self.named_from(tests) + self.half_width(POWER)

    def detectable_node(self, tests: int, nodes: int) -> np.ndarray:
        """The same for effects of nodes from pairs. The effect of a slow node varies more than those of
        nodes close to the median, and is underestimated, because the median of few nodes follows it. The
        constants are from simulations (benchmarks/nodes.py)."""
        spread = (1.1 + 2 / nodes) * self.half_width(POWER)
        return self.named_from(tests) + spread + 4 / nodes * self.standard_error

    def named_from(self, tests: int) -> np.ndarray:
        """The smallest estimates of log slowdowns that are significant among `tests` tests, and notable."""
        critical = _quantile(self.freedom, 1 - FALSE_SHARE / max(1, tests)) * self.standard_error
        return np.maximum(math.log(NOTABLE), critical)


def _quantile(freedom: np.ndarray, probability: float) -> np.ndarray:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, probability))


def pair_effects(
    log_times: np.ndarray,
    classes: np.ndarray | None = None,
    levels: Sequence[SwitchLevel] = (),
    *,
    is_symmetric: bool = False,
) -> PairEffects:
    """Effects from log times of shape (launches, nodes, nodes), from the node of the first index to that of
    the second; nan where unknown. `classes` numbers the distances of the pairs (nodes, nodes): each class has
    a separate mean mu. `levels` are those of the switches, from the nodes up.

    Times may be symmetric: they do not depend on the direction, and may be given for one direction or both.
    Both effects of a node are then equal.

    The time between two nodes below different switches includes an effect of each switch, whatever the
    nodes: that of the median pair of nodes, so a slow node among several has little influence. Effects of
    nodes are relative to those of the switches above them."""
    times = np.array(log_times, dtype=float)
    launches, nodes, _ = times.shape
    if is_symmetric:
        reverse = times.swapaxes(1, 2)
        times = np.where(np.isnan(times), reverse, np.where(np.isnan(reverse), times, (times + reverse) / 2))
    times[:, np.arange(nodes), np.arange(nodes)] = np.nan
    columns: list[list[np.ndarray]] = [[], [], []]
    links = times
    for level in levels:
        effects = _switch_effects(links, classes, level, is_symmetric=is_symmetric)
        links = links - _switch_part(effects, level, nodes)
        for parts, part in zip(columns, effects, strict=True):
            parts.append(part)
    sending, receiving = np.zeros((launches, nodes)), np.zeros((launches, nodes))
    without_nodes = links
    for location in _LOCATIONS:
        links = links - _class_medians(links, classes)
        rows = _centered(location(links))
        sending, links = sending + rows, links - rows[:, :, None]
        if is_symmetric:
            receiving, links = receiving + rows, links - rows[:, None, :]
        else:
            columns_ = _centered(location(links.swapaxes(1, 2)))
            receiving, links = receiving + columns_, links - columns_[:, None, :]
    known = np.isfinite(times)
    sending = _centered(np.where(known.any(axis=2), sending, np.nan))
    receiving = _centered(np.where(known.any(axis=1), receiving, np.nan))
    residuals = without_nodes - sending[:, :, None] - receiving[:, None, :]
    switch_effects = [np.hstack([np.zeros((launches, 0)), *parts]) for parts in columns]
    return PairEffects(
        sending,
        receiving,
        links - _class_medians(links, classes),
        row_medians(residuals.reshape(launches, -1))[:, None],
        *switch_effects,
    )


def _switch_effects(
    times: np.ndarray, classes: np.ndarray | None, level: SwitchLevel, *, is_symmetric: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effects of the switches of a level as senders, as receivers, and on messages within, by launch."""
    launches, count = times.shape[0], len(level.groups)
    unknown = np.full((launches, count), np.nan)
    if not level.is_comparable:
        return unknown, unknown, unknown
    compared = [k for k, group in enumerate(level.groups) if len(group) >= MIN_NODES_OF_SWITCH]
    centered = times - _class_medians(times, classes)
    blocks = np.full((launches, len(compared), len(compared)), np.nan)
    for i, first in enumerate(compared):
        for j, second in enumerate(compared):
            block = centered[:, level.groups[first]][:, :, level.groups[second]].reshape(launches, -1)
            known = np.isfinite(block).any(axis=1)
            blocks[known, i, j] = row_medians(block[known])
    between = pair_effects(blocks, is_symmetric=is_symmetric)
    results = unknown.copy(), unknown.copy(), unknown.copy()
    results[0][:, compared], results[1][:, compared] = between.sending, between.receiving
    groups = [list(level.groups[k]) for k in compared]
    within = _times_within(centered - _switch_part(results, level, times.shape[1]), groups)
    results[2][:, compared] = _centered(within)
    return results


def _times_within(times: np.ndarray, groups: Sequence[list[int]]) -> np.ndarray:
    """The median log time between the nodes of each group (launches, groups). A slow node is in up to 2 / 3
    of these pairs, so effects of nodes on messages to and from other groups are subtracted."""
    outside = times.copy()
    for group in groups:
        rows, columns = np.ix_(group, group)
        outside[:, rows, columns] = np.nan
    sending, receiving = row_medians(outside), row_medians(outside.swapaxes(1, 2))
    medians = []
    for group in groups:
        from_node, to_node = (_centered(effects[:, group]) for effects in (sending, receiving))
        block = times[:, group][:, :, group] - from_node[:, :, None] - to_node[:, None, :]
        medians.append(row_medians(block.reshape(times.shape[0], -1)))
    return np.array(medians).T


def _switch_part(
    effects: tuple[np.ndarray, np.ndarray, np.ndarray], level: SwitchLevel, nodes: int
) -> np.ndarray:
    """The part of the log times that is due to the switches of a level (launches, nodes, nodes)."""
    launches = effects[0].shape[0]
    sending, receiving, within = (np.zeros((launches, nodes)) for _ in range(3))
    number = np.full(nodes, -1)
    for k, group in enumerate(level.groups):
        members = list(group)
        number[members] = k
        for part, effect in zip((sending, receiving, within), effects, strict=True):
            part[:, members] = np.nan_to_num(effect[:, k])[:, None]
    is_within = (number[:, None] == number[None, :]) & (number >= 0)[:, None]
    across = sending[:, :, None] + receiving[:, None, :]
    return np.where(is_within, within[:, :, None], across)


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


def group_medians(groups: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """The median of the values of each group, from 0 to `size` - 1; nan without values."""
    order = np.lexsort((values, groups))
    values = values[order]
    present, first, counts = np.unique(groups[order], return_index=True, return_counts=True)
    medians = np.full(size, np.nan)
    medians[present] = (values[first + (counts - 1) // 2] + values[first + counts // 2]) / 2
    return medians


def relative_to_median(log_times: np.ndarray) -> np.ndarray:
    """Effects of nodes in each launch from their own log times, with shape (launches, nodes)."""
    return _centered(log_times)


_LOCATIONS = (row_medians,) * MEDIAN_SWEEPS + (_clipped_means,) * MEAN_SWEEPS


def change(before: Effects, after: Effects) -> Effects:
    """Effects `after` relative to those `before`, with the sum of both variances; degrees of freedom by B. L.
    Welch (Biometrika 34 (1947) 28)."""
    first, second = before.standard_error**2, after.standard_error**2
    total = first + second
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = total**2 / (first**2 / before.freedom + second**2 / after.freedom)
    return Effects(
        after.log_ratio - before.log_ratio,
        np.sqrt(total),
        np.where(np.isfinite(freedom), freedom, np.maximum(before.freedom, after.freedom)),
        np.minimum(before.launches, after.launches),
    )


def over_runs(runs: Sequence[np.ndarray], *, is_exact: bool = False) -> Effects:
    """Effects over the launches of one or more runs, each as in `over_launches`. With `MIN_LAUNCHES` runs and
    more, an effect varies at least as much as the means of the runs."""
    pooled = over_launches(np.concatenate(runs), is_exact=is_exact)
    if len(runs) < MIN_LAUNCHES or is_exact:
        return pooled
    by_run = over_launches(np.array([_mean(run) for run in runs]))
    is_wider = by_run.standard_error > pooled.standard_error
    return Effects(
        pooled.log_ratio,
        np.where(is_wider, by_run.standard_error, pooled.standard_error),
        np.where(is_wider, by_run.freedom, pooled.freedom),
        pooled.launches,
    )


def _mean(launches: np.ndarray) -> np.ndarray:
    """The mean over the launches, without nan; nan where all are."""
    known = np.isfinite(launches)
    count = known.sum(axis=0)
    return np.where(count > 0, np.where(known, launches, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)


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


def adjusted_p_values(families: Mapping[Kind, np.ndarray]) -> dict[Kind, np.ndarray]:
    """Adjust the p-values of each kind of parts (Benjamini and Hochberg; for links S. Holm, Scand. J. Stat. 6
    (1979) 65). Among thousands of links, even a small expected share of false names would put a false name
    into many runs. Each kind has an equal part of the errors. nan stays nan."""
    from hockney.models.statistics import adjust_p_values

    known = {kind: np.isfinite(p) for kind, p in families.items()}
    count = sum(bool(mask.any()) for mask in known.values())
    adjusted = {}
    for kind, p in families.items():
        mask = known[kind]
        values = _holm(p[mask]) if kind == "link" else np.array(adjust_p_values(p[mask].tolist()))
        adjusted[kind] = np.full(len(p), np.nan)
        adjusted[kind][mask] = np.minimum(1.0, count * values)
    return adjusted


def _holm(p_values: np.ndarray) -> np.ndarray:
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(count)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(count, 0, -1)) if count else []
    return adjusted
