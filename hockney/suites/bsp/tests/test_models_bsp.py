# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Models of bulk synchronous programs: the supersteps of kernels, their costs, and parameters fitted to
times."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models_data import Noise, exact, record, simulate
from msgspec import structs
from msgspec.structs import replace as with_fields

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Fit, Fits
from hockney.core.platform import Network, NodeGroup, Platform
from hockney.core.record import MetricSeries, RunRecords
from hockney.models import fit_all, fitted_time
from hockney.models.programs.timing import iteration_time
from hockney.suites.bsp.models.costs import (
    ACCEPTED_ERROR,
    REPAIRS,
    BaseModel,
    CostModel,
    Repair,
    diagnose,
    fully_repaired_model,
    predict,
)
from hockney.suites.bsp.models.described import communication, iteration
from hockney.suites.bsp.models.parameters import (
    BpramParameters,
    BspParameters,
    BulkCosts,
    LocalRate,
    LocalRates,
    MissingParameter,
    described_rates,
    machine_costs,
    operations_per_second,
    rank_counts,
    relation_fit,
)
from hockney.suites.bsp.models.programs import (
    PROGRAMS,
    LocalWork,
    Superstep,
    distinct_local_work,
    final_work,
    full_relation,
    permutation,
    process_grid,
    square_grid,
    supersteps,
)

RANKS = (2, 3, 4, 8, 16, 36, 64)
POWERS = (2, 4, 8, 16, 64)


def matrix(ranks: int, n: int, style: str = "bsp", grid: str = "auto") -> tuple[Superstep, ...]:
    case = Case.of("matrix_multiplication", ranks, n=n, type="double", style=style, grid=grid)
    return supersteps("matrix multiplication", case)


def bitonic(ranks: int, keys: int, style: str = "bsp") -> tuple[Superstep, ...]:
    case = Case.of("b", ranks, keys=keys, type="uint32", style=style, distribution="uniform")
    return supersteps("bitonic sort", case)


def sample(ranks: int, keys: int, style: str = "bsp", route: str = "direct") -> tuple[Superstep, ...]:
    values = {"type": "double", "samples": 0, "distribution": "uniform"}
    case = Case.of("s", ranks, keys=keys, style=style, route=route, **values)
    return supersteps("sample sort", case)


def paths(ranks: int, n: int, style: str = "bsp", block: int = 0) -> tuple[Superstep, ...]:
    return supersteps("shortest paths", Case.of("p", ranks, n=n, style=style, block=block))


def operations(steps: tuple[Superstep, ...], kind: str) -> float:
    return sum(s.count * w.operations for s in steps for w in s.work if w.operation == kind)


def sent(steps: tuple[Superstep, ...]) -> float:
    """Bytes that a rank sends on average."""
    return sum(s.count * s.mean_bytes for s in steps)


def test_grids_of_matrix_multiplication():
    grids = {2: (2, 1, 1), 4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2), 36: (4, 3, 3), 64: (4, 4, 4)}
    assert {p: process_grid(p) for p in grids} == grids
    assert process_grid(8, "8:1:1") == (8, 1, 1)
    assert [square_grid(p) for p in (1, 2, 8, 12, 36, 100)] == [
        (1, 1),
        (1, 2),
        (2, 4),
        (3, 4),
        (6, 6),
        (10, 10),
    ]


def test_matrix_multiplication_on_two_and_on_eight():
    gather, multiply = matrix(2, 100)
    assert (gather.bytes, gather.packets, gather.max_destinations, gather.work) == (100 * 50 * 8, 1, 1, ())
    assert multiply.work[0].operations == 1e6 and multiply.synchronised and multiply.bytes == 0
    assert dict(multiply.work[0].values) == {"n": 50, "m": 100, "k": 100, "type": "double"}
    gather, multiply, add = matrix(8, 100)
    assert gather.max_destinations == 2 and gather.bytes == 2 * 1250 * 8
    assert (
        multiply.max_destinations == 1
        and multiply.bytes == 1250 * 8
        and multiply.work[0].operations == 250_000
    )
    assert add.work[0].operations == 1250 and not add.synchronised


