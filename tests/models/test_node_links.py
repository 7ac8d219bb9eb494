# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The stated power of a run to name slow links is what runs with such links find."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from hockney.models.node_effects import FALSE_SHARE, NOTABLE, over_launches, pair_effects
from hockney.models.node_links import detectable_links, link_p_values, permutation_p_values

Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.standard_normal(shape)


def long_tails(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.standard_t(3, shape)


@pytest.mark.parametrize(
    ("nodes", "launches", "noise", "least"),
    [(4, 8, normal, 0.95), (5, 5, normal, 0.93), (6, 4, normal, 0.93), (16, 4, long_tails, 0.9)],
)
def test_what_is_detectable_is_named(nodes: int, launches: int, noise: Noise, least: float):
    random = np.random.default_rng(nodes)
    first, second = np.triu_indices(nodes, 1)
    tests, runs, found, limits = 8 * len(first), 60, 0, []
    for _ in range(runs):
        times = 0.02 * noise(random, (launches, nodes, nodes))
        values = pair_effects(times, is_symmetric=True).links[:, first, second]
        limit = float(np.median(detectable_links(values, over_launches(values), tests, nodes)))
        limits.append(limit)
        times[:, [0, 3], [3, 0]] += limit
        values = pair_effects(times, is_symmetric=True).links[:, first, second]
        effects = over_launches(values)
        named = link_p_values(values, effects) * tests <= FALSE_SHARE
        found += bool((named & (effects.log_ratio >= math.log(NOTABLE)))[2])
    assert found >= least * runs
    assert math.log(NOTABLE) < np.median(limits) < math.log(1.2)


@pytest.mark.parametrize(("nodes", "launches"), [(4, 4), (5, 3), (6, 2)])
def test_in_few_launches_of_few_links_none_is_detectable(nodes: int, launches: int):
    """Each of the sums of `launches` draws from n links has a probability of at least n^-launches."""
    links = nodes * (nodes - 1) // 2
    random = np.random.default_rng(1)
    values = 0.01 * random.standard_normal((launches, links))
    assert np.isnan(detectable_links(values, over_launches(values), 8 * links, nodes)).all()
    values[:, 1] += 10
    assert permutation_p_values(values)[1] == pytest.approx(links**-launches, rel=0.01)
