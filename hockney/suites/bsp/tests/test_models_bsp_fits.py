# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""g, L, sigma, l and the costs of packets, fitted to times with known ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from models_data import Noise, exact, record, simulate
from msgspec.structs import replace as with_fields

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Fit, Fits
from hockney.core.record import MetricSeries, RunRecords
from hockney.models import fit_all, fitted_time
from hockney.suites.bsp.models.parameters import machine_costs, rank_counts, relation_fit
from hockney.suites.bsp.models.programs import LocalWork


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
    assert (costs.bsp.L, costs.bsp.packet, costs.bsp.per_byte) == pytest.approx((L, PACKET, G))
    assert costs.bsp.empty == pytest.approx(EMPTY)
    assert costs.bsp.startup == pytest.approx((L - EMPTY) / 8), "4 messages out and 4 in"
    assert costs.bsp.per_byte_alone == pytest.approx(0.1e-9)
    assert costs.bsp.single_startup is None, "there are no relations between two ranks"
    pair = exact(true, [*CASES, *relations(2), *relations(2, 1024, (256, 1024)), Case.of("bsp_sync", 2)])
    single = machine_costs(fits_of(pair), 5).bsp
    assert (single.single_startup, single.single_per_byte) == pytest.approx((L - EMPTY, G))
    assert single.startup_alone == pytest.approx(1e-6)
    assert (costs.bpram.sigma_alone, costs.bpram.startup_alone) == pytest.approx((0.1e-9, 1e-6))
    assert costs.rates.seconds(LocalWork.of("sort", 768, keys=64, type="double")) == pytest.approx(2e-6)
    other = machine_costs(fits, 3)
    assert other.bsp is other.bpram is None and not other.rates.measured


def test_a_message_alone_costs_no_more_than_one_of_many():
    def dear(case: Case) -> float:
        return (10 if case.workload == "pingpong" else 1) * true(case)

    costs = machine_costs(fits_of(exact(dear, CASES)), 5)
    assert (costs.bpram.sigma_alone, costs.bpram.startup_alone) == pytest.approx((SIGMA, BLOCK))
    words = machine_costs(fits_of(exact(true, relations(5))), 5)
    assert (words.bsp.L, words.bsp.packet, words.bsp.per_byte) == pytest.approx((L, 0, g / 4))
    assert words.bsp.startup is None
