# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Patterns of messages in a phase of a program. To add one: a class with the KEYS that it has in a
description, and its name in PATTERNS, which is the key that selects it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from hockney.core.errors import UsageError
from hockney.models.programs.formulas import ONE, Formula, Kind, Names
from hockney.models.programs.parts import CollectivePart, Noise, Part, StepsPart, TasksPart, noise_factors
from hockney.models.programs.rank_grid import AXES, RankGrid
from hockney.models.schedules.schedule import Layer, Mode, Step, relation

MAX_CHUNKS = 10_000
MAX_TASKS = 1_000_000
SEED = 1996
"""The seed of the varying times of tasks."""

FormulaReader = Callable[[Any, Kind, str], Formula]
CALLS = {"isend": Mode.POSTED, "sendrecv": Mode.EXCHANGE, "ordered": Mode.BLOCKING}


@dataclass(frozen=True)
class Setting:
    """A phase on a grid of ranks: the values of names in formulas, the seconds that each rank computes, how
    these vary, and whether the messages are under way meanwhile."""

    phase: str
    grid: RankGrid
    names: Names
    seconds: np.ndarray
    noise: Noise
    overlap: bool

    def by_rank(self, formula: Formula) -> np.ndarray:
        return np.broadcast_to(np.asarray(formula.value(self.names), dtype=float), (self.grid.ranks,))

    def whole_number(self, formula: Formula, limit: int) -> int:
        value = float(np.max(formula.value(self.names)))
        if not 1 <= value <= limit:
            raise UsageError(
                f"{formula.text} is {value:g}",
                f"it must be from 1 to {limit}",
                "change the formula",
                code="program-count-out-of-range",
            )
        return round(value)

    def with_messages(self, *steps: Step) -> Iterator[Part]:
        """The computation of the phase and these steps: during the first of them with `overlap`, before them
        without."""
        if not self.seconds.any():
            yield StepsPart(self.phase, steps)
        elif self.overlap and steps:
            first, *others = steps
            overlapped = Step(first.layers, first.mode, computed=self.seconds)
            yield StepsPart(self.phase, (overlapped, *others), self.noise)
        else:
            yield StepsPart(f"{self.phase}: work", (Step((), computed=self.seconds),), self.noise)
            yield StepsPart(self.phase, steps)


class Pattern(ABC):
    """The messages of a phase."""

    KEYS: ClassVar[Mapping[str, str]]
    """The keys of the pattern, each with what it is."""

    @classmethod
    @abstractmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Pattern:
        """The pattern of a phase's table; `where` is the position of its keys. Raises UsageError."""

    @abstractmethod
    def parts(self, setting: Setting) -> Iterator[Part]:
        """The phase's computation and messages. Raises UsageError."""


