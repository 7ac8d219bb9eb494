# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The Paragon's BSP and BPRAM: printed tables and findings, in worlds in which they hold and in which they do
not."""

from __future__ import annotations

import json

import pytest
from paragon_world import ParagonWorld
from real_mpi import simgrid_here
from test_reproduce_papers import CATALOG, answers, on_paragon

from hockney import lab, reproductions, simulated
from hockney.cli.errors import guarded
from hockney.core.record import RunRecords
from hockney.reproductions import Answer, Compared, Limit, paragon, paragon_bsp, paragon_kernels


def given(world: ParagonWorld) -> dict:
    return answers(paragon, on_paragon(world=world))


def rows(world: ParagonWorld) -> dict[str, Compared]:
    return {row.key: row for row in paragon.compare(given(world))}


def found(world: ParagonWorld) -> list[bool]:
    """Growth, fewer keys, butterfly, overestimated, repaired."""
    return [limit.holds for limit in reproductions.findings(paragon, given(world))]


def test_every_printed_parameter_is_compared():
    compared = rows(ParagonWorld())
    printed = {row.key for row in paragon_bsp.PRINTED.rows if "/bsp/" in row.key or "/bpram/" in row.key}
    assert len(printed) == 2 * 5 + 2 * 6 + 2
    assert printed <= compared.keys(), "tables 1 and 2, and two shares of a matrix multiplication"
    world = ParagonWorld()
    for mesh, p in paragon_bsp.MESHES.items():
        if mesh in paragon_bsp.BSP_MESHES:
            g = world.packet + 4 * world.byte + 5.9e-6
            assert compared[f"paragon/bsp/g/{mesh}"].simulated == pytest.approx(g)
            assert compared[f"paragon/bsp/L/{mesh}"].simulated == pytest.approx(world.costs(p).bsp.L)
        assert compared[f"paragon/bpram/sigma/{mesh}"].simulated == pytest.approx(world.byte)
        assert compared[f"paragon/bpram/l/{mesh}"].simulated == pytest.approx(world.block)
    gain = world.naive / (world.packet + 4 * world.byte + 5.9e-6)
    for end in ("low", "high"):
        assert compared[f"paragon/bsp-library/combining/{end}"].simulated == pytest.approx(gain)
    network = compared["paragon/bsp-library/network"]
    assert network.simulated == pytest.approx(world.packet + 4 * world.byte)


def test_the_papers_findings_hold_where_its_explanations_do():
    assert found(ParagonWorld(block=160e-6)) == [True] * 5


@pytest.mark.parametrize(
    ("world", "holds"),
    [
        (ParagonWorld(block=160e-6, startup=1e-6), [False, True, True, True, True]),
        (ParagonWorld(block=160e-6, plain=True), [False, False, True, False, True]),
        (ParagonWorld(block=20e-6), [True, True, False, True, True]),
        (ParagonWorld(block=2e-3), [True, True, False, True, True]),
    ],
)
def test_the_findings_do_not_hold_elsewhere(world: ParagonWorld, holds: list[bool]):
    assert found(world) == holds


def test_the_crossover_is_the_most_keys_for_which_the_butterfly_is_faster():
    found = {
        block: rows(ParagonWorld(block=block))["paragon/sample-sort/crossover"].simulated
        for block in (20e-6, 160e-6, 2e-3)
    }
    assert found == {20e-6: 4096, 160e-6: 32768, 2e-3: 65536}


def test_communication_in_a_matrix_multiplication_is_what_is_not_computing():
    world = ParagonWorld()
    compared = rows(world)
    shares = {name: compared[f"paragon/matrix/communication/{name}"] for name in paragon_kernels.SHARES}
    assert shares["bsp/8"].status == "fitted" and shares["bsp/64"].status == "predicted"
    assert shares["bsp/64"].simulated > shares["bsp/8"].simulated > 10 * shares["bpram"].simulated > 0


def test_nothing_simulated_is_no_finding():
    none = answers(paragon, lambda part, case: None)
    limits: list[Limit] = list(reproductions.findings(paragon, none))
    assert [limit.holds for limit in limits] == [False] * 5
    assert len({limit.what for limit in limits}) == 5


def test_each_mesh_is_a_part():
    parts = {part.name: part for part in paragon.parts(CATALOG)}
    for mesh, p in paragon_bsp.MESHES.items():
        part = parts[f"bsp-{mesh}"]
        assert max(case.ranks for case in part.cases) == p
        assert {case.workload for case in part.cases} == {w.name for w in part.workloads}


@pytest.mark.slow
@pytest.mark.simgrid
def test_the_smallest_parts_on_the_simulated_machine(tmp_path):
    """Messages, the bisection, and the parameters on 8 processors."""
    simgrid_here()
    found = {}
    for part in paragon.parts(CATALOG):
        run, platform = RunRecords(), simulated.platform(part.machine)
        if part.name in ("pairs", "bisection", "bsp-4x2"):
            cases = tuple(case for case in part.cases if case.workload not in paragon_kernels.KERNELS)
            machine = lab.simulated_reference(part.machine)
            folder, left = lab.run_part(tmp_path / part.name, machine, cases, bench, lambda event: None)
            assert left == 0
            run = folder.read().run
        found[part.name] = Answer(part, platform, run)
    compared = {row.key: row for row in paragon.compare(found) if row.status != "variant"}
    assert [limit.found for limit in paragon.limits(list(compared.values())) if not limit.holds] == []
    assert compared["paragon/bpram/sigma/4x2"].error == pytest.approx(0.038, abs=0.01)
    assert compared["paragon/bsp/g/4x2"].error == pytest.approx(-0.067, abs=0.02)
    assert compared["paragon/bsp/L/4x2"].error == pytest.approx(-0.44, abs=0.02)


def bench(machine: str) -> lab.Bench:
    return lab.prepare(machine, "", False, lambda text: None, workloads=paragon.WORKLOADS)


@pytest.mark.simgrid
@pytest.mark.slow(300)
@pytest.mark.simgrid
def test_on_the_simulated_machine_the_findings_hold(tmp_path, capsys):
    simgrid_here()
    assert guarded(["reproduce", "paragon", "--out", str(tmp_path / "r"), "--json", "-q"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["reproductions"]
    assert document["left"] == 0 and all(limit["holds"] for limit in document["limits"])
    errors = {row["key"]: row["error"] for row in document["compared"]}
    for mesh in ("4x2", "4x4", "8x4"):
        assert abs(errors[f"paragon/bpram/sigma/{mesh}"]) < 0.05
    assert abs(errors["paragon/matrix/communication/bsp/64"]) < 0.2
