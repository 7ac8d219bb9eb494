# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of launches that modes of the machine split."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models_data import CATALOG, observed
from tiers import slow

from hockney.models.comparison import Pair, judge
from hockney.models.statistics import PooledCase
from hockney.models.statistics.split_pairs import exchange_launches, find_machine_modes

CASES = [CATALOG.case(f"{name} bytes={size}", 2) for name in ("bcast", "reduce") for size in (8, 64, 512)]
SLOW = 0.9
"""Log of the time in the slow mode relative to the fast one."""


def modes(a: str, b: str, factor=SLOW):
    """Of launches that are `s`low, `f`ast or `b`etween; with pairs that are not split, 16 in all."""
    a, b = (side + "fs" * ((17 - len(side)) // 2) for side in (a, b))
    log = {"f": 0.0, "s": factor, "b": factor / 2}
    return find_machine_modes(*([observed(CASES[0], [log[each] for each in side])] for side in (a, b)))


def test_pairs_split_in_opposite_directions_exchange_their_launches():
    found = modes("fsffsfss", "ffsfssfs")
    assert found.partners == {"1": "2", "2": "1", "5": "6", "6": "5"} and found.exchanged_count == 4
    assert (found.pairs, found.slow_counts, found.split_counts) == (
        16,
        (8, 8),
        (2, 2),
    ) and not found.is_uneven
    assert found.factor == pytest.approx(math.exp(SLOW))
    b = PooledCase.from_runs({0: observed(CASES[0], [0.0] * 8)})
    partners = {f"0/{k}": f"0/{to}" for k, to in found.partners.items()}
    assert exchange_launches(b, partners).pooled.launches == tuple(f"0/{k}" for k in "02134657")


def test_the_nearest_ones_do():
    found = modes("fssffsffffss", "sfffsfssffss")
    assert found.partners == {"0": "1", "1": "0", "2": "4", "4": "2", "5": "6", "6": "5", "7": None}


def test_a_split_pair_that_is_left_over_does_not_count():
    found = modes("fffsfffsss", "ssffsffsss")
    assert found.partners == {"0": None, "1": "3", "3": "1", "4": None}
    names = exchange_launches(PooledCase({}, observed(CASES[0], [0.0] * 10)), found.partners)
    assert names.pooled.launches == ("0 alone", "3", "2", "1", "4 alone", *"56789")


def test_a_launch_between_the_modes_stays():
    found = modes("fsbfsfssffss", "ffffssfsffff")
    assert found.partners == {"1": "5", "5": "1", "6": None, "10": None, "11": None}


@pytest.mark.parametrize(
    ("a", "b", "factor"),
    [
        ("ffffffff", "ffffffff", SLOW),
        ("fsffffffss", "ffsfffffss", SLOW),  # an eighth of the pairs: the centre gives them no weight
        ("fsffsfss", "ffsfssfs", 0.15),  # less than modes are apart
    ],
)
def test_no_modes(a, b, factor):
    assert modes(a, b, factor) is None


def test_few_pairs_stay():
    a, b = ([SLOW * (each == "s") for each in side * 3] for side in ("fsffs", "ffsfs"))
    assert find_machine_modes([observed(CASES[0], a)], [observed(CASES[0], b)]) is None
    a, b = [*a, SLOW], [*b, SLOW]
    assert find_machine_modes([observed(CASES[0], a)], [observed(CASES[0], b)]) is not None


def test_a_side_that_is_slow_more_often_keeps_its_pairs():
    """Eleven to one is no chance; nine to three may be, or not: then nothing is the same either. The centre
    of the pairs decides about those that are all split in one direction (`pair_center`)."""
    assert modes("f" * 11 + "s" + "fs" * 6, "s" * 11 + "f" + "fs" * 6) is None
    assert modes("fffffsssss", "sssffsssss") is None
    some = modes("f" * 9 + "s" * 3 + "fs" * 6, "s" * 9 + "f" * 3 + "fs" * 6)
    assert some.is_uneven and some.exchanged_count == 6
    assert not modes("fffsfsssff", "ssffsfssff").is_uneven


def test_a_difference_of_the_sides_is_no_mode():
    """Half of the cases take half of the time in B, in every launch."""
    made = pairs(*np.zeros((2, 20)), lambda case: -0.7 * (case.workload == "reduce"))
    judged = judge(made, 0.02, paired=True)
    assert not judged.modes
    assert [each.state for each in judged.operations] == ["same", "faster"]


def pairs(effects_a, effects_b, slower=lambda case: 0.0, own=0.02, seed=1):
    rng = np.random.default_rng(seed)
    made = []
    for case in CASES:
        noise = own * rng.standard_normal((2, len(effects_a)))
        a, b = observed(case, effects_a + noise[0]), observed(case, effects_b + slower(case) + noise[1])
        made.append(Pair(case, PooledCase.from_runs({0: a}), PooledCase.from_runs({0: b})))
    return made


def flipping(count: int, seed: int = 3, share: float = 0.5):
    """Each launch in a mode of its own."""
    return SLOW * (np.random.default_rng(seed).random((2, count)) < share)


def test_a_slower_operation_is_found_on_a_machine_that_flips():
    """A reduce takes 6% longer in B, a launch 2.5 times as long in every second case."""
    made = pairs(*flipping(30), lambda case: 0.06 * (case.workload == "reduce"))
    judged = judge(made, 0.02, paired=True)
    assert [each.state for each in judged.operations] == ["same", "slower"]
    assert judged.operations[1].ratio.value == pytest.approx(1.06, abs=0.01)
    (found,) = judged.modes
    assert found.exchanged_count > 6 and judged.cases[0].launches[0] > 24


def test_all_operations_may_be_slower():
    made = pairs(*flipping(30), lambda case: 0.10)
    assert {each.state for each in judge(made, 0.02, paired=True).operations} == {"slower"}


def test_a_side_that_makes_the_machine_slow_is_slower():
    """B in two of three launches, A never: on average 0.6 in logarithms."""
    a, b = np.zeros(30), SLOW * (np.arange(30) % 3 != 0)
    judged = judge(pairs(a, b), 0.02, paired=True)
    assert not judged.modes
    assert {each.state for each in judged.operations} == {"slower"}


def test_nothing_is_the_same_if_one_side_was_slow_more_often():
    """In nine pairs only B, in three only A: that may be chance, or not."""
    direction = np.array([1] * 9 + [-1] * 3 + [0] * 12)
    a, b = SLOW * (direction < 0), SLOW * (direction > 0)
    made = judge(pairs(a, b), 0.05, paired=True)
    assert {each.state for each in (*made.cases, *made.operations)} == {"undecided"}
    assert made.effect.state == "undecided" and made.cases[0].more_launches >= (18, 18)
    even = np.array([1] * 6 + [-1] * 6 + [0] * 12)
    made = judge(pairs(SLOW * (even < 0), SLOW * (even > 0)), 0.05, paired=True)
    assert {each.state for each in made.operations} == {"same"} and made.effect.state == "none"


@pytest.mark.parametrize("count", [16, *slow(24)])
def test_the_interval_contains_the_truth(count):
    """Of the ratio 1, in nearly 95% of worlds; within modes, it is narrow."""
    hits, widths = [], []
    for seed in range(120):
        judged = judge(pairs(*flipping(count, seed), seed=seed)[:2], 0.02, paired=True)
        ratio = judged.cases[0].ratio
        hits.append(ratio.low <= 1 <= ratio.high)
        widths.append(math.log(ratio.high / ratio.low))
    assert np.mean(hits) >= 0.87
    assert np.median(widths) < 0.08


sides = st.lists(st.sampled_from("fs"), min_size=16, max_size=40)


@given(sides, st.randoms(use_true_random=False))
def test_no_launch_is_lost_or_counted_twice(a, random):
    b = [random.choice("fs") for _ in a]
    found = modes("".join(a), "".join(b))
    if found is None:
        return
    b_case = PooledCase({}, observed(CASES[0], [0.0] * len(a)))
    names = exchange_launches(b_case, found.partners).pooled.launches
    assert len(set(names)) == len(a)
    alone = [name for name in names if name.endswith("alone")]
    assert len(alone) == abs(found.split_counts[0] - found.split_counts[1])
    for k, name in enumerate(names):
        if name not in alone:
            assert a[int(name)] == b[k], "both in the same mode"
