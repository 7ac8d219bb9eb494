# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What all ranks of a program do in one iteration, in the program's order: computation, messages and
collective operations, without the costs of a machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.schedules.schedule import Layer, Step

EQUAL_BLOCK_OPERATIONS = {"allgatherv": "allgather", "alltoallv": "alltoall"}
"""Operations with blocks of different lengths, and those with equal blocks that take the same time if all
blocks have the longest length."""


def measured_operation(operation: str) -> str:
    """The operation whose measured times apply."""
    return EQUAL_BLOCK_OPERATIONS.get(operation, operation)


Noise = float | tuple[float, ...]
"""The variation of computing times: their relative standard deviation (of a gamma distribution), or measured
times relative to their mean, which are equally likely."""


def noise_factors(noise: Noise, random: np.random.Generator, count: int) -> np.ndarray:
    """Random factors of `count` computing times, with an expected value of 1."""
    if isinstance(noise, tuple):
        return random.choice(np.array(noise), count)
    return random.gamma(noise**-2, noise**2, count) if noise else np.ones(count)


def relative_deviation(noise: Noise) -> float:
    """The relative standard deviation."""
    return float(np.std(noise)) if isinstance(noise, tuple) else noise


@dataclass(frozen=True)
class StepsPart:
    """Computation and messages of a phase. Each rank's computation varies independently between iterations
    (`noise`). If the part is `serial`, the other ranks wait until its computation ends."""

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
        """Copy of the part with each rank's computation multiplied by its factor."""
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
    `groups` (groups x ranks) separately. Without an `algorithm`, MPI chooses one. For "allgatherv" and
    "alltoallv", whose blocks differ in length, `size` is that of the longest block."""

    name: str
    operation: str
    size: int
    groups: np.ndarray | None = None
    algorithm: str = ""

    def group_size(self, ranks: int) -> int:
        return ranks if self.groups is None else self.groups.shape[1]


@dataclass(frozen=True)
class TasksPart:
    """Tasks that rank 0, the master, distributes to the other ranks, the workers. A worker receives a message
    of `to_worker` bytes, computes, returns a message of `to_master` bytes, and gets the next task. `seconds`
    contains the computing time of each task."""

    name: str
    seconds: np.ndarray
    to_worker: int
    to_master: int


Part = StepsPart | CollectivePart | TasksPart


@dataclass(frozen=True)
class Iteration:
    """An iteration on `ranks` ranks, in a grid with these `extents` (() without a grid). Each part is
    executed in the fraction `shares` of the iterations, on average."""

    ranks: int
    parts: tuple[Part, ...]
    shares: tuple[float, ...]
    extents: tuple[int, ...] = ()

    @property
    def longest_message(self) -> float:
        """Bytes of the longest message between two ranks; 0 without messages."""
        steps = (step for part in self.parts if isinstance(part, StepsPart) for step in part.steps)
        sizes = [float(np.max(layer.size)) for step in steps for layer in step.layers]
        tasks = [max(part.to_worker, part.to_master) for part in self.parts if isinstance(part, TasksPart)]
        return max([*sizes, *tasks], default=0.0)

    @property
    def computation(self) -> np.ndarray:
        """Mean seconds of each rank in an iteration. A master's tasks are distributed evenly among all
        workers."""
        total = np.zeros(self.ranks)
        for part, share in zip(self.parts, self.shares, strict=True):
            if isinstance(part, StepsPart):
                total += share * part.computation(self.ranks)
            elif isinstance(part, TasksPart):
                workers = slice(1, None) if self.ranks > 1 else slice(0, 1)
                total[workers] += share * part.seconds.sum() / max(1, self.ranks - 1)
        return total

    def with_computation(self, factor: float) -> Iteration:
        """Copy of the iteration with computation that takes `factor` times as long."""

        def slow_part(part: Part) -> Part:
            if isinstance(part, TasksPart):
                return replace(part, seconds=factor * part.seconds)
            return part.with_computation(factor) if isinstance(part, StepsPart) else part

        return replace(self, parts=tuple(map(slow_part, self.parts)))

    def with_placement(self, new_ranks: np.ndarray) -> Iteration:
        """Copy of the iteration with the parts assigned to other ranks: `new_ranks` contains the new rank for
        each rank. A master keeps its rank."""

        def move_part(part: Part) -> Part:
            if isinstance(part, StepsPart):
                all_ranks = new_ranks[None, :]
                return replace(
                    part, steps=tuple(step_in_groups(step, all_ranks, self.ranks) for step in part.steps)
                )
            if isinstance(part, CollectivePart) and part.groups is not None:
                return replace(part, groups=new_ranks[part.groups])
            return part

        return replace(self, parts=tuple(map(move_part, self.parts)))


def step_in_groups(step: Step, groups: np.ndarray, ranks: int) -> Step:
    """Return the step of one group as a step of all groups (groups x ranks) at once."""
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
        copying_ranks, size = step.copied
        copied = groups[:, copying_ranks].ravel(), size if np.ndim(size) == 0 else np.tile(size, len(groups))
    return replace(step, layers=layers, copied=copied, computed=computed)


def join_parts(parts: Iterable[tuple[Part, float]], ranks: int, extents: tuple[int, ...] = ()) -> Iteration:
    parts_and_shares = tuple(parts)
    return Iteration(
        ranks,
        tuple(part for part, _ in parts_and_shares),
        tuple(share for _, share in parts_and_shares),
        extents,
    )