@dataclass(frozen=True)
class Neighbors(Pattern):
    """Every rank exchanges messages with its neighbors on the grid (a torus if `periodic`), or on a line of
    all ranks (`linear`), with those at the corners too if `corners`.

    Messages have `sizes`, one for all or one for each axis; with a `block`, the extents of a rank's part of
    the data, they are the bytes of a point, and a message has as many points as the two blocks touch, `width`
    deep."""

    KEYS: ClassVar = {
        "neighbors": '"grid", "torus", "line" or "ring"',
        "bytes": "of a message, or of a point with block",
        "block": "extents of a rank's part of the data",
        "width": "points that a neighbor needs",
        "corners": "also the neighbors at edges and corners",
        "calls": '"isend", "sendrecv" or "ordered"',
    }
    sizes: tuple[Formula, ...]
    block: tuple[Formula, ...] = ()
    width: Formula = ONE
    periodic: bool = False
    linear: bool = False
    corners: bool = False
    calls: str = "isend"

    @classmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Neighbors:
        _choice(raw["neighbors"], ("grid", "torus", "line", "ring"), f"{where}neighbors")
        _choice(raw.get("calls", "isend"), tuple(CALLS), f"{where}calls")
        return cls(
            sizes=_formulas(raw, "bytes", "size", where, formula),
            block=_formulas(raw, "block", "number", where, formula) if "block" in raw else (),
            width=formula(raw.get("width", 1), "number", f"{where}width"),
            periodic=raw["neighbors"] in ("torus", "ring"),
            linear=raw["neighbors"] in ("line", "ring"),
            corners=bool(raw.get("corners", False)),
            calls=raw.get("calls", "isend"),
        )

    def parts(self, setting: Setting) -> Iterator[Part]:
        grid = RankGrid((setting.grid.ranks,)) if self.linear else setting.grid
        dimensions = len(grid.extents)
        for name, values in (("bytes", self.sizes), ("block", self.block)):
            if len(values) not in ((1, dimensions) if name == "bytes" else (0, dimensions)):
                raise UsageError(
                    f"{name} has {len(values)} values",
                    f"the grid has {dimensions} dimensions",
                    "give one for each",
                    code="program-dimensions",
                )
        layers = [
            Layer(source, target, self._size(setting, offset)[source])
            for offset in self._offsets(dimensions)
            for source, target in (grid.neighbors(offset, periodic=self.periodic),)
            if len(source)
        ]
        mode = CALLS[self.calls]
        if mode is Mode.POSTED:
            yield from setting.with_messages(Step(tuple(layers), mode))
        elif mode is Mode.EXCHANGE:
            yield from setting.with_messages(*(Step((layer,), mode) for layer in layers))
        else:
            yield from setting.with_messages(*_ordered(layers, grid))

    def _offsets(self, dimensions: int) -> Iterator[tuple[int, ...]]:
        """One axis after the other, both directions of each; with corners, all."""
        if self.corners:
            yield from (offset for offset in product((-1, 0, 1), repeat=dimensions) if any(offset))
            return
        for axis in range(dimensions):
            for step in (-1, 1):
                yield tuple(step if each == axis else 0 for each in range(dimensions))

    def _size(self, setting: Setting, offset: tuple[int, ...]) -> np.ndarray:
        axis = next(each for each, step in enumerate(offset) if step)
        size = setting.by_rank(self.sizes[axis if len(self.sizes) > 1 else 0])
        if self.block:
            for extent, step in zip(self.block, offset, strict=True):
                size = size * setting.by_rank(self.width if step else extent)
        return np.asarray(np.round(size))


def _ordered(layers: list[Layer], grid: RankGrid) -> Iterator[Step]:
    """Ranks at even positions of the axis send first, then those at odd ones (MPI_Send and MPI_Recv)."""
    for layer in layers:
        parity = np.sum(grid.coordinates, axis=0)[layer.source] % 2
        for half in (0, 1):
            here = parity == half
            if here.any():
                sizes = np.broadcast_to(layer.size, layer.source.shape)[here]
                yield Step((Layer(layer.source[here], layer.target[here], sizes),), Mode.BLOCKING)


@dataclass(frozen=True)
class MessageList(Pattern):
    """Messages by source, target and bytes, each a formula; those that depend on the rank stand for one
    message of each rank. Targets that do not exist get none."""

    KEYS: ClassVar = {
        "messages": "a list of [source, target, bytes]",
        "calls": '"isend", "sendrecv" or "ordered"',
    }
    messages: tuple[tuple[Formula, Formula, Formula], ...]
    calls: str = "isend"

    @classmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> MessageList:
        rows = raw["messages"]
        if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 3 for row in rows):
            raise UsageError(
                f"{where}messages is not valid",
                "it is a list of messages",
                'write [["rank", "(rank + 1) % ranks", "8kB"]]',
                code="program-message-list",
                key=f"{where}messages",
            )
        _choice(raw.get("calls", "isend"), tuple(CALLS), f"{where}calls")
        kinds: tuple[Kind, ...] = ("number", "number", "size")
        read = tuple(
            tuple(
                formula(each, kind, f"{where}messages[{index}]")
                for each, kind in zip(row, kinds, strict=True)
            )
            for index, row in enumerate(rows)
        )
        return cls(tuple((a, b, c) for a, b, c in read), raw.get("calls", "isend"))

    def parts(self, setting: Setting) -> Iterator[Part]:
        ranks = setting.grid.ranks
        columns: list[list[np.ndarray]] = [[], [], []]
        for row in self.messages:
            values = np.broadcast_arrays(*(np.asarray(each.value(setting.names)) for each in row))
            for column, value in zip(columns, values, strict=True):
                column.append(np.atleast_1d(value))
        source, target, size = (np.concatenate(column) for column in columns)
        source, target = np.round(source).astype(int), np.round(target).astype(int)
        there = (source < ranks) & (target < ranks) & (source >= 0) & (target >= 0)
        step = relation(source[there], target[there], size[there], CALLS[self.calls])
        steps = [step] if step.layers else []
        if step.mode is Mode.BLOCKING:
            steps = list(_ordered(list(step.layers), RankGrid((ranks,))))
        yield from setting.with_messages(*steps)


