# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of supersteps: examples computed by hand, and what holds for every program and machine."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from hockney.core.platform import Network, NodeGroup, Platform
from hockney.suites.bsp.models.costs import (
    CLOSE,
    REPAIRS,
    Base,
    CostModel,
    diagnose,
    predict,
    repaired,
)
from hockney.suites.bsp.models.parameters import (
    Bpram,
    Bsp,
    BulkCosts,
    LocalRate,
    LocalRates,
    NotMeasured,
    operations_per_second,
)
from hockney.suites.bsp.models.programs import LocalWork, Superstep, full, permutation, work_alone, works_of

MACHINE = BulkCosts(
    ranks=8,
    bsp=Bsp(
        L=3100.0,
        packet=5.9,
        per_byte=0.15,
        empty=300.0,
        startup=200.0,
        single_startup=450.0,
        single_per_byte=0.25,
        startup_alone=350.0,
        per_byte_alone=0.05,
    ),
    bpram=Bpram(sigma=0.02, startup=1000.0, sigma_alone=0.01, startup_alone=600.0),
    rates=LocalRates(
        {
            "copy": (LocalRate({"bytes": 10_000}, 10_000, 100.0),),
            "merge": (
                LocalRate({"keys": 400, "type": "double"}, 400, 80.0),
                LocalRate({"keys": 100, "type": "double"}, 100, 10.0),
                LocalRate({"keys": 100, "type": "uint32"}, 100, 7.0),
            ),
        }
    ),
)
"""Of the size of the Paragon's (us), with round numbers."""
WORK = LocalWork.of("merge", 10_000, keys=100, type="double")
"""1000 us."""


def time(step: Superstep, base: Base, *repairs: str) -> float:
    return predict([step], MACHINE, CostModel(base, frozenset(repairs))).total  # type: ignore[arg-type]


def test_a_described_rate_replaces_the_one_that_follows_from_the_speed():
    one = Platform(name="x", title="X", network=Network(nodes=(NodeGroup(count=2),)), segments=(), flops=1e8)
    assert operations_per_second(one, "sort") == 2e7
    assert operations_per_second(structs.replace(one, rates={"sort": 7.0}), "sort") == 7.0


def test_bsp_is_w_plus_g_h_plus_L():
    step = full(8, bytes=4000, packets=1000, work=(WORK,))
    assert time(step, "bsp") == pytest.approx(1000 + 6.5 * 1000 + 3100)
    assert time(replace(step, count=3), "bsp") == pytest.approx(3 * (1000 + 6500 + 3100))
    for base in REPAIRS:
        assert time(work_alone(WORK), base, "copies", "balance") == pytest.approx(1000)


def test_bpram_counts_the_bytes_and_the_startups_of_blocks():
    assert time(permutation(bytes=50_000, packets=1), "bpram") == pytest.approx(1000 + 1000)
    assert time(full(8, bytes=70_000, packets=7), "bpram") == pytest.approx(7 * (10_000 * 0.02 + 1000))
    assert time(Superstep(work=(WORK,)), "bpram") == pytest.approx(1000), "work needs no startup"


def test_repaired_startups_are_those_of_the_pattern():
    one, all_ = (make(bytes=400, packets=100) for make in (permutation, lambda **k: full(8, **k)))
    assert time(one, "bsp", "startups") == pytest.approx(650 + 300 + 2 * 200)
    assert time(all_, "bsp", "startups") == pytest.approx(650 + 300 + 14 * 200), "L of the relation"
    assert time(Superstep(), "bsp", "startups") == pytest.approx(300)


def test_bytes_of_few_messages_do_not_overlap_with_startups():
    one = permutation(bytes=4000, packets=1)
    assert time(one, "bsp", "startups", "sparse") == pytest.approx(5.9 + 0.25 * 4000 + 300 + 450)
    three = Superstep(bytes=6000, packets=3, sends=3, receives=3, mean_bytes=6000)
    # each has 500 us of bytes, which hide the 400 us of startups of the next two
    assert time(three, "bsp", "startups", "sparse") == pytest.approx(
        3 * 5.9 + 500 + 2 * 100 + 300 + 450 + 800
    )
    short = replace(three, bytes=60, mean_bytes=60)
    assert time(short, "bsp", "startups", "sparse") == pytest.approx(3 * 5.9 + 5 + 300 + 450 + 800)
    all_ = full(8, bytes=4000, packets=7)
    assert time(all_, "bsp", "sparse") == time(all_, "bsp"), "a full relation was measured"
    assert time(Superstep(), "bsp", "startups", "sparse") == pytest.approx(300)
    unbalanced = replace(one, mean_bytes=0)
    assert time(unbalanced, "bsp", "startups", "sparse", "balance") == pytest.approx(5.9 + 200 + 300 + 350)


def test_g_of_larger_packets_is_less():
    assert time(permutation(bytes=4000, packets=1), "bsp") == pytest.approx(5.9 + 600 + 3100)
    assert time(permutation(bytes=4000, packets=1000), "bsp") == pytest.approx(6500 + 3100)


def test_repaired_balance_charges_others_bytes_on_average():
    one_sender = Superstep(bytes=8000, packets=2000, sends=1, receives=1, mean_bytes=1000)
    assert time(one_sender, "bpram", "balance") == pytest.approx(80 + 10 + 600 + 50)
    assert time(one_sender, "bsp", "balance") == pytest.approx(13_000 - 0.1 * 7000 + 3100)
    even = replace(one_sender, mean_bytes=8000)
    for base in REPAIRS:
        assert time(even, base, "balance") == pytest.approx(time(even, base))


