# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fits two numbers of the machine ppro-ethernet to one row of a table.

    python benchmarks/annealing_fit.py

Table 1 of Fachat and Hoffmann (1998) has computation and communication of an annealing in three set-ups. Its
first row, the original set-up, determines

    processor_s       the time that a message takes from the processors of both nodes besides MPI's calls: so
                      that communication, the mean of master and worker, is as printed
    rates.annealing   steps a second: so that computation, the mean of master and worker, is as printed

if the number of rounds is assumed, since the paper does not print it: communication is rounds times what a
round costs, which is proportional to neither. A round costs the same in every round, so fewer are simulated.
The other numbers of the description stay as they are.
hockney/machines/simulated/machines/ppro-ethernet.toml has the results for three numbers of rounds; the other
rows of the table are then predictions (hockney reproduce annealing).
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec
from scipy.optimize import brentq

from hockney import api
from hockney.core.platform import Platform
from hockney.machines import simulated
from hockney.store import RunFolder
from hockney.suites.annealing.reproductions.annealing_cases import (
    KINDS,
    NODES,
    ORIGINAL,
    PROCESSES,
    ROUNDS,
    ROUNDS_BY_PART,
    STEPS,
    WALKERS,
    WORKLOAD,
    kind_seconds,
    printed_row,
)

MACHINE = "ppro-ethernet"
SIMULATED_ROUNDS = 500
LONGEST_S = 5e-3
"""The time of the processors is searched below this."""
PRECISION_S = 0.5e-6


@dataclass(frozen=True)
class Spent:
    """Seconds, the mean of master and worker."""

    computation: float
    communication: float


PRINTED = Spent(*(fmean(printed_row(ORIGINAL, kind, process).si for process in PROCESSES) for kind in KINDS))


def spent_seconds(platform: Platform, rounds: int, processor_s: float, step_s: float) -> Spent:
    """Of the original set-up with this time of the processors, for `rounds` rounds."""
    segments = (msgspec.structs.replace(platform.segments[0], processor_s=processor_s),)
    steps = STEPS * ROUNDS // rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = folder / "machine.toml"
        machine.write_text(
            simulated.write(msgspec.structs.replace(platform, name=MACHINE, segments=segments))
        )
        api.run(
            f"{WORKLOAD} setup={ORIGINAL} walkers={WALKERS} steps={steps} temperatures={SIMULATED_ROUNDS} "
            f"schedule=geometric cooling=0.9999 arithmetic=none step_s={step_s:.9g}",
            api.RunOptions(machine=f"sim:{machine}", ranks=(NODES,)),
            out=folder / "run",
        )
        [first_record] = RunFolder.open(folder / "run").read().run.records
    means = (fmean(kind_seconds(first_record, kind, process) for process in PROCESSES) for kind in KINDS)
    return Spent(*(mean * rounds / SIMULATED_ROUNDS for mean in means))


def fit(platform: Platform, rounds: int) -> tuple[float, float]:
    """The time of the processors, and steps a second. Communication does not depend on the latter."""
    steps = STEPS * ROUNDS * WALKERS / NODES
    step_s = PRINTED.computation / steps

    def excess(processor_s: float) -> float:
        return spent_seconds(platform, rounds, processor_s, step_s).communication - PRINTED.communication

    processor_s = brentq(excess, 0.0, LONGEST_S, xtol=PRECISION_S)
    taken = spent_seconds(platform, rounds, processor_s, step_s).computation - PRINTED.computation
    return processor_s, steps / (PRINTED.computation - taken)


def main() -> None:
    platform = simulated.platform(MACHINE)
    print("rounds  processor_s  rates.annealing")
    for rounds in sorted(set(ROUNDS_BY_PART.values())):
        processor_s, rate = fit(platform, rounds)
        print(f"{rounds:6}  {processor_s * 1e6:8.0f} us  {rate / 1e3:10.1f} kop/s", flush=True)


if __name__ == "__main__":
    main()
