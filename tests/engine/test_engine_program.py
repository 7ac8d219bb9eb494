# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The skeletons of described programs on real and simulated ranks: all messages arrive, and a rank computes
for as long as the description gives."""

from __future__ import annotations

import pytest
from engine_lines import failures, launcher_for, records, verified
from made_up_programs import every_program
from real_mpi import engine_for, simgrid_here
from simulated_switch import even_switch
from tiers import slow

from hockney.launch.launcher import LaunchOptions
from hockney.launch.smpi import SmpiLauncher
from hockney.models.programs.description import parse_description
from hockney.models.programs.skeleton import skeleton_text

DESCRIPTIONS = {name: parse_description(raw, name) for name, raw in every_program().items()}


def files(ranks: int) -> dict[str, str]:
    return {
        f"{name}-{ranks}.txt": skeleton_text(description.iteration(ranks))
        for name, description in DESCRIPTIONS.items()
    }


def options(ranks: int, budget_s: float, **changed: str) -> LaunchOptions:
    return LaunchOptions(
        "T", 0, budget_s=budget_s, max_repetitions=3, precision=1e-6, files={**files(ranks), **changed}
    )


def cases(catalog, ranks: int, iterations: int = 5) -> list:
    words = (f"program description=plan:{name} iterations={iterations}" for name in DESCRIPTIONS)
    return [catalog.case(word, ranks) for word in words]


def computed_s(name: str, ranks: int) -> float:
    """The mean over the ranks, in one iteration."""
    return float(DESCRIPTIONS[name].iteration(ranks).computation.mean())


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 3, *slow(2, 4, 5, 6, 7, 8, 9)])
def test_every_message_of_a_program_arrives(mpi, mpi_name, engine, ranks):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    planned = cases(engine.catalog, ranks)
    lines = list(launcher_for(mpi, engine).run(planned, ranks, options(ranks, 0.1 * len(planned))))
    assert not failures(lines)
    for record in records(lines):
        name = str(record.parse_case()["description"]).removeprefix("plan:")
        assert record.verified.errors == 0 and (record.verified.bytes > 0) == (ranks > 1)
        spent = sum(record.metrics[part].values[0] for part in ("computation", "messages", "collectives"))
        assert spent <= record.times_s[0] * 1.01
        assert record.metrics["computation"].values[0] >= 0.5 * computed_s(name, ranks)


@pytest.mark.mpi
def test_a_program_without_its_file_is_refused(mpi, engine):
    names = ("none", "plan:lost", "plan:cut")
    planned = [engine.catalog.case(f"program description={name}", 2) for name in names]
    damaged = {"cut-2.txt": "ranks 2\nrank 0\ncompute\nrank 1\n"}
    lines = list(launcher_for(mpi, engine).run(planned, 2, options(2, 1.0, **damaged)))
    assert [failure.reason for failure in failures(lines)] == ["refused"] * 3 and not records(lines)


@pytest.mark.simgrid
@pytest.mark.parametrize("ranks", [6, *slow(1, 16)])
def test_simulated_time_is_the_described_computation(ranks):
    engine = engine_for(simgrid_here())
    launcher = SmpiLauncher(simgrid_here(), engine.path, engine.platform, even_switch(ranks))
    planned = cases(engine.catalog, ranks)
    lines = list(launcher.run(planned, ranks, options(ranks, 120.0)))
    for record in verified(lines, planned, ranks) if ranks > 1 else records(lines):
        name = str(record.parse_case()["description"]).removeprefix("plan:")
        tolerance = 0.5 if name == "everything" else 1e-6  # noise
        assert record.metrics["computation"].values[-1] == pytest.approx(
            computed_s(name, ranks), rel=tolerance
        )