@pytest.mark.parametrize("ranks", RANKS)
def test_both_styles_of_matrix_multiplication_move_and_compute_the_same(ranks: int):
    bsp, bpram = (matrix(ranks, 144, style) for style in ("bsp", "bpram"))
    assert sent(bsp) == pytest.approx(sent(bpram))
    assert operations(bsp, "multiplication") == pytest.approx(operations(bpram, "multiplication"))
    assert sum(s.count * s.startups for s in bsp) == sum(s.count * s.startups for s in bpram)
    assert max(s.startups for s in bpram) == 1
    c = process_grid(ranks)[2]
    assert operations(bsp, "multiplication") == pytest.approx((2 * 144**3 + (c - 1) * 144**2) / ranks)


def test_bitonic_sort_has_a_merge_for_each_exchange():
    first, between, last = bitonic(8, 1024)
    assert first.work[0].operations == 1024 * 10 and first.bytes == 4096 and first.startups == 1
    assert between.count == 5 and between.work[0].operations == 1024 and not last.synchronised
    for p in POWERS:
        q = round(math.log2(p))
        steps = bitonic(p, 64)
        assert operations(steps, "merge") == 64 * q * (q + 1) / 2
        assert sent(steps) == 4 * 64 * q * (q + 1) / 2
    assert bitonic(8, 64, "bpram") == bitonic(8, 64), "exchanges are permutations already"
    [alone] = bitonic(1, 64)
    assert not alone.synchronised


def test_sample_sort_by_each_route():
    samples, keys, merge = sample(4, 1000)
    assert samples.bytes == 3 * 4 * 8 and samples.packets == 3
    assert keys.bytes == pytest.approx(1000 * 8 * 3 / 4 + 24) and keys.work[0].operations == 16 * 4
    assert merge.work[0].operations == 2000
    direct, butterfly = sample(64, 6400, "bpram"), sample(64, 6400, "bpram", "butterfly")
    count = [sum(s.count * s.startups for s in steps) for steps in (direct, butterfly)]
    assert count == [6 + 63, 6 + 6], "p - 1 startups against log p"
    assert sent(butterfly) > 2 * sent(direct), "more bytes"
    copied = [sum(s.count * s.copied_bytes for s in steps) for steps in (direct, butterfly)]
    assert copied == [6400 * 8, 6400 * 8 * (1 + 6 / 2)]
    for p in RANKS:
        gather = sample(p, 6400, "bpram")[: math.ceil(math.log2(p))]
        assert sum(s.bytes for s in gather) == (p - 1) * p * 8, "all samples of all others"


def test_shortest_paths_on_two():
    """A grid of 1 x 2 and two panels: each closes a block, updates a panel, and then the whole."""
    steps = paths(2, 100)
    assert [s.synchronised for s in steps] == [True] * 4 + [False]
    copy, closure = steps[0].work
    assert copy.operations == 100 * 50 * 4 and closure.operations == 50**3
    assert steps[0].bytes == steps[0].copied_bytes == 50 * 50 * 4
    assert steps[0].mean_bytes == steps[0].bytes / 2, "one of two sends"
    assert steps[1].bytes == 100 * 50 * 4, "the columns' panel; rows have one rank"
    assert sum(w.operations for w in steps[1].work) == 50**3, "each rank updates a part of a panel"
    update, closure = steps[2].work
    assert update.operations == 50**3 and closure.operations == 50**3, "all but the rows of the panel"
    assert steps[4].work == (update,)


def test_shortest_paths_on_a_square_has_panels_as_in_the_paper():
    steps = paths(64, 640)
    assert operations(steps, "closure") == 8 * 80**3
    diagonal = steps[:3]
    assert [s.bytes for s in diagonal] == [2 * 4 * 80**2] * 3 and [s.max_destinations for s in diagonal] == [
        2
    ] * 3
    assert [s.mean_bytes for s in diagonal] == [2 * k * 4 * 80**2 / 64 for k in (1, 2, 4)]
    assert sum(s.synchronised for s in steps) == 8 * (3 + 3)
    blocks = paths(64, 640, "bpram")
    assert sent(blocks) == pytest.approx(sent(steps))
    assert sum(s.startups for s in blocks) == 8 * (3 + 3 + 3 + 3)


