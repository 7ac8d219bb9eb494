# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs and results of simulated annealing on the fake machine.

A rank computes its walkers' steps, at its own speed if the ranks are uneven. Blocking communication adds
its time to each round and makes every rank wait for the slowest one. Nonblocking communication is partly
hidden and slows down computation. Load balancing corrects the division of the walkers after the first
round. The lowest energy depends on the seed, which all set-ups share, on the set-up, and on their
combination."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.launch.fakes import FakeWorkloads

ANNEALING = "annealing"
"""Role of the workload."""
PARTS = ("computation", "posting", "testing", "waiting", "balancing")
RANK_PREFIX = "rank_"
GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
SYNCHRONISED_SETUPS = ("original", "lagged")
"""Set-ups in which all ranks wait for the slowest, as collectives with a lag do."""


@dataclass(frozen=True)
class FakeAnnealing(FakeWorkloads):
    """The true values. `slowdown` is the relative increase of computation time next to nonblocking
    communication. `hidden_share` is the share of that communication that is hidden with tests,
    `untested_hidden_share` the share without tests.

    `loss` is the relative increase of the lowest energy over that of set-up original. `spread` is
    approximately its standard deviation over seeds, and `setup_spread` that of the difference between two
    set-ups."""

    step_s: Mapping[str, float] = field(
        default_factory=lambda: {"tsp": 60e-9, "spin_glass": 40e-9, "qap": 250e-9}
    )
    message_s: float = 20e-6
    post_s: float = 1e-6
    test_s: float = 0.3e-6
    move_s: float = 5e-6
    slowdown: float = 0.02
    hidden_share: float = 0.9
    untested_hidden_share: float = 0.5
    loss: Mapping[str, float] = field(default_factory=lambda: {"estimated": 0.004, "decoupled": 0.02})
    lag_loss: float = 0.001
    energy: float = 1000.0
    spread: float = 0.01
    setup_spread: float = 0.002
    first_energy: float = 4.0
    """The initial energy, relative to the final one."""
    decay: float = 6.0
    """The excess energy decreases as exp(-decay t) over the completed share t of a run."""
    launch: int = 0
    """Number of the launch; each begins with another seed, as in the engine."""

    def takes(self, workload: Workload) -> bool:
        return workload.role == ANNEALING

    def in_launch(self, launch: int) -> FakeAnnealing:
        return replace(self, launch=launch)

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Returns the seconds of a run."""
        return float(self.rank_seconds(case, shares).max())

    def rank_seconds(self, case: Case, shares: np.ndarray) -> np.ndarray:
        """Returns the seconds of each rank."""
        return np.sum(list(self.parts(case, shares).values()), axis=0)

    def walker_counts(self, case: Case, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the walkers of each rank, in the first round and in later ones."""
        bounds = int(case.number("walkers")) * np.arange(case.ranks + 1) // case.ranks
        first_counts = np.diff(bounds)
        if case["balance"] == "no":
            return first_counts, first_counts
        cumulative_shares = np.cumsum(1 / shares) / np.sum(1 / shares)
        return first_counts, np.diff(
            np.rint(np.concatenate(([0], cumulative_shares)) * bounds[-1]).astype(int)
        )

    def parts(self, case: Case, shares: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the seconds of each rank in each part of a run."""
        setup, rounds = str(case["setup"]), case.number("temperatures")
        is_blocking = setup == "original"
        has_no_messages = setup == "decoupled" or case.ranks == 1
        steps = self._rank_steps(case, shares)
        step_s = case.number("step_s") or self.step_s[str(case["problem"])]
        computation = steps * shares * step_s * (1.0 if is_blocking or has_no_messages else 1 + self.slowdown)
        zeros = np.zeros(case.ranks)
        posting, testing, waiting = zeros, zeros, zeros
        if not has_no_messages:
            exchange_s = rounds * 2 * math.ceil(math.log2(case.ranks)) * self.message_s
            has_tests = case.number("test_every") > 0
            if not is_blocking:
                posting = zeros + rounds * self.post_s
                testing = steps / case.number("test_every") * self.test_s if has_tests else zeros
                exchange_s *= 1 - (self.hidden_share if has_tests else self.untested_hidden_share)
            waiting = zeros + exchange_s
            if setup in SYNCHRONISED_SETUPS or case.number("lag") > 0:
                waiting = waiting + computation.max() - computation
        first_walkers, later_walkers = self.walker_counts(case, shares)
        balancing = np.abs(later_walkers - first_walkers) * self.move_s
        return dict(zip(PARTS, (computation, posting, testing, waiting, balancing), strict=True))

    def _rank_steps(self, case: Case, shares: np.ndarray) -> np.ndarray:
        first_walkers, later_walkers = self.walker_counts(case, shares)
        return case.number("steps") * (first_walkers + (case.number("temperatures") - 1) * later_walkers)

    def seeds(self, case: Case, count: int) -> np.ndarray:
        """Returns the seeds of the first `count` repetitions of a launch."""
        seeds = int(case.number("seeds"))
        first_seed = math.floor(seeds * math.modf(self.launch * GOLDEN_RATIO)[0])
        return case.number("seed") + (first_seed + np.arange(count)) % seeds

    def best_energy(self, case: Case, seed: float) -> float:
        """Returns the lowest energy of a run with this seed."""
        setup = str(case["setup"])
        loss = self.loss.get(setup, 0.0) * (case.ranks > 1) + self.lag_loss * case.number("lag")
        deviation = self.spread * _normal_deviate(f"{seed:g}") + self.setup_spread * _normal_deviate(
            f"{seed:g} {setup}"
        )
        return self.energy * (1 + loss + deviation)

    def energy_course(self, case: Case, best_energy: float) -> np.ndarray:
        """Returns the lowest energy until the end of each round."""
        remaining = np.exp(-self.decay * self._completed_share(case))
        return best_energy + (self.first_energy - 1) * self.energy * (remaining - math.exp(-self.decay))

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Returns the values of a metric, for repetitions that took `times`."""
        parts, rank_seconds = self.parts(case, shares), self.rank_seconds(case, shares)
        relative_times = times / rank_seconds.max()
        if metric.name in parts:
            return relative_times * parts[metric.name].mean()
        if metric.over_ranks == "each":
            rank_metrics = {f"{RANK_PREFIX}{name}": part for name, part in parts.items()}
            rank_metrics[f"{RANK_PREFIX}elapsed"] = rank_seconds
            if metric.name in rank_metrics:
                return np.outer(relative_times, rank_metrics[metric.name]).ravel()
            return np.tile(self._rank_steps(case, shares), len(times))
        if metric.per == "superstep":
            return self._round_metric(metric.name, case, times)
        return np.array(
            [
                self._run_metric(metric.name, case, shares, *run)
                for run in zip(self.seeds(case, len(times)), times, strict=True)
            ]
        )

    def _run_metric(self, name: str, case: Case, shares: np.ndarray, seed: float, seconds: float) -> float:
        best_energy = self.best_energy(case, seed)
        steps = float(self._rank_steps(case, shares).sum())
        first_walkers, later_walkers = self.walker_counts(case, shares)
        return {
            "run_seed": seed,
            "best_energy": best_energy,
            "mean_energy": best_energy + 0.01 * self.energy,
            "accepted": 0.3 * steps,
            "total_steps": steps,
            "estimated_rounds": 0.5 if case["setup"] == "estimated" and case.ranks > 1 else 0.0,
            "moved_walkers": float(np.abs(later_walkers - first_walkers).sum()) / 2,
            "target_time": self._target_time(case, best_energy, seconds),
        }[name]

    def _target_time(self, case: Case, best_energy: float, seconds: float) -> float:
        target = case.number("target")
        is_reached = self.energy_course(case, best_energy) <= target
        return (
            seconds * float(self._completed_share(case)[is_reached.argmax()])
            if target and is_reached.any()
            else -1.0
        )

    def _round_metric(self, name: str, case: Case, times: np.ndarray) -> np.ndarray:
        """Returns the values of a metric of each round, in the last run."""
        completed_shares = self._completed_share(case)
        energies = self.energy_course(case, self.best_energy(case, self.seeds(case, len(times))[-1]))
        steps = case.number("steps") * case.number("walkers") * case.number("temperatures")
        return {
            "round_end": float(times[-1]) * completed_shares,
            "round_made": float(times[-1]) * completed_shares,
            "round_best": energies,
            "round_temperature": self.energy / 10 * np.exp(-self.decay * completed_shares),
            "round_mean": 1.01 * energies,
            "round_steps": steps * completed_shares,
        }[name]

    @staticmethod
    def _completed_share(case: Case) -> np.ndarray:
        """Returns the part of a run until the end of each round."""
        rounds = int(case.number("temperatures"))
        return np.arange(1, rounds + 1) / rounds

    def labels(self, case: Case) -> dict[str, str]:
        """Returns the labels. The digest is the same for all repetitions of a set-up and seed, on any
        number of ranks. The optimum is known unless the instance is generated."""
        is_generated = case["instance"] == "generated"
        digest_fields = [
            str(case[name]) for name in ("setup", "problem", "instance", "walkers", "seed", "lag")
        ]
        return {
            "digest": f"{zlib.crc32(' '.join(digest_fields).encode()):016x}",
            "instance": f"{case['problem']}-{case['size']}" if is_generated else str(case["instance"]),
            "optimum": "" if is_generated else f"{self.energy * (1 - 3 * self.spread):g}",
            "operations": "100",
        }


def _normal_deviate(text: str) -> float:
    """Returns a normally distributed number that depends on the text only."""
    return float(np.random.default_rng(zlib.crc32(text.encode())).standard_normal())


FAKE = FakeAnnealing()
