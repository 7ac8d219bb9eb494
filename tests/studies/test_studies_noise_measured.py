# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of noise on simulated machines with known detours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.start import guarded
from hockney.core.platform import Detours
from hockney.launch.smpi import launch_seed
from hockney.machines import simulated
from hockney.models.noise.costs import MessageTimes, NoisyRanks, quiet_barrier_s, step_seconds
from hockney.studies.noise.results import NoiseResults

HERTZ, LENGTH_S = 100.0, 500e-6
MACHINE = """
name = "noisy"
title = "Nodes of one core"
[network]
nodes = [{count = 64}]
[[segments]]
send_s = "300ns"
latency_s = "900ns"
receive_s = "300ns"
[[detours]]
period_s = "10ms"
length_s = "500us"
"""
MESSAGE = MessageTimes(300e-9, 900e-9, 300e-9)
DETOURS = [Detours(period_s=1 / HERTZ, length_s=(LENGTH_S,))]
GRAIN_S = 1e-3
PROGRAM = """
scaling = "weak"
[[phase]]
work = "1ms"
[[phase]]
barrier = true
algorithm = "dissemination"
"""


def machine(folder: Path, nodes: str = "") -> str:
    path = folder / "noisy.toml"
    path.write_text(MACHINE + nodes)
    return f"sim:{path}"


@pytest.mark.simgrid
@pytest.mark.slow
def test_simulated_noise_is_found_on_its_node_and_its_trace_can_be_replayed(tmp_path: Path):
    simgrid_here()
    run = str(tmp_path / "r")
    words = ("run", "noise", "--machine", machine(tmp_path, "nodes = [3]\n"), "--ranks", "8")
    assert guarded([*words, "--out", run, "-q"]) == 0
    results = NoiseResults.of(api.load(run).evidence)
    (noisy,) = results.noisy
    assert noisy.core.name.startswith("n3 ")
    share = noisy.core.share
    assert share.low is not None and share.high is not None
    assert share.low - 1e-4 <= HERTZ * LENGTH_S <= share.high + 1e-4
    assert noisy.components[0].frequency_hz == pytest.approx(HERTZ, rel=0.01)
    assert all(result.core.share.value == 0 for result in results.cores[1:])
    trace = tmp_path / "noise.toml"
    assert guarded(["export", run, "--noise-trace", str(trace), "-q"]) == 0
    path = tmp_path / "replayed.toml"
    path.write_text(MACHINE.partition("[[detours]]")[0] + '[[detours]]\ntrace = "noise.toml"\n')
    (detours,) = simulated.platform(str(path)).detours
    assert (detours.first_rank, detours.rank_step) == (3, 8)
    assert detours.share == pytest.approx(HERTZ * LENGTH_S, rel=0.02)


@pytest.mark.simgrid
@pytest.mark.slow
def test_a_machine_without_detours_has_no_noisy_core(tmp_path: Path):
    simgrid_here()
    path, run = tmp_path / "quiet.toml", str(tmp_path / "r")
    path.write_text(MACHINE.partition("[[detours]]")[0])
    assert guarded(["run", "noise", "--machine", f"sim:{path}", "--ranks", "8", "--out", run, "-q"]) == 0
    results = NoiseResults.of(api.load(run).evidence)
    assert not results.noisy and not any(result.core.share.value for result in results.cores)


def simulated_phase(seed: int, rank: int, pattern: int) -> float:
    """The phase of engine/smpi/core_detours.hpp, as a fraction of the period."""
    mask = (1 << 64) - 1
    z = seed
    for part in (rank, pattern):
        z = ((z ^ part) + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
    return (z >> 11) * 2.0**-53


@pytest.mark.simgrid
@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "iterations"), [(2, 1000), (16, 200)])
def test_predicted_barriers_agree_with_simulated_ones(tmp_path: Path, ranks: int, iterations: int):
    """Of the same phases, barriers one after the other, over several periods of the detours."""
    simgrid_here()
    case = f"barrier algorithm=dissemination sync=loop iterations={iterations} ranks={ranks}"
    run = str(tmp_path / "r")
    words = ("run", case, "--machine", machine(tmp_path), "--launches", "1", "--out", run, "-q")
    assert guarded([*words]) in (0, 4)
    (record,) = api.load(run).evidence.run.records
    noisy = NoisyRanks(DETOURS, ranks, 1, np.random.default_rng(1))
    seed = launch_seed(1, 0, "detours")
    noisy._phase = np.array([[simulated_phase(seed, rank, 0) / HERTZ for rank in range(ranks)]])
    now, count = np.zeros((1, ranks)), 0
    while now.max() < 5 / HERTZ:
        now, count = noisy.barrier(now, MESSAGE), count + 1
    assert np.mean(record.times_s) == pytest.approx(now.max() / count, rel=0.05)
    quiet_s = quiet_barrier_s(ranks, MESSAGE)
    assert np.mean(record.times_s) > 1.05 * quiet_s


@pytest.mark.simgrid
@pytest.mark.slow
def test_predicted_steps_agree_with_a_simulated_program(tmp_path: Path):
    """Of other phases: the prediction is a mean over them, and the program has one sample."""
    simgrid_here()
    path, run = tmp_path / "steps.toml", str(tmp_path / "r")
    path.write_text(PROGRAM)
    options = ("--ranks", "16,64", "--launches", "1", "--out", run, "-q")
    assert guarded(["run", str(path), "--machine", machine(tmp_path), "predict=no", *options]) in (0, 4)
    records = {record.parse_case().ranks: record for record in api.load(run).evidence.run.records}
    for ranks in (16, 64):
        predicted = np.mean(step_seconds(DETOURS, ranks, MESSAGE, GRAIN_S))
        assert np.mean(records[ranks].times_s) == pytest.approx(predicted, rel=0.05)
        assert predicted > 1.3 * (GRAIN_S + quiet_barrier_s(ranks, MESSAGE))
