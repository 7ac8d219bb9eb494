# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The options that survey, run and plan share, as typed: what they mean together and what they exclude."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from pathlib import Path

from hockney import lab
from hockney.cli.arguments.options import MOST_ROUNDS
from hockney.core.errors import UsageError
from hockney.core.units import format_seconds
from hockney.store import Settings

LAUNCHES = 3
SIMULATED_SEED = 1


@dataclass(frozen=True)
class Asked:
    """Raises UsageError where two options contradict each other."""

    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    budget: float
    precision: float
    launches: int | None
    seed: int | None
    bind: bool
    mpi: str
    machine: str
    repeat: int | None = None
    through: float | None = None
    every: float | None = None
    work: tuple[float, ...] = ()
    serial: tuple[float, ...] = ()
    survey: Path | None = None
    force: bool = False
    iterations: int = 0

    def __post_init__(self) -> None:
        self._check_rounds()
        if self.in_rounds and not self.wall_clock:
            self._check_simulated()
        if self.force and self.survey is None:
            raise UsageError("--force has nothing to overrule", "it goes with --survey", "leave it out")

    @property
    def wall_clock(self) -> bool:
        """Whether the machine's time passes with ours."""
        return lab.kind_of(self.machine).TRAITS.wall_clock

    @property
    def in_rounds(self) -> bool:
        """Whether the run is repeated through a period."""
        return self.repeat is not None or self.through is not None

    @property
    def every_s(self) -> float:
        """From round to round; 0 where nothing is waited for. Nothing else happens on a simulated machine,
        so that its rounds are plain launches."""
        return 0.0 if not self.wall_clock or not self.in_rounds else self.every or self.budget

    @property
    def rounds(self) -> int:
        """Launches of everything: a simulation would only repeat itself."""
        if self.through is not None:
            return 1 + math.floor((self.through - self.budget) / self.every_s + 1e-9)
        return self.repeat or self.launches or (1 if lab.kind_of(self.machine).TRAITS.noiseless else LAUNCHES)

    @property
    def order(self) -> int:
        """The seed of the shuffled order: what is simulated twice must be the same, byte for byte."""
        if self.seed is not None:
            return self.seed
        return secrets.randbelow(2**31) if self.wall_clock else SIMULATED_SEED

    @property
    def grain(self) -> dict[str, object]:
        """The options that only some studies take."""
        names = ("work", "serial", "survey", "iterations")
        return {name: getattr(self, name) for name in names}

    def settings(self, study: str) -> Settings:
        return Settings(
            study=study,
            budget_s=self.budget,
            precision=self.precision,
            launches=self.rounds,
            seed=self.order,
            bind=self.bind,
            mpi=self.mpi,
            machine=self.machine,
            every_s=self.every_s,
            through_s=self.through or 0.0,
        )

    def _check_rounds(self) -> None:
        if self.repeat is not None and self.through is not None:
            raise UsageError(
                "--repeat and --through are given", "both say how many rounds there are", "give one of them"
            )
        if not self.in_rounds:
            if self.every is not None:
                raise UsageError(
                    "--every is given alone", "it says when rounds begin, not how many", "add --repeat 20"
                )
            return
        if self.launches is not None:
            raise UsageError(
                "--launches is given for a run in rounds", "each round is a launch", "leave --launches out"
            )
        refuse_long_rounds(self.budget, self.every or self.budget)
        if self.through is not None and self.through < self.budget:
            raise UsageError(
                f"not one round fits into --through {format_seconds(self.through)}",
                f"its --budget is {format_seconds(self.budget)}",
                "give less --budget",
            )
        if self.through is not None and self.wall_clock and self.rounds > MOST_ROUNDS:
            raise UsageError(
                f"{self.rounds} rounds are too many", f"the limit is {MOST_ROUNDS}", "give --every more time"
            )

    def _check_simulated(self) -> None:
        if self.through is not None:
            raise UsageError(
                "--through is nothing for a simulated machine",
                "its time does not pass between rounds",
                "use --repeat",
            )
        if lab.repeats_itself(self.machine):
            raise UsageError(
                "--repeat is nothing for this simulated machine",
                "without noise every round is the same",
                "leave it out, or describe the machine's [noise]",
            )


def refuse_long_rounds(budget_s: float, every_s: float) -> None:
    """A round has to be over when the next one begins."""
    if budget_s > every_s:
        raise UsageError(
            f"a round of {format_seconds(budget_s)} does not fit between rounds that begin "
            f"{format_seconds(every_s)} after one another",
            "--budget is the time of one round",
            f"give --budget {every_s:g}s or less",
        )
