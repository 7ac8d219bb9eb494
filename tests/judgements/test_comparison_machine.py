# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""`benchmarks/comparison_machine.py`: its judgement of pairs whose truth it knows, and its library."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from needs import need_compiler

import hockney
from hockney.discovery.find import find_mpi

LINES = ["allreduce bytes=64,512,4KiB,64KiB", "bcast bytes=64,4KiB"]


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """benchmarks/ is not a package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        yield importlib.import_module("comparison_machine")


@pytest.fixture(scope="module")
def compared(benchmark: ModuleType) -> ModuleType:
    """The part that judges."""
    return sys.modules["compared_pairs"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In B, the two larger allreduces take 1.5 times as long."""
    folder = tmp_path_factory.mktemp("series") / "pair"
    slow = ";".join(f"slow=allreduce bytes={size}:1.5" for size in (4096, 65536))
    for seed, (side, machine) in enumerate({"a": "fake:seed=1", "b": f"fake:seed=2;{slow}"}.items()):
        options = {"budget": 20, "launches": 10, "ranks": 2, "seed": seed, "machine": machine}
        hockney.run(LINES, out=folder / side, **options)
    return folder


@pytest.fixture(scope="module")
def stub(benchmark: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library in a program with an MPI whose calls take a known time."""
    need_compiler()
    mpi, program = find_mpi(), tmp_path_factory.mktemp("stub") / "stub"
    sources = [str(Path(__file__).with_name("pmpi_stub.cpp")), str(benchmark.SHIM)]
    subprocess.run([mpi.mpicxx, "-std=c++20", "-O1", "-o", str(program), *sources], check=True)
    return program


def judged(compared: ModuleType, pair: Path, call: str, lowest: int) -> dict[str, object]:
    plan = compared.Plan("slowdown", 0, "surveys", 20.0, "none", "", call, 1.5, lowest, 2**20)
    rows = compared.judged((pair / "a", pair / "b", plan), ["typical"])
    return next(row for row in rows if row["tolerance"] == 0.05)


def test_slow_operation_and_sizes_are_found(compared: ModuleType, pair: Path):
    row = judged(compared, pair, "Allreduce", 1024)
    assert (row["verdict"], row["operation"]) == ("slower", "slower")
    assert (row["cases"], row["slow"], row["slow_found"]) == (6, 2, 2)
    assert row["slow_ratio"] == pytest.approx(1.5, rel=0.05)
    assert not row["false_cases"]
    assert not row["false_operations"]
    assert row["with_interval"] == 4
    (line,) = (line for line in compared.table([row]) if "50%" in line)
    assert line.count("| 1 of 1 (") == 2  # found, and at the right place


def test_reports_of_other_operations_and_sizes_are_false(compared: ModuleType, pair: Path):
    row = judged(compared, pair, "Bcast", 1)
    assert row["slow_found"] == row["slow_held"] == 0
    assert row["operation"] != "slower"
    assert row["false_operations"] == ["allreduce"]
    row = judged(compared, pair, "Allreduce", 10_000)
    assert row["slow_found"] == 1
    assert [line.split("bytes=")[1].split()[0] for line in row["false_cases"]] == ["4096"]
    (line,) = (line for line in compared.table([row]) if "50%" in line)
    assert "| 1 of 1 (" in line
    assert "| 0 of 1 (" in line


@pytest.mark.compiler
@pytest.mark.slow
@pytest.mark.parametrize("call", ["Bcast", "Allreduce", "Allgather", "Alltoall", "Reduce"])
def test_library_slows_one_call_at_some_sizes(compared: ModuleType, stub: Path, call: str):
    plan = compared.Plan("slowdown", 0, "turns", 1.0, "none", "", call, 1.5, 1024, 2**20)
    set_ = dict(each.split("=", 1) for each in plan.variables(1.5, Path("library")))
    slow = {"HOCKNEY_SLOWDOWN": set_["HOCKNEY_SLOWDOWN"]}
    done = subprocess.run([stub], env=os.environ | slow, check=True, capture_output=True, text=True)
    ratios = {(name, size): float(ratio) for name, size, ratio in map(str.split, done.stdout.splitlines())}
    assert len(ratios) == 12
    assert {name for name, ratio in ratios.items() if ratio > 1.4} == {(call, "1024")}
    assert ratios[call, "1024"] >= 1.499  # it waits at least as long, on any machine


@pytest.mark.compiler
@pytest.mark.slow
def test_library_refuses_a_setting_that_it_does_not_understand(stub: Path):
    wrong = {"HOCKNEY_SLOWDOWN": "Bcast 0.5 1 2"}
    done = subprocess.run([stub], env=os.environ | wrong, capture_output=True, text=True)
    assert done.returncode
    assert "HOCKNEY_SLOWDOWN" in done.stderr