@dataclass(frozen=True)
class Pipeline(Pattern):
    """A sweep along the axes of the grid: a rank receives a chunk from its predecessor on each axis, computes
    its part, and sends it on. The phase's work is that of all `chunks`; `ways` of 2: and back again."""

    KEYS: ClassVar = {
        "pipeline": 'axes, such as "x" or "xy"',
        "chunks": "parts of the work",
        "bytes": "of a chunk's message, or one for each axis",
        "ways": "1, or 2 for a sweep back too",
    }
    axes: tuple[int, ...]
    chunks: Formula
    sizes: tuple[Formula, ...]
    ways: int = 1

    @classmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Pipeline:
        axes = raw["pipeline"]
        if not isinstance(axes, str) or not axes or not set(axes) <= set(AXES):
            raise UsageError(
                f"{where}pipeline is not valid",
                "it names axes of the grid",
                'write "x" or "xy"',
                code="program-pipeline",
                key=f"{where}pipeline",
            )
        if raw.get("ways", 1) not in (1, 2):
            raise UsageError(
                f"{where}ways is not valid",
                "it is 1 or 2",
                "change it",
                code="program-ways",
                key=f"{where}ways",
            )
        return cls(
            axes=tuple(AXES.index(axis) for axis in dict.fromkeys(axes)),
            chunks=formula(raw.get("chunks", 1), "number", f"{where}chunks"),
            sizes=_formulas(raw, "bytes", "size", where, formula),
            ways=raw.get("ways", 1),
        )

    def parts(self, setting: Setting) -> Iterator[Part]:
        grid = setting.grid
        if max(self.axes) >= len(grid.extents):
            raise beyond_grid("the pipeline follows", max(self.axes), grid)
        chunks = setting.whole_number(self.chunks, MAX_CHUNKS)
        for way in (1, -1)[: self.ways]:
            yield StepsPart(setting.phase, tuple(self._sweep(setting, chunks, way)), setting.noise)

    def _sweep(self, setting: Setting, chunks: int, way: int) -> Iterator[Step]:
        """The ranks on a diagonal have a chunk at the same time. A rank sends it, then receives the next."""
        grid, offset = setting.grid, [0] * len(setting.grid.extents)
        depth = np.zeros(grid.ranks, dtype=int)
        for axis in self.axes:
            at, last = grid.coordinates[axis], grid.extents[axis] - 1
            depth += at if way == 1 else last - at
        links = []
        for number, axis in enumerate(self.axes):
            offset[axis] = way
            source, target = grid.neighbors(tuple(offset), periodic=False)
            offset[axis] = 0
            size = np.round(setting.by_rank(self.sizes[number if len(self.sizes) > 1 else 0]))
            links.append((source, target, np.broadcast_to(size[source, None], (len(source), chunks))))
        computed = np.broadcast_to((setting.seconds / chunks)[:, None], (grid.ranks, chunks))
        return wavefront(depth, computed, links)


def beyond_grid(what: str, axis: int, grid: RankGrid) -> UsageError:
    """`what` follows an axis that the grid does not have."""
    return UsageError(
        f"{what} axis {AXES[axis]}",
        f"the grid has {len(grid.extents)} dimensions",
        f'choose another axis, or give the program grid = "{axis + 1}d"',
        code="program-axis",
    )


