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
    SwitchLevel,
    adjusted_p_values,
    change,
    inverse_trigamma,
    is_slow,
    moderate,
    over_launches,
    over_runs,
    pair_effects,
    relative_to_median,
    row_medians,
)
from hockney.models.node_links import link_p_values

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
    effects = pair_effects(times, is_symmetric=True)
    first, second = np.triu_indices(times.shape[1], 1)
    link_values = effects.links[:, first, second]
    nodes, links = over_launches(effects.sending), over_launches(link_values)
    adjusted = adjusted_p_values({"node": nodes.p_slower, "link": link_p_values(link_values, links)})
    slow_links = np.flatnonzero(is_slow(links, adjusted["link"]))
    return (
        set(np.flatnonzero(is_slow(nodes, adjusted["node"])).tolist()),
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


def test_noise_that_only_delays_names_no_link():
    """As in simulations, where a pair's time in a launch is that of two messages. The t test alone would
    name links in about a tenth of the runs."""
    random = np.random.default_rng(13)
    first, second = np.triu_indices(32, 1)
    false = false_by_t = found = 0
    for _ in range(100):
        times = np.log(np.exp(0.05 * np.abs(random.standard_normal((4, 32, 32, 2)))).mean(axis=-1))
        times[:, np.tri(32, dtype=bool)] = np.nan
        false += named(times) != (set(), set())
        links = over_launches(pair_effects(times, is_symmetric=True).links[:, first, second])
        false_by_t += is_slow(
            links, adjusted_p_values({"node": np.ones(32), "link": links.p_slower})["link"]
        ).any()
        times[:, 3, 8] += math.log(1.12)
        found += named(times) == (set(), {(3, 8)})
    assert false <= 5 < false_by_t
    assert found >= 95


def test_what_is_detectable_is_named_in_95_percent():
    random = np.random.default_rng(5)
    nodes, launches, noise, runs = 16, 6, 0.05, 80
    clean = [
        over_launches(pair_effects(log_times(random, nodes, launches, noise), is_symmetric=True).sending)
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
    effects = pair_effects(times, classes, is_symmetric=True)
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
    adjusted = adjusted_p_values({"node": effects.p_slower})["node"]
    assert is_slow(effects, adjusted).tolist() == [False, True, False]


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


def test_each_kind_has_an_equal_part_of_the_errors():
    links = np.array([0.5, 1e-5, 4e-5, *[0.6] * 997])
    adjusted = adjusted_p_values({"node": np.array([0.001, 0.5]), "link": links, "switch": np.zeros(0)})
    assert adjusted["node"][0] == pytest.approx(0.004)
    assert adjusted["link"][1] == pytest.approx(2 * 1000 * 1e-5)
    assert adjusted["link"][2] == pytest.approx(2 * 999 * 4e-5) and adjusted["link"][0] == 1
    alone = adjusted_p_values({"node": np.array([0.01, np.nan]), "link": np.zeros(0)})
    assert alone["node"][0] == pytest.approx(0.01) and np.isnan(alone["node"][1]) and not len(alone["link"])


def test_a_node_that_a_launch_missed_has_no_effect_there():
    times = log_times(np.random.default_rng(4), 8, 5, 0.01, {6: 1.2, 2: 1.3})
    times[2:, 2], times[2:, :, 2] = np.nan, np.nan
    effects = pair_effects(times, is_symmetric=True)
    assert np.isnan(effects.sending[2:, 2]).all() and np.isfinite(effects.sending[:2]).all()
    over = over_launches(effects.sending)
    assert over.launches.tolist() == [5, 5, 2, 5, 5, 5, 5, 5]
    assert over.log_ratio[2] == pytest.approx(math.log(1.3), abs=0.03)


def test_a_change_has_the_variance_of_both_runs():
    """The share of intervals that contain no change is that of the intervals."""
    random = np.random.default_rng(11)
    outside = []
    for _ in range(RUNS):
        first, second = (over_launches(0.03 * random.standard_normal((k, 50))) for k in (5, 8))
        difference = change(first, second)
        outside += (np.abs(difference.log_ratio) > difference.half_width()).tolist()
        assert (difference.p_above(0.05) >= difference.p_above(0.0)).all()
    assert 0.03 < np.mean(outside) < 0.07


def test_runs_that_differ_widen_the_interval():
    random = np.random.default_rng(12)
    day = 0.1 * random.standard_normal((4, 1, 20))
    runs = list(day + 0.01 * random.standard_normal((4, 6, 20)))
    wide = over_runs(runs).standard_error
    assert np.median(wide) == pytest.approx(0.05, rel=0.3)
    assert np.median(over_runs([np.concatenate(runs)]).standard_error) < 0.5 * np.median(wide)


LEAVES = SwitchLevel(tuple(tuple(range(8 * k, 8 * k + 8)) for k in range(6)))
LEAF = np.arange(48) // 8
ACROSS = (LEAF[:, None] != LEAF[None, :]).astype(int)


def named_with_switches(times: np.ndarray) -> tuple[set[int], int, set[tuple[int, str]]]:
    """The slow nodes, the number of slow links, and the slow switches, by what is slow."""
    effects = pair_effects(times, ACROSS, (LEAVES,), is_symmetric=True)
    first, second = np.triu_indices(48, 1)
    link_values = effects.links[:, first, second]
    nodes, links = over_launches(effects.sending), over_launches(link_values)
    switches = over_launches(np.hstack([effects.switch_sending, effects.switch_within]))
    adjusted = adjusted_p_values(
        {"node": nodes.p_slower, "link": link_p_values(link_values, links), "switch": switches.p_slower}
    )
    slow = np.flatnonzero(is_slow(switches, adjusted["switch"])).tolist()
    return (
        set(np.flatnonzero(is_slow(nodes, adjusted["node"])).tolist()),
        int(is_slow(links, adjusted["link"]).sum()),
        {(k % 6, "within" if k >= 6 else "across") for k in slow},
    )


@pytest.mark.parametrize("factor", [1.1, 1.5])
def test_a_slow_uplink_names_its_switch_and_no_node(factor: float):
    random = np.random.default_rng(7)
    found = 0
    for _ in range(RUNS):
        times = log_times(random, 48, 5, 0.04, {13: 1.15}) + 0.3 * ACROSS
        times[:, (LEAF[:, None] == 3) != (LEAF[None, :] == 3)] += math.log(factor)
        found += named_with_switches(times) == ({13}, 0, {(3, "across")})
    assert found >= 0.95 * RUNS


def test_nodes_that_are_all_slow_are_their_switch():
    random = np.random.default_rng(8)
    times = log_times(random, 48, 6, 0.03, dict.fromkeys(LEAVES.groups[2], 1.12)) + 0.3 * ACROSS
    assert named_with_switches(times) == (set(), 0, {(2, "across"), (2, "within")})


def test_clean_switches_are_not_named():
    random = np.random.default_rng(9)
    clean = [named_with_switches(log_times(random, 48, 5, 0.05) + 0.3 * ACROSS) for _ in range(RUNS)]
    assert sum(result != (set(), 0, set()) for result in clean) <= 0.05 * RUNS


def test_few_or_small_switches_are_not_compared():
    times = log_times(np.random.default_rng(10), 9, 4, 0.02, {1: 1.2, 4: 1.2})
    for groups in (((0, 1, 2), (3, 4, 5), (6, 7, 8)), ((0, 1), (2, 3), (4, 5), (6, 7))):
        effects = pair_effects(times, None, (SwitchLevel(groups),), is_symmetric=True)
        assert np.isnan(effects.switch_sending).all() and effects.switch_sending.shape == (4, len(groups))
        assert np.isnan(over_launches(effects.switch_within).p_slower).all()
        assert over_launches(effects.sending).log_ratio[[1, 4]] == pytest.approx(math.log(1.2), abs=0.05)
