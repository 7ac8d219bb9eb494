# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slow nodes and links are named in clusters with known faults, and none in clean ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.models.node_effects import (
    adjusted_p_values,
    inverse_trigamma,
    is_slow,
    moderate,
    over_launches,
    pair_effects,
    relative_to_median,
    row_medians,
    symmetric_pair_effects,
)

RUNS = 40


def log_times(
    random: np.random.Generator,
    nodes: int,
    launches: int,
    noise: float,
    slow_nodes: dict[int, float] | None = None,
    slow_links: dict[tuple[int, int], float] | None = None,
) -> np.ndarray:
    node = 0.01 * random.standard_normal((launches, nodes))
    for number, factor in (slow_nodes or {}).items():
        node[:, number] += math.log(factor)
    times = node[:, :, None] + node[:, None, :] + noise * random.standard_normal((launches, nodes, nodes))
    for (a, b), factor in (slow_links or {}).items():
        times[:, [a, b], [b, a]] += math.log(factor)
    return times


def named(times: np.ndarray) -> tuple[set[int], set[tuple[int, int]]]:
    effects = symmetric_pair_effects(times)
    first, second = np.triu_indices(times.shape[1], 1)
    nodes, links = over_launches(effects.sending), over_launches(effects.links[:, first, second])
    adjusted = adjusted_p_values(nodes.p_slower, links.p_slower)
    slow_links = np.flatnonzero(is_slow(links, adjusted[1]))
    return (
        set(np.flatnonzero(is_slow(nodes, adjusted[0])).tolist()),
        {(int(first[k]), int(second[k])) for k in slow_links},
    )


@pytest.mark.parametrize(("nodes", "launches", "noise"), [(8, 8, 0.03), (16, 6, 0.05), (32, 4, 0.04)])
def test_slow_nodes_and_links_are_named_and_no_others(nodes: int, launches: int, noise: float):
    random = np.random.default_rng(nodes)
    link = (0, nodes - 1)
    found = false = clean = 0
    for _ in range(RUNS):
        slow_nodes, slow_links = named(
            log_times(random, nodes, launches, noise, {1: 1.1, 2: 1.1}, {link: 1.35})
        )
        found += {1, 2} <= slow_nodes and link in slow_links
        false += bool(slow_nodes - {1, 2} or slow_links - {link})
        clean += any(named(log_times(random, nodes, launches, noise)))
    assert found >= 0.95 * RUNS
    assert false <= 0.05 * RUNS
    assert clean <= 0.05 * RUNS


def test_what_is_detectable_is_named_in_95_percent():
    random = np.random.default_rng(5)
    nodes, launches, noise, runs = 16, 6, 0.05, 80
    clean = [
        over_launches(symmetric_pair_effects(log_times(random, nodes, launches, noise)).sending)
        for _ in range(20)
    ]
    limit = float(np.exp(np.mean([np.median(e.detectable_node(2 * nodes, nodes)) for e in clean])))
    assert 1.05 < limit < 1.08
    found = sum(3 in named(log_times(random, nodes, launches, noise, {3: limit}))[0] for _ in range(runs))
    assert found >= 0.88 * runs
    weaker = log_times(random, nodes, launches, noise, {3: 1 + (limit - 1) / 2})
    assert 3 not in named(weaker)[0], "half of it is below the smallest notable slowdown"


def test_effects_of_senders_receivers_and_links_are_separate():
    times = np.zeros((1, 6, 6))
    times[:, 2, :] += 0.3
    times[:, :, 4] += 0.2
    times[:, 0, 1] += 0.5
    effects = pair_effects(times)
    assert effects.sending[0] == pytest.approx([0, 0, 0.3, 0, 0, 0])
    assert effects.receiving[0] == pytest.approx([0, 0, 0, 0, 0.2, 0])
    links = np.nan_to_num(effects.links[0])
    assert links[0, 1] == pytest.approx(0.5, rel=1e-3)
    links[0, 1] = 0
    assert links == pytest.approx(np.zeros((6, 6)))