def test_shortest_paths_row_by_row_closes_nothing():
    steps = paths(4, 64, block=1)
    assert operations(steps, "closure") == 0 and operations(steps, "min-plus") == 64**3 / 4
    assert sum(s.synchronised for s in steps) == 64
    assert operations(paths(4, 64, block=5), "closure") == 2 * (6 * 5**3 + 2**3), "panels end at blocks"


@pytest.mark.parametrize("ranks", [p for p in RANKS if square_grid(p)[0] > 1])
def test_panels_cover_the_matrix(ranks: int):
    rows, columns = square_grid(ranks)
    n = 12 * rows * columns
    steps = paths(ranks, n)
    updates, panels = n**3 / ranks, columns * (n / columns) ** 2 * (n / rows)
    assert operations(steps, "min-plus") == pytest.approx(updates + panels)
    assert operations(steps, "closure") <= columns * (n / columns) ** 3


def test_other_kernels_and_styles_have_no_supersteps():
    assert supersteps("halo", Case.of("halo", 2, style="bsp")) is None
    assert all(supersteps(name, Case.of("x", 2, style="mpi")) is None for name in PROGRAMS)


MACHINE = BulkCosts(
    ranks=8,
    bsp=BspParameters(
        L=3100.0,
        packet_s=5.9,
        per_byte_s=0.15,
        empty_s=300.0,
        startup_s=200.0,
        single_startup_s=450.0,
        single_per_byte_s=0.25,
        isolated_startup_s=350.0,
        isolated_per_byte_s=0.05,
    ),
    bpram=BpramParameters(sigma=0.02, startup_s=1000.0, isolated_sigma=0.01, isolated_startup_s=600.0),
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
"""Parameters as large as the Paragon's (us), with round numbers."""
WORK = LocalWork.of("merge", 10_000, keys=100, type="double")
"""1000 us."""


def time(step: Superstep, base: BaseModel, *repairs: str) -> float:
    return predict([step], MACHINE, CostModel(base, frozenset(repairs))).total  # type: ignore[arg-type]


def test_a_described_rate_replaces_the_one_that_follows_from_the_speed():
    one = Platform(name="x", title="X", network=Network(nodes=(NodeGroup(count=2),)), segments=(), flops=1e8)
    assert operations_per_second(one, "sort") == 2e7
    assert operations_per_second(structs.replace(one, rates={"sort": 7.0}), "sort") == 7.0


LONG, FULL = permutation(bytes=4000, packets=1), full_relation(8, bytes=4000, packets=7)
WORDS = permutation(bytes=400, packets=100)
THREE = Superstep(bytes=6000, packets=3, max_destinations=3, max_sources=3, mean_bytes=6000)
ONE_SENDER = Superstep(bytes=8000, packets=2000, max_destinations=1, max_sources=1, mean_bytes=1000)


@pytest.mark.parametrize(
    ("step", "base", "repairs", "expected"),
    [
        (full_relation(8, 4000, 1000, (WORK,)), "bsp", "", 1000 + 6.5 * 1000 + 3100),
        (replace(full_relation(8, 4000, 1000, (WORK,)), count=3), "bsp", "", 3 * (1000 + 6500 + 3100)),
        (final_work(WORK), "bsp", "copies balance", 1000),
        (final_work(WORK), "bpram", "copies balance", 1000),
        # larger packets cost less
        (LONG, "bsp", "", 5.9 + 600 + 3100),
        (permutation(bytes=4000, packets=1000), "bsp", "", 6500 + 3100),
        # blocks; work needs no startup
        (permutation(bytes=50_000, packets=1), "bpram", "", 1000 + 1000),
        (full_relation(8, bytes=70_000, packets=7), "bpram", "", 7 * (10_000 * 0.02 + 1000)),
        (Superstep(work=(WORK,)), "bpram", "", 1000),
        # startups of the pattern; those of a full relation are L
        (WORDS, "bsp", "startups", 650 + 300 + 2 * 200),
        (full_relation(8, 400, 100), "bsp", "startups", 650 + 300 + 14 * 200),
        (Superstep(), "bsp", "startups", 300),
        # bytes of few messages do not overlap with startups, except those of others: 500 us of each of three
        (LONG, "bsp", "startups sparse", 5.9 + 0.25 * 4000 + 300 + 450),
        (THREE, "bsp", "startups sparse", 3 * 5.9 + 500 + 2 * 100 + 300 + 450 + 800),
        (replace(THREE, bytes=60, mean_bytes=60), "bsp", "startups sparse", 3 * 5.9 + 5 + 300 + 450 + 800),
        (FULL, "bsp", "sparse", 7 * 5.9 + 600 + 3100),
        (Superstep(), "bsp", "startups sparse", 300),
        (replace(LONG, mean_bytes=0), "bsp", "startups sparse balance", 5.9 + 200 + 300 + 350),
        # bytes of others count on average
        (ONE_SENDER, "bpram", "balance", 80 + 10 + 600 + 50),
        (ONE_SENDER, "bsp", "balance", 13_000 - 0.1 * 7000 + 3100),
        (replace(ONE_SENDER, mean_bytes=8000), "bpram", "balance", 160 + 1000),
        (replace(ONE_SENDER, mean_bytes=8000), "bsp", "balance", 13_000 + 3100),
        (permutation(4000, 1000, copied_bytes=20_000), "bsp", "copies", 6500 + 3100 + 200),
        (permutation(4000, 1000, copied_bytes=20_000), "bpram", "copies", 80 + 1000 + 200),
    ],
)
def test_supersteps_cost_what_each_model_and_its_repairs_state(step, base, repairs, expected):
    assert time(step, base, *repairs.split()) == pytest.approx(expected)


KERNELS = {"matrix": matrix, "bitonic": bitonic, "sample": sample, "paths": paths}


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
@pytest.mark.parametrize("base", ["bsp", "bpram"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_as_a_described_program_takes_what_its_model_says(kernel: str, base: BaseModel, ranks: int):
    """If startups are known, ranks that do not send in a broadcast are ready earlier than in the model."""
    one = Platform(
        name="x", title="X", network=Network(nodes=(NodeGroup(count=2),)), segments=(), flops=100.0
    )
    machine = replace(MACHINE, ranks=ranks, rates=described_rates(one))
    steps = KERNELS[kernel](ranks, 192, base)

    def times(costs: BulkCosts, *repairs: Repair) -> tuple[float, float]:
        messages = communication(costs, base, 0, "test")
        described = iteration_time(iteration(steps, ranks, costs, base), messages).seconds
        return described, predict(steps, costs, CostModel(base, frozenset(repairs))).total

    found, by_model = times(replace(machine, bsp=replace(MACHINE.bsp, startup_s=None)))
    assert found == pytest.approx(by_model, rel=1e-3)
    if base == "bsp":
        found, by_model = times(machine, "startups")
        assert found == pytest.approx(by_model, rel=0.1 if kernel == "paths" else 1e-3)
        assert found <= by_model * (1 + 1e-9)


def test_packets_of_a_message_cost_their_calls():
    step = permutation(bytes=4000, packets=1000)
    plain = replace(MACHINE, bsp=replace(MACHINE.bsp, startup_s=None))
    costs = communication(plain, "bsp", 4, "test")
    found = iteration_time(iteration([step], 8, plain, "bsp"), costs).seconds
    assert found == pytest.approx(time(step, "bsp"), rel=1e-3)


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
    step = full_relation(8, bytes=4, packets=1, work=(sort,))
    assert distinct_local_work([step, step]) == (sort,)
    with pytest.raises(MissingParameter, match="sort"):
        predict([step], MACHINE, CostModel("bsp"))
    bare, plain = BulkCosts(ranks=8), full_relation(8, bytes=4, packets=1)
    for base in REPAIRS:
        with pytest.raises(MissingParameter):
            predict([plain], bare, CostModel(base))
        assert diagnose([plain], bare, base, 1.0) is None
    assert time(plain, "bsp") < 1e9
    words = replace(MACHINE, bsp=BspParameters(L=3100.0, packet_s=0.0, per_byte_s=6.5 / 4))
    assert predict([plain], words, CostModel("bsp")).total == pytest.approx(3106.5)
    with pytest.raises(MissingParameter, match="superstep"):
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
        (Superstep(bytes=400_000, packets=7, max_destinations=7, max_sources=7), "bsp", "balance"),
        (permutation(bytes=400_000, packets=1), "bsp", "sparse"),
        (Superstep(bytes=800_000, packets=200_000, max_destinations=7, max_sources=7), "bpram", "balance"),
        (permutation(bytes=400_000, packets=1, copied_bytes=4_000_000), "bpram", "copies"),
    ],
)
def test_the_assumption_that_fails_is_named(step: Superstep, base: BaseModel, failing: str):
    measured = predict([step], MACHINE, fully_repaired_model(base)).total
    found = diagnose([step], MACHINE, base, measured)
    assert found.repair == failing and abs(found.repaired_error) < abs(found.error)


def test_no_assumption_is_named_without_cause():
    step = full_relation(8, bytes=4000, packets=1000)
    right = predict([step], MACHINE, CostModel("bsp")).total
    assert diagnose([step], MACHINE, "bsp", right / (1 + 0.9 * ACCEPTED_ERROR)).repair is None, (
        "the model is right"
    )
    other = diagnose([step], MACHINE, "bsp", 10 * right)
    assert other.repair is None and other.repaired_error is None, "no repair explains a slow machine"
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


def workload(name: str, role: str, operation: str, size: str) -> Workload:
    return Workload(
        name=name,
        help="",
        time="",
        min_ranks=1,
        max_ranks=0,
        parameters=[],
        role=role,
        operation=operation,
        size=size,
    )


CATALOG = Catalog(
    schema=1,
    engine="",
    workloads=[
        workload("h_relation", "bsp", "h-relation", "h"),
        workload("bsp_sync", "bsp", "synchronisation", ""),
        workload("block_permutation", "bsp", "permutation", "bytes"),
        workload("local_sort", "local", "sort", "keys"),
        workload("pingpong", "point-to-point", "send", "bytes"),
    ],
)
HS = (16, 64, 256, 1024, 4096, 16384, 65536)
L, PACKET, G, EMPTY, SIGMA, BLOCK = 12e-6, 20e-9, 0.5e-9, 4e-6, 0.3e-9, 2e-6
g = PACKET + 4 * G


def true(case: Case) -> float:
    if case.workload == "h_relation":
        return L + PACKET * 4 * case["h"] / case["packet"] + G * 4 * case["h"]
    if case.workload == "block_permutation":
        return BLOCK + SIGMA * case.bytes
    if case.workload == "pingpong":
        return 1e-6 + 0.1e-9 * case.bytes
    return EMPTY


def relations(ranks: int, packet: int = 4, hs: tuple[int, ...] = HS, method: str = "put") -> list[Case]:
    return [Case.of("h_relation", ranks, h=h, packet=packet, method=method) for h in hs]


CASES = [
    *relations(5),
    *relations(5, 1024, (256, 1024, 4096, 16384)),
    Case.of("bsp_sync", 5),
    *(Case.of("block_permutation", 5, bytes=size) for size in (8, 512, 4096, 65536, 1 << 20)),
    *(Case.of("pingpong", 2, bytes=size, buffers="hot") for size in (0, 64, 4096, 65536, 1 << 20)),
]
NOISE = Noise("tails", launches=5, repetitions=200)


def fits_of(run: RunRecords, cores: int | None = None) -> Fits:
    return fit_all(run, CATALOG, cores=cores)


def parameters(fits: Fits, model: str) -> list[dict[str, float]]:
    return [{p.symbol: p.estimate.value for p in f.parameters} for f in fits.fits if f.model == model]


def test_exact_times_give_the_parameters_back():
    fits = fits_of(exact(true, CASES))
    words, packets = parameters(fits, "bsp")
    assert words == pytest.approx({"L": L, "g": g})
    assert packets == pytest.approx({"L": L, "g": 4 * PACKET / 1024 + 4 * G})
    assert parameters(fits, "bpram") == [pytest.approx({"l": BLOCK, "sigma": SIGMA})]
    assert parameters(fits, "superstep") == [pytest.approx({"L": L, "o": PACKET, "G": G})]
    assert {f.verdict for f in fits.fits if f.model in ("bsp", "bpram", "superstep")} == {"good"}


@pytest.mark.parametrize("seed", range(5))
def test_noisy_times_give_them_within_their_intervals(seed: int):
    fits = fits_of(simulate(true, CASES, NOISE, np.random.default_rng(seed)))
    truth = {"bsp": {"L": L, "g": g}, "bpram": {"l": BLOCK, "sigma": SIGMA}}
    for model, values in truth.items():
        fit = next(f for f in fits.fits if f.model == model)
        for symbol, value in values.items():
            estimate = fit.parameter(symbol).estimate
            assert estimate.value == pytest.approx(value, rel=0.05)
            assert estimate.low * 0.99 < value < estimate.high * 1.01


def test_relations_that_are_too_small_are_a_caveat_and_never_a_negative_g():
    def falling(case: Case) -> float:
        return true(case) * (1 - 0.002 * case["h"] / 16)

    fits = fits_of(simulate(falling, relations(2, hs=(16, 32, 64)), NOISE, np.random.default_rng(1)))
    [fit] = fits.fits
    estimate = fit.parameter("g").estimate
    assert 0 <= estimate.low <= estimate.value <= estimate.high
    assert [c.code for c in fit.caveats][:1] == ["narrow-relations"] and fit.verdict != "good"


def test_two_sizes_are_refused_and_crowded_cores_are_left_out():
    two = fits_of(exact(true, relations(2, hs=(16, 64))))
    assert [f.verdict for f in two.fits] == ["refused"] and relation_fit(two, 2) is None
    assert not fits_of(exact(true, CASES), cores=4).select("bsp", "h_relation")


def test_a_fit_predicts_with_an_interval():
    fits = fits_of(simulate(true, CASES, NOISE, np.random.default_rng(3)))

    def check(fit: Fit, case: Case, **at: float) -> None:
        time = fitted_time.fitted_time(fit, at)
        assert time.low < time.value < time.high and time.value == pytest.approx(true(case), rel=0.05)

    [relation] = relations(5, hs=(500,))
    check(relation_fit(fits, 5), relation, h=500)
    [packets] = relations(5, packet=200, hs=(500,))
    fit = next(f for f in fits.fits if f.model == "superstep")
    assert fit.ranges == {"h": (16, 65536), "packet": (4, 1024)}
    check(fit, packets, h=500, packet=200)


def test_costs_of_a_machine_from_its_fits():
    rate = record(Case.of("local_sort", 5, keys=64, type="double"), "0-5", [1e-6])
    counted = MetricSeries(unit="", over_ranks="max", per="record", phase=False, values=[384.0])
    run = exact(true, CASES)
    run = replace(run, records=(*run.records, with_fields(rate, metrics={"operations": counted})))
    fits = fits_of(run)
    assert rank_counts(fits) == (5,)
    costs = machine_costs(fits, 5)
    assert (costs.bsp.L, costs.bsp.packet_s, costs.bsp.per_byte_s) == pytest.approx((L, PACKET, G))
    assert costs.bsp.empty_s == pytest.approx(EMPTY)
    assert costs.bsp.startup_s == pytest.approx((L - EMPTY) / 8), "4 messages out and 4 in"
    assert costs.bsp.isolated_per_byte_s == pytest.approx(0.1e-9)
    assert costs.bsp.single_startup_s is None, "there are no relations between two ranks"
    pair = exact(true, [*CASES, *relations(2), *relations(2, 1024, (256, 1024)), Case.of("bsp_sync", 2)])
    single = machine_costs(fits_of(pair), 5).bsp
    assert (single.single_startup_s, single.single_per_byte_s) == pytest.approx((L - EMPTY, G))
    assert single.isolated_startup_s == pytest.approx(1e-6)
    assert (costs.bpram.isolated_sigma, costs.bpram.isolated_startup_s) == pytest.approx((0.1e-9, 1e-6))
    assert costs.rates.seconds(LocalWork.of("sort", 768, keys=64, type="double")) == pytest.approx(2e-6)
    other = machine_costs(fits, 3)
    assert other.bsp is other.bpram is None and not other.rates.rates_by_operation


def test_a_message_alone_costs_no_more_than_one_of_many():
    def dear(case: Case) -> float:
        return (10 if case.workload == "pingpong" else 1) * true(case)

    costs = machine_costs(fits_of(exact(dear, CASES)), 5)
    assert (costs.bpram.isolated_sigma, costs.bpram.isolated_startup_s) == pytest.approx((SIGMA, BLOCK))
    words = machine_costs(fits_of(exact(true, relations(5))), 5)
    assert (words.bsp.L, words.bsp.packet_s, words.bsp.per_byte_s) == pytest.approx((L, 0, g / 4))
    assert words.bsp.startup_s is None
