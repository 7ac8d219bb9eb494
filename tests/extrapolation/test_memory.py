# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation takes longer with more busy cores of a node, as far as memory limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from extrapolation.made_programs import STEPS, WORK_S, observed
from replay.made_traces import Written, part

from hockney.extrapolation.computation import fit_computation
from hockney.extrapolation.memory import MemoryModel, MemoryRates, MemoryShare, memory_model
from hockney.extrapolation.observations import CallKinds, ObservedRun

RATES = MemoryRates({1: 12e9, 2: 10e9, 8: 4e9}, "runs/memory")
DIMS = {ranks: (ranks,) for ranks in (1, 2, 4, 8, 16)}


def longer(share: float, busy: int) -> float:
    return 1 + share * (RATES.slowdown(busy) - 1)


def runs_of(share: float, busy: Mapping[int, int], *, instructions: bool = False) -> list[ObservedRun]:
    """Runs of a program of which memory limits this share, with so many busy cores by number of ranks."""

    def program(rank: Written, ranks: int) -> None:
        for _ in range(STEPS):
            rank.call("Allreduce", part("collective", size=8), after=WORK_S / ranks)

    runs = []
    for run in observed(program, tuple(busy), CallKinds()):
        factor = longer(share, busy[run.ranks])
        sequences = tuple(
            replace(
                each,
                computed_s=each.computed_s * factor,
                tail_s=each.tail_s * factor,
                counts=1e9 * np.append(each.computed_s, each.tail_s) if instructions else each.counts,
            )
            for each in run.sequences
        )
        counter = "instructions" if instructions else ""
        runs.append(
            replace(
                run,
                sequences=sequences,
                counter=counter,
                crowded=False,
                busy_cores=busy[run.ranks],
                launches_s=(1.0, 1.01, 0.99),
            )
        )
    return runs


def test_rates_between_and_beyond_the_measured_numbers_of_cores():
    assert [RATES.slowdown(busy) for busy in (1, 2, 8)] == pytest.approx([1.0, 1.2, 3.0])
    assert 1.2 < RATES.slowdown(3) < RATES.slowdown(4) < 3.0
    assert RATES.slowdown(16) == pytest.approx(6.0)  # the cores share the bandwidth of eight
    assert MemoryRates({1: 1e9, 2: 1.1e9}, "").slowdown(2) == 1.0


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("traced", "asked"), [(1, 8), (8, 1), (2, 8), (2, 2)])
def test_without_evidence_the_truth_is_between_the_bounds(share, traced, asked):
    runs = runs_of(share, dict.fromkeys((2, 4, 8), traced))
    model = memory_model(runs, [], RATES, DIMS, "strong")
    assert model is not None and model.share == MemoryShare(0.0, 1.0, "none")
    low, high = model.bounds(asked)
    truth = longer(share, asked) / longer(share, traced)
    assert low - 1e-9 <= truth <= high + 1e-9
    assert (low, high) == pytest.approx(sorted([1.0, RATES.slowdown(asked) / RATES.slowdown(traced)]))
    computation = fit_computation(runs, DIMS, "strong", slowdown=model.alone)
    predicted = computation.total.at(16, (16,)) * model.effect(asked)
    assert predicted == pytest.approx(
        STEPS * WORK_S / 16 * longer(share, traced) * (low * high) ** 0.5, rel=0.02
    )


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("evidence", ["same ranks", "instructions", "law"])
def test_runs_with_other_numbers_of_busy_cores_show_the_share(share, evidence):
    if evidence == "same ranks":
        runs, others = runs_of(share, {2: 1, 4: 1, 8: 1}), runs_of(share, {4: 8})
    elif evidence == "instructions":
        runs, others = runs_of(share, {2: 1, 4: 2, 8: 8}, instructions=True), []
    else:
        runs, others = runs_of(share, {1: 1, 2: 1, 4: 1, 8: 8}), []
    model = memory_model(runs, others, RATES, DIMS, "strong")
    assert model is not None and model.share.evidence == evidence
    assert model.share.low <= share <= model.share.high < model.share.low + 0.2
    computation = fit_computation(runs, DIMS, "strong", slowdown=model.alone)
    for busy in (1, 4, 8):
        predicted = computation.total.at(16, (16,)) * model.effect(busy)
        truth = STEPS * WORK_S / 16 * longer(share, busy)
        low, high = model.bounds(busy)
        assert predicted == pytest.approx(truth, rel=0.02 + (high / low) ** 0.5 - 1)


def test_launches_that_differ_show_less():
    def width(launches_s: tuple[float, ...]) -> float:
        runs = runs_of(0.4, {2: 1, 4: 1, 8: 1})
        others = [replace(run, launches_s=launches_s) for run in runs_of(0.4, {4: 8})]
        model = memory_model(runs, others, RATES, DIMS, "strong")
        assert model is not None
        return model.share.high - model.share.low

    assert width((1.0, 1.01, 0.99)) < width(()) < width((1.0, 1.2, 0.8))


def test_runs_that_contradict_each_other_show_less():
    runs = runs_of(0.0, {2: 1, 4: 1, 8: 1})
    others = [*runs_of(0.0, {4: 8}), *runs_of(1.0, {8: 8})]
    model = memory_model(runs, others, RATES, DIMS, "strong")
    assert model is not None and (model.share.low, model.share.high) == (0.0, 1.0)


def test_nothing_is_known_if_no_run_computed_on_known_cores():
    runs = [replace(run, busy_cores=0) for run in runs_of(0.5, {2: 1, 4: 1, 8: 1})]
    assert memory_model(runs, [], RATES, DIMS, "strong") is None


def test_the_error_of_the_rates_widens_the_bounds():
    exact, rough = (
        MemoryModel(replace(RATES, error=error), MemoryShare(0.5, 1.0), 1) for error in (0.0, 0.1)
    )
    (low, high), (lower, higher) = exact.bounds(8), rough.bounds(8)
    assert lower < low < high < higher
    assert rough.bounds(1) == pytest.approx((1.0, 1.0))  # the same cores as in the runs


def test_another_machine_has_its_own_rates():
    slow = MemoryRates({1: 10e9, 32: 1e9}, "cluster")
    model = MemoryModel(RATES, MemoryShare(1.0, 1.0, "same ranks"), 8)
    assert model.bounds(32, slow) == pytest.approx((10 / 3, 10 / 3))
    assert model.bounds(1, slow) == pytest.approx((1 / 3, 1 / 3))
