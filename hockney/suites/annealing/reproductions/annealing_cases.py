# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the reproduction of annealing: what is assumed where the paper prints nothing."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.machines import simulated
from hockney.reproductions.parts import Part
from hockney.suites.annealing.reproductions.annealing_times import (
    DECOUPLED,
    ESTIMATED,
    ORIGINAL,
    SETUPS,
    SHORTENED,
    WORKLOAD,
)

CLUSTER, OFFLOAD, T3D = "cluster", "offload", "t3d"
NODES = 4
WALKERS = 64
ROUNDS = 10_000
STEPS = 190
"""Of each walker in a round: a process computes for about 30 ms between two messages."""
ROUNDS_OF = {CLUSTER: ROUNDS, "few-rounds": 5_000, "many-rounds": 20_000, OFFLOAD: ROUNDS}
"""By part. Variants of the machine are fitted with other numbers of rounds; the steps are as many in all."""

SMALL, LARGE = 32, 128
T3D_WALKERS, T3D_ROUNDS = 512, 40
"""The paper: a larger ensemble."""
T3D_STEPS = (STEPS, STEPS // 4, STEPS * 4)
T3D_VARIANTS = {
    "t3d-linear": "t3d+linear-gather",
    "t3d-long-calls": "t3d+long-calls",
    "t3d-both": "t3d+linear-gather+long-calls",
}
"""By part, the machines."""
QUALITY = "quality"
QUALITY_SETUPS = (ORIGINAL, ESTIMATED)
SEEDS = 30
QUALITY_ROUNDS, QUALITY_STEPS = 60, 20
"""Few rounds, so that the optimum is not always found."""


def parts(catalog: Catalog) -> list[Part]:
    """The set-ups on the described machines, and on their variants."""
    cluster = {name: "ppro-ethernet" if name == CLUSTER else f"ppro-ethernet+{name}" for name in ROUNDS_OF}
    t3d = {T3D: "t3d", **T3D_VARIANTS}
    return [
        *(
            Part(name, machine, tuple(_on_cluster(catalog, name, machine)))
            for name, machine in cluster.items()
        ),
        *(Part(name, machine, tuple(_on_t3d(catalog, machine))) for name, machine in t3d.items()),
        Part(QUALITY, "ppro-ethernet", tuple(_annealed(catalog, "ppro-ethernet"))),
    ]


def _annealed(catalog: Catalog, machine: str) -> Iterator[Case]:
    """Steps are computed, with several seeds."""
    step_s = 1 / simulated.platform(machine).rates[WORKLOAD]
    for setup in QUALITY_SETUPS:
        yield catalog.case(
            f"{WORKLOAD} setup={setup} walkers={WALKERS} steps={QUALITY_STEPS} "
            f"temperatures={QUALITY_ROUNDS} seeds={SEEDS} step_s={step_s:.6g} ranks={NODES}"
        )


def _on_cluster(catalog: Catalog, part: str, machine: str) -> Iterator[Case]:
    rounds = ROUNDS_OF[part]
    for setup in SETUPS:
        simulated_ones, steps = rounds // SHORTENED, STEPS * ROUNDS // rounds
        yield _case(catalog, machine, setup, NODES, WALKERS, simulated_ones, steps)


def _on_t3d(catalog: Catalog, machine: str) -> Iterator[Case]:
    for steps in T3D_STEPS if machine == "t3d" else T3D_STEPS[:1]:
        for processes in (SMALL, LARGE):
            for setup in SETUPS:
                yield _case(catalog, machine, setup, processes, T3D_WALKERS, T3D_ROUNDS, steps)


def _case(
    catalog: Catalog, machine: str, setup: str, processes: int, walkers: int, rounds: int, steps: int
) -> Case:
    """Every message is sent, but no step is computed. Workers are never held back by the master, which
    balances their load, as the paper's program does."""
    balance = "no" if setup == DECOUPLED else "yes"
    step_s = 1 / simulated.platform(machine).rates[WORKLOAD]
    return catalog.case(
        f"{WORKLOAD} setup={setup} walkers={walkers} steps={steps} temperatures={rounds} lead={rounds} "
        f"schedule=geometric cooling=0.9999 arithmetic=none balance={balance} step_s={step_s:.6g} "
        f"ranks={processes}"
    )
