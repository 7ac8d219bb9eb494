# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Detours of cores in machine files, and noise traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.core.errors import UsageError
from hockney.core.platform import Detours
from hockney.launch.smpi import launch_seed, platform_lines
from hockney.machines import simulated
from hockney.machines.simulated.detours import trace_text
from hockney.machines.simulated.read import read
from hockney.machines.simulated.write import write

MACHINE = """name = "rack"
title = "Four nodes"
[network]
nodes = [{count = 4}]
[[segments]]
latency_s = "1us"
"""
DETOURS = """[[detours]]
period_s = "10ms"
start_s = [0, "5ms"]
length_s = ["500us", "20us"]
nodes = [1, 3]
first_rank = 1
rank_step = 2
[[detours]]
period_s = "4ms"
length_s = "3us"
"""


def test_detours_are_read_and_written():
    platform = read(MACHINE + DETOURS)
    assert platform.detours == (
        Detours(
            period_s=0.01,
            start_s=(0.0, 0.005),
            length_s=(500e-6, 20e-6),
            nodes=(1, 3),
            first_rank=1,
            rank_step=2,
        ),
        Detours(period_s=0.004, length_s=(3e-6,)),
    )
    assert platform.varies
    assert read(write(platform)) == platform


def test_the_simulator_gets_seed_period_ranks_nodes_and_intervals():
    lines = platform_lines(read(MACHINE + DETOURS), launch=2).splitlines()
    seed = launch_seed(1, 2, "detours")
    assert f"detours {seed} 0.01 1 2 2 1 3 0.0 0.0005 0.005 2e-05" in lines
    assert f"detours {seed} 0.004 0 1 0 0.0 3e-06" in lines


def test_a_trace_is_included_from_the_folder_of_the_machine(tmp_path: Path):
    trace = (Detours(period_s=1.0, start_s=(0.25,), length_s=(0.1,), first_rank=1, rank_step=4),)
    (tmp_path / "noise.toml").write_text(trace_text(trace, ["of a run"]))
    machine = tmp_path / "rack.toml"
    machine.write_text(MACHINE + '[[detours]]\ntrace = "noise.toml"\n')
    assert simulated.platform(str(machine)).detours == trace
    machine.write_text(MACHINE + '[[detours]]\ntrace = "noise.toml"\nnodes = [2]\n')
    assert simulated.platform(str(machine)).detours[0].nodes == (2,)


def test_a_variant_may_include_a_trace(tmp_path: Path):
    (tmp_path / "noise.toml").write_text(trace_text([Detours(period_s=1.0, length_s=(0.1,))]))
    machine = tmp_path / "rack.toml"
    machine.write_text(
        MACHINE + '[variants.noisy]\ntitle = "noisy"\nwhy = "a trace"\ndetours = [{trace = "noise.toml"}]\n'
    )
    assert not simulated.platform(str(machine)).varies
    assert simulated.platform(f"{machine}+noisy").detours[0].share == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('period_s = "1ms"\nlength_s = "2ms"', "bad-detours"),
        ('period_s = "1ms"\nlength_s = "1ms"', "bad-detours"),
        ('period_s = "1ms"\nlength_s = []', "bad-detours"),
        ('period_s = "1ms"\nlength_s = ["1us", "1us"]', "bad-detours"),
        ('period_s = "1ms"\nstart_s = [0, "1us"]\nlength_s = ["2us", "1us"]', "bad-detours"),
        ('period_s = "1ms"\nlength_s = "1us"\nnodes = [4]', "bad-detours"),
        ('period_s = 0\nlength_s = "1us"', "outside-limits"),
        ('period_s = "1ms"', "key-missing"),
        ('trace = "none.toml"', "no-machine-file"),
        ('trace = "none.toml"\nperiod_s = "1ms"', "unknown-key"),
    ],
)
def test_mistakes_name_their_place(tmp_path: Path, text: str, code: str):
    machine = tmp_path / "rack.toml"
    machine.write_text(f"{MACHINE}[[detours]]\n{text}\n")
    if "period_s" in text and "trace" in text:
        (tmp_path / "none.toml").write_text("")
    with pytest.raises(UsageError) as caught:
        simulated.platform(str(machine))
    assert caught.value.code == code


def test_a_trace_needs_a_file_on_disk():
    with pytest.raises(UsageError) as caught:
        read(MACHINE + '[[detours]]\ntrace = "noise.toml"\n')
    assert caught.value.code == "trace-without-file"


def test_a_trace_contains_only_detours(tmp_path: Path):
    (tmp_path / "noise.toml").write_text('title = "a machine"\n')
    machine = tmp_path / "rack.toml"
    machine.write_text(MACHINE + '[[detours]]\ntrace = "noise.toml"\n')
    with pytest.raises(UsageError) as caught:
        simulated.platform(str(machine))
    assert caught.value.code == "unknown-key"