def wavefront(
    depth: np.ndarray,
    computed: np.ndarray,
    links: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
    mode: Mode = Mode.BLOCKING,
) -> Iterator[Step]:
    """Chunks that pass through the ranks. A rank has chunk k `depth` + k steps after the start, for which it
    computes (seconds by rank and chunk), then sends it along its `links`: sources, targets, and bytes by
    source and chunk."""
    ranks, chunks = computed.shape
    links = tuple(links)
    for diagonal in range(int(depth.max()) + chunks):
        chunk = diagonal - depth
        active = (chunk >= 0) & (chunk < chunks)
        chunk = np.clip(chunk, 0, chunks - 1)
        yield Step((), computed=np.where(active, computed[np.arange(ranks), chunk], 0.0))
        layers = tuple(
            Layer(source[here], target[here], size[here, chunk[source[here]]])
            for source, target, size in links
            for here in (active[source],)
            if here.any()
        )
        if layers:
            yield Step(layers, mode)


@dataclass(frozen=True)
class Tasks(Pattern):
    """A master gives `count` tasks to the workers, each as soon as it has returned a result. The phase's work
    is that of one task, which varies from task to task by its noise."""

    KEYS: ClassVar = {"tasks": "the number of tasks", "to": "bytes to a worker", "from": "bytes of a result"}
    count: Formula
    to_worker: Formula
    to_master: Formula

    @classmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Tasks:
        return cls(
            count=formula(raw["tasks"], "number", f"{where}tasks"),
            to_worker=formula(raw.get("to", 0), "size", f"{where}to"),
            to_master=formula(raw.get("from", 0), "size", f"{where}from"),
        )

    def parts(self, setting: Setting) -> Iterator[Part]:
        count = setting.whole_number(self.count, MAX_TASKS)
        random = np.random.default_rng(SEED)
        seconds = float(setting.seconds.max()) * noise_factors(setting.noise, random, count)
        sizes = (round(float(np.max(each.value(setting.names)))) for each in (self.to_worker, self.to_master))
        yield TasksPart(setting.phase, seconds, *sizes)


@dataclass(frozen=True)
class Superstep(Pattern):
    """Bulk synchronous communication (BSP): each rank sends `size` bytes in total, evenly to the next
    `partners` ranks, and all wait for the end of the superstep in a barrier."""

    KEYS: ClassVar = {"superstep": "bytes that each rank sends", "partners": "ranks that it sends to"}
    size: Formula
    partners: Formula | None

    @classmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Superstep:
        partners = formula(raw["partners"], "number", f"{where}partners") if "partners" in raw else None
        return cls(formula(raw["superstep"], "size", f"{where}superstep"), partners)

    def parts(self, setting: Setting) -> Iterator[Part]:
        ranks = setting.grid.ranks
        others = ranks - 1
        if self.partners is not None and others:
            others = setting.whole_number(self.partners, others)
        step = to_next(ranks, np.round(setting.by_rank(self.size) / max(1, others)), others)
        yield from setting.with_messages(*([step] if step.layers else []))
        yield CollectivePart(f"{setting.phase}: barrier", "barrier", 0)


def to_next(ranks: int, sizes: np.ndarray, partners: int) -> Step:
    """Each of the first ranks sends messages of its size to the next `partners` ranks."""
    senders = np.arange(len(sizes))
    source, away = np.tile(senders, partners), np.repeat(np.arange(1, partners + 1), len(sizes))
    return relation(source, (source + away) % ranks, sizes[source])


PATTERNS: Mapping[str, type[Pattern]] = {
    "neighbors": Neighbors,
    "messages": MessageList,
    "pipeline": Pipeline,
    "tasks": Tasks,
    "superstep": Superstep,
}


def _formulas(
    raw: Mapping[str, Any], name: str, kind: Kind, where: str, formula: FormulaReader
) -> tuple[Formula, ...]:
    if name not in raw:
        raise UsageError(
            f"{where}{name} is missing",
            "the pattern needs it",
            f'add for example {name} = "8 * n / px"',
            code="program-key-missing",
            key=where.rstrip("."),
        )
    value = raw[name]
    if isinstance(value, list):
        return tuple(formula(each, kind, f"{where}{name}[{index}]") for index, each in enumerate(value))
    return (formula(value, kind, where + name),)


def _choice(value: Any, allowed: tuple[str, ...], key: str) -> None:
    if value not in allowed:
        raise UsageError(
            f"{key} is not valid",
            f"it can be {', '.join(allowed)}",
            f'write "{allowed[0]}"',
            code="program-choice",
            key=key,
        )