def test_distance_is_no_fault_if_the_classes_are_known():
    leaf = np.arange(12) // 8  # 8 nodes on one switch, 4 on another
    classes = (leaf[:, None] != leaf[None, :]).astype(int)
    times = np.repeat(np.where(classes, 0.4, 0.0)[None], 3, axis=0)
    times[:, 1, :] += 0.2
    times[:, :, 1] += 0.2
    effects = symmetric_pair_effects(times, classes)
    assert effects.sending[0] == pytest.approx([0, 0.2, *[0] * 10], abs=1e-6)
    assert np.nan_to_num(effects.links) == pytest.approx(np.zeros((3, 12, 12)), abs=1e-6)


def test_pairs_that_a_launch_missed_are_no_effect():
    random = np.random.default_rng(2)
    times = log_times(random, 10, 6, 0.02, {3: 1.2})
    times[random.random(times.shape) < 0.3] = np.nan
    assert named(times) == ({3}, set())


def test_one_direction_suffices_for_symmetric_times():
    times = log_times(np.random.default_rng(3), 8, 5, 0.01, {6: 1.2})
    times[:, np.tri(8, dtype=bool)] = np.nan
    assert named(times) == ({6}, set())


def test_a_disturbed_launch_names_nothing():
    times = log_times(np.random.default_rng(4), 10, 8, 0.02)
    times[3, 5, :] += 1.0
    times[3, :, 5] += 1.0
    assert named(times) == (set(), set())


def test_exact_times_need_one_launch():
    effects = over_launches(np.array([[0.0, 0.2, -0.1]]), is_exact=True)
    assert effects.standard_error.tolist() == [0, 0, 0]
    assert effects.p_slower.tolist() == [1, 0, 1]
    assert is_slow(effects, adjusted_p_values(effects.p_slower, np.zeros(0))[0]).tolist() == [
        False,
        True,
        False,
    ]


def test_two_launches_name_nothing():
    effects = over_launches(np.array([[0.0, 0.2, 0.0], [0.0, 0.2, 0.0]]))
    assert np.isnan(effects.p_slower).all() and np.isnan(effects.detectable(3)).all()


def test_moderation_recovers_the_prior():
    random = np.random.default_rng(6)
    prior_freedom, prior, freedom = 8.0, 0.04, 4.0
    true = prior * prior_freedom / random.chisquare(prior_freedom, 4000)
    sampled = true * random.chisquare(freedom, 4000) / freedom
    moderated, total = moderate(sampled, np.full(4000, freedom))
    assert total[0] == pytest.approx(prior_freedom + freedom, rel=0.1)
    errors = np.abs(np.log(moderated / true)).mean(), np.abs(np.log(sampled / true)).mean()
    assert errors[0] < 0.7 * errors[1]


@given(st.floats(1e-4, 1e4))
@settings(max_examples=50, deadline=None)
def test_inverse_of_trigamma(value: float):
    from scipy.special import polygamma

    assert float(polygamma(1, inverse_trigamma(value))) == pytest.approx(value, rel=1e-6)


def test_medians_ignore_unknown_values():
    values = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [4.0, 5.0, 9.0]])
    assert row_medians(values).tolist() == [2, 0, 5]
    assert relative_to_median(np.array([[1.0, 2.0, 4.0]])).tolist() == [[-1, 0, 2]]


def test_nodes_and_links_have_half_of_the_errors_each():
    nodes, links = adjusted_p_values(np.array([0.001, 0.5]), np.array([0.5, 1e-5, 4e-5, *[0.6] * 997]))
    assert nodes[0] == pytest.approx(0.004)
    assert links[1] == pytest.approx(2 * 1000 * 1e-5) and links[2] == pytest.approx(2 * 999 * 4e-5)
    assert links[0] == 1
    alone, none = adjusted_p_values(np.array([0.01, np.nan]), np.zeros(0))
    assert alone[0] == pytest.approx(0.01) and np.isnan(alone[1]) and not len(none)
