# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What all ranks of a program do in one iteration, in the order of the program: computation, messages and
collective operations, without the costs of any machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.schedules.schedule import Layer, Step

LONGEST_BLOCK = {"allgatherv": "allgather", "alltoallv": "alltoall"}
"""Operations with blocks of different lengths, which take as long as these with the longest of them."""


def measured_as(operation: str) -> str:
    """The operation whose measured times apply."""
    return LONGEST_BLOCK.get(operation, operation)


Noise = float | tuple[float, ...]
"""How computing times vary: their relative standard deviation (of a gamma distribution), or measured times
relative to their mean, of which each is as likely."""


def noise_factors(noise: Noise, random: np.random.Generator, count: int) -> np.ndarray:
    """Factors of `count` computing times, with a mean of 1."""
    if isinstance(noise, tuple):
        return random.choice(np.array(noise), count)
    return random.gamma(noise**-2, noise**2, count) if noise else np.ones(count)


def deviation(noise: Noise) -> float:
    """The relative standard deviation."""
    return float(np.std(noise)) if isinstance(noise, tuple) else noise


@dataclass(frozen=True)
class StepsPart:
    """Computation and messages of a phase. Each rank's computation varies independently from iteration to
    iteration (`noise`). Of `serial` computation the others wait for the end."""

    name: str
    steps: tuple[Step, ...]
    noise: Noise = 0.0
    serial: bool = False

    @property
    def has_messages(self) -> bool:
        return any(step.layers for step in self.steps)

    def computation(self, ranks: int) -> np.ndarray:
        """Seconds of each rank."""
        total = np.zeros(ranks)
        for step in self.steps:
            if step.computed is not None:
                total += step.computed
        return total

    def with_computation(self, factors: np.ndarray | float) -> StepsPart:
        """The computation of each rank multiplied by its factor."""
        return replace(
            self,
            steps=tuple(
                step if step.computed is None else replace(step, computed=step.computed * factors)
                for step in self.steps
            ),
        )


@dataclass(frozen=True)
class CollectivePart:
    """A call of `operation` with `size` bytes of each rank's block or vector, by all ranks, or by each of
    `groups` (groups x ranks) among its own. Without an `algorithm`, MPI's own. "allgatherv"
    and "alltoallv" have blocks of different lengths, of which `size` is the longest."""

    name: str
    operation: str
    size: int
    groups: np.ndarray | None = None
    algorithm: str = ""

    def group_size(self, ranks: int) -> int:
        return ranks if self.groups is None else self.groups.shape[1]


@dataclass(frozen=True)
class TasksPart:
    """Tasks that rank 0, the master, hands out to the other ranks, the workers. A worker receives a message
    of `to_worker` bytes, computes, and returns a message of `to_master` bytes; then it gets the next task.
    `seconds` has the computing time of each task."""

    name: str
    seconds: np.ndarray
    to_worker: int
    to_master: int


Part = StepsPart | CollectivePart | TasksPart


@dataclass(frozen=True)
class Iteration:
    """An iteration on `ranks` ranks, in a grid of these `extents` (() if there is none). Each part is
    executed in every iteration, or, on average, in the fraction `shares` of them."""

    ranks: int
    parts: tuple[Part, ...]
    shares: tuple[float, ...]
    extents: tuple[int, ...] = ()

    @property
    def longest_message(self) -> float:
        """Bytes of the longest message between two ranks; 0 without messages."""
        steps = (step for part in self.parts if isinstance(part, StepsPart) for step in part.steps)
        sizes = [float(np.max(layer.size)) for step in steps for layer in step.layers]
        tasks = [max(p.to_worker, p.to_master) for p in self.parts if isinstance(p, TasksPart)]
        return max([*sizes, *tasks], default=0.0)

    @property
    def computation(self) -> np.ndarray:
        """Mean seconds of each rank in an iteration; a master's tasks are those of all workers, evenly."""
        total = np.zeros(self.ranks)
        for part, share in zip(self.parts, self.shares, strict=True):
            if isinstance(part, StepsPart):
                total += share * part.computation(self.ranks)
            elif isinstance(part, TasksPart):
                workers = slice(1, None) if self.ranks > 1 else slice(0, 1)
                total[workers] += share * part.seconds.sum() / max(1, self.ranks - 1)
        return total

    def with_computation(self, factor: float) -> Iteration:
        """An iteration whose computation takes `factor` times as long."""

        def slowed(part: Part) -> Part:
            if isinstance(part, TasksPart):
                return replace(part, seconds=factor * part.seconds)
            return part.with_computation(factor) if isinstance(part, StepsPart) else part

        return replace(self, parts=tuple(map(slowed, self.parts)))

    def placed(self, places: np.ndarray) -> Iteration:
        """The same work by other ranks: `places` has for each rank the one that takes its part. A master
        stays where it is."""

        def moved(part: Part) -> Part:
            if isinstance(part, StepsPart):
                everyone = places[None, :]
                return replace(
                    part, steps=tuple(in_groups(step, everyone, self.ranks) for step in part.steps)
                )
            if isinstance(part, CollectivePart) and part.groups is not None:
                return replace(part, groups=places[part.groups])
            return part

        return replace(self, parts=tuple(map(moved, self.parts)))


def in_groups(step: Step, groups: np.ndarray, ranks: int) -> Step:
    """A step of one group as one of all groups (groups x ranks) at once."""
    layers = tuple(
        Layer(
            groups[:, layer.source].ravel(),
            groups[:, layer.target].ravel(),
            layer.size if np.ndim(layer.size) == 0 else np.tile(layer.size, len(groups)),
        )
        for layer in step.layers
    )
    computed = None
    if step.computed is not None:
        computed = np.zeros(ranks)
        computed[groups] = step.computed
    copied = None
    if step.copied is not None:
        which, size = step.copied
        copied = groups[:, which].ravel(), size if np.ndim(size) == 0 else np.tile(size, len(groups))
    return replace(step, layers=layers, copied=copied, computed=computed)


def join(parts: Iterable[tuple[Part, float]], ranks: int, extents: tuple[int, ...] = ()) -> Iteration:
    parts_and_shares = tuple(parts)
    return Iteration(
        ranks, tuple(p for p, _ in parts_and_shares), tuple(s for _, s in parts_and_shares), extents
    )
