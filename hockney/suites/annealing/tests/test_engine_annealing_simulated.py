# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Annealing on a simulated machine: the digests are those of real ranks, steps take their time, arithmetic
changes no message, and walkers move from slow to fast ranks."""

from __future__ import annotations

import numpy as np
import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch
from test_engine_annealing import GROUP, PARTS, PERSISTENT, WORDS, digests, on_one_rank

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

STEP_S = 1e-5
"""So slow that a simulated clock's steps of a nanosecond do not matter."""


def simulated(words, ranks, repetitions=1):
    lines = lines_on_switch(GROUP, [f"annealing {word}" for word in words], ranks, repetitions=repetitions)
    refused = {failure.case for failure in failures(lines)}
    assert all(PERSISTENT in case for case in refused), [failure.message for failure in failures(lines)]
    found = records(lines)
    assert len(found) + len(refused) == len(words)
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
    return found


def of_ranks(record, name):
    return np.array(record.metrics[f"rank_{name}"].values)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_digests_are_those_of_real_ranks(ranks):
    expected = on_one_rank()
    for case, bits in digests(simulated(WORDS, ranks)).items():
        assert bits == expected[case], case


def test_steps_take_their_time():
    words = f"walkers=5 steps=30 temperatures=4 step_s={STEP_S}"
    for problem in ("tsp size=9", "spin_glass size=3", "qap size=5"):
        (record,) = simulated([f"problem={problem} {words}"], 1)
        assert record.times_s[0] == pytest.approx(5 * 30 * 4 * STEP_S, rel=1e-6)


def test_without_a_rate_a_step_takes_its_operations():
    """The switch computes 1e9 operations a second."""
    for record in simulated(
        [f"problem={p} walkers=50 steps=1000 temperatures=20 size=9" for p in ("tsp", "qap")], 1
    ):
        operations = float(record.labels["operations"])
        assert operations > 100
        assert record.times_s[0] == pytest.approx(1e6 * operations / 1e9, rel=1e-6)


SETUPS = (
    "setup=original", "setup=decoupled", "setup=lagged", "setup=lagged lag=2 test_every=10",
    "setup=estimated", "setup=estimated test_every=9", "setup=collective", "setup=collective lag=1",
)  # fmt: skip


@pytest.mark.parametrize("ranks", [4, 7])
def test_arithmetic_changes_no_message_and_the_parts_are_the_time(ranks):
    words = [
        f"{setup} problem=tsp size=9 schedule=geometric walkers=30 steps=40 temperatures=8 "
        f"shares=uniform:0.3 step_s={STEP_S} arithmetic={arithmetic}"
        for setup in SETUPS
        for arithmetic in ("real", "none")
    ]
    found = simulated(words, ranks)
    for real, none in zip(found[::2], found[1::2], strict=True):
        assert real.verified.bytes > 0
        assert none.times_s[0] == pytest.approx(real.times_s[0], rel=1e-9), real.case
        for name in (*PARTS, "elapsed", "steps"):
            assert of_ranks(none, name) == pytest.approx(of_ranks(real, name), rel=1e-6, abs=1e-9), real.case
        total = sum(of_ranks(real, name) for name in PARTS)
        assert total == pytest.approx(of_ranks(real, "elapsed"), rel=1e-6), real.case
        assert of_ranks(real, "elapsed").max() == pytest.approx(real.times_s[0], rel=3e-3), real.case


def test_every_rank_computes_at_its_share():
    (record,) = simulated([f"walkers=8 steps=50 temperatures=5 size=9 shares=1:2:3:2 step_s={STEP_S}"], 4)
    shares = np.array([1, 2, 3, 2]) / 2
    assert of_ranks(record, "computation") == pytest.approx(2 * 50 * 5 * STEP_S * shares, rel=1e-3)
    # In the blocking set-up the others wait for the slowest.
    waiting = of_ranks(record, "waiting")
    assert waiting[0] > waiting[1] > waiting[2] and waiting[0] > 0.4 * record.times_s[0]


def test_walkers_move_to_faster_ranks_and_their_paths_stay():
    words = f"walkers=64 steps=100 temperatures=40 size=12 shares=1:1:1:1:1:1:1:3 step_s={STEP_S}"
    for setup in ("original", "lagged"):
        still, moving = simulated([f"setup={setup} {words} balance={b}" for b in ("no", "yes")], 8)
        assert still.metrics["moved_walkers"].values == [0] and moving.metrics["moved_walkers"].values[0] > 0
        assert still.labels["digest"] == moving.labels["digest"]
        assert of_ranks(still, "steps").tolist() == [8 * 100 * 40] * 8
        assert of_ranks(moving, "steps")[7] < 0.7 * of_ranks(moving, "steps")[0]
        assert moving.times_s[0] < 0.7 * still.times_s[0]
        assert of_ranks(moving, "balancing").max() > 0


def test_every_seed_is_simulated_once():
    """Simulations repeat themselves, seeds do not."""
    (record,) = simulated(["walkers=4 steps=20 temperatures=4 size=9 seeds=3"], 2, repetitions=4)
    assert record.metrics["run_seed"].values == [1, 2, 3]
    assert len(set(record.metrics["best_energy"].values)) > 1