def test_repaired_copies_are_added():
    step = permutation(bytes=4000, packets=1000, copied=20_000)
    for base in REPAIRS:
        assert time(step, base, "copies") == pytest.approx(time(step, base) + 200)


def test_names_of_models():
    assert CostModel("bsp").name == "bsp"
    assert CostModel("bsp", frozenset(("copies", "startups"))).name == "bsp+startups+copies"
    assert [repaired(base).name for base in REPAIRS] == ["bsp-repaired", "bpram-repaired"]


@pytest.mark.parametrize(
    ("operations", "values", "each"),
    [
        (50, {"keys": 400, "type": "double"}, 0.2),
        (1e9, {"keys": 100, "type": "uint32"}, 0.07),
        (200, {"keys": 77, "type": "double"}, 0.15),
        (1, {"type": "double"}, 0.1),
        (1e9, {"type": "double"}, 0.2),
    ],
)
def test_the_rate_of_the_same_work_or_of_work_of_its_size(operations: float, values: dict, each: float):
    """Halfway from 100 to 400 operations in logarithms, the cost of one is halfway as well."""
    work = LocalWork.of("merge", operations, **values)
    assert MACHINE.rates.seconds(work) == pytest.approx(operations * each)


def test_what_was_not_measured_is_named():
    sort = LocalWork.of("sort", 1, keys=1)
    step = full(8, bytes=4, packets=1, work=(sort,))
    assert works_of([step, step]) == (sort,)
    with pytest.raises(NotMeasured, match="sort"):
        predict([step], MACHINE, CostModel("bsp"))
    bare, plain = BulkCosts(ranks=8), full(8, bytes=4, packets=1)
    for base in REPAIRS:
        with pytest.raises(NotMeasured):
            predict([plain], bare, CostModel(base))
        assert diagnose([plain], bare, base, 1.0) is None
    assert time(plain, "bsp") < 1e9
    words = replace(MACHINE, bsp=Bsp(L=3100.0, packet=0.0, per_byte=6.5 / 4))
    assert predict([plain], words, CostModel("bsp")).total == pytest.approx(3106.5)
    with pytest.raises(NotMeasured, match="superstep"):
        predict([plain], words, CostModel("bsp", frozenset({"startups"})))


def test_more_bytes_on_average_than_at_most_are_refused():
    with pytest.raises(ValueError, match="average"):
        Superstep(bytes=4, mean_bytes=5)
    with pytest.raises(ValueError, match="synchronisation"):
        Superstep(bytes=4, synchronised=False)


@pytest.mark.parametrize(
    ("step", "base", "failing"),
    [
        (permutation(bytes=40, packets=10), "bsp", "startups"),
        (Superstep(bytes=400_000, packets=7, sends=7, receives=7), "bsp", "balance"),
        (permutation(bytes=400_000, packets=1), "bsp", "sparse"),
        (Superstep(bytes=800_000, packets=200_000, sends=7, receives=7), "bpram", "balance"),
        (permutation(bytes=400_000, packets=1, copied=4_000_000), "bpram", "copies"),
    ],
)
def test_the_assumption_that_fails_is_named(step: Superstep, base: Base, failing: str):
    measured = predict([step], MACHINE, repaired(base)).total
    found = diagnose([step], MACHINE, base, measured)
    assert found.failing == failing and abs(found.corrected) < abs(found.error)


def test_no_assumption_is_named_without_cause():
    step = full(8, bytes=4000, packets=1000)
    right = predict([step], MACHINE, CostModel("bsp")).total
    assert diagnose([step], MACHINE, "bsp", right / (1 + 0.9 * CLOSE)).failing is None, "the model is right"
    other = diagnose([step], MACHINE, "bsp", 10 * right)
    assert other.failing is None and other.corrected is None, "no repair explains a slow machine"
    assert other.error == pytest.approx(-0.9)


STEPS = st.builds(
    lambda bytes, packets, share, sends, receives, copied: Superstep(
        (WORK,), bytes, packets, sends, receives, share * bytes, copied
    ),
    bytes=st.floats(0, 1e9),
    packets=st.floats(0, 1e6),
    share=st.floats(0, 1),
    sends=st.integers(0, 7),
    receives=st.integers(0, 7),
    copied=st.floats(0, 1e9),
)
MODELS = [
    CostModel(base, frozenset(chosen))
    for base, repairs in REPAIRS.items()
    for chosen in chain.from_iterable(combinations(repairs, k) for k in range(len(repairs) + 1))
]


@given(STEPS, st.sampled_from(MODELS))
def test_no_part_of_a_time_is_negative_and_the_work_is_the_same(step: Superstep, model: CostModel):
    terms = predict([step], MACHINE, model)
    assert terms.work == pytest.approx(1000)
    assert min(terms.copies, terms.data, terms.messages) >= 0
    assert terms.total == pytest.approx(terms.work + terms.communication)


@given(STEPS, st.sampled_from(MODELS), st.integers(1, 9))
def test_supersteps_add_up(step: Superstep, model: CostModel, count: int):
    once, many = predict([step], MACHINE, model), predict([replace(step, count=count)], MACHINE, model)
    assert many.total == pytest.approx(count * once.total)
    assert predict([step] * count, MACHINE, model).total == pytest.approx(many.total)


@given(STEPS, st.sampled_from(MODELS))
def test_more_bytes_never_take_less_time(step: Superstep, model: CostModel):
    more = replace(step, bytes=2 * step.bytes, packets=2 * step.packets, mean_bytes=2 * step.mean_bytes)
    assert predict([more], MACHINE, model).total >= predict([step], MACHINE, model).total
