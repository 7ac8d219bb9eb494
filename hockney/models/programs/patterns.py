# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Patterns of messages in a phase of a program. To add one, define a class with its KEYS in a description,
and add it to PATTERNS under the key that selects it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from hockney.core.errors import UsageError
from hockney.models.programs.formulas import ONE, Formula, FormulaKind, Names
from hockney.models.programs.parts import CollectivePart, Noise, Part, StepsPart, TasksPart, noise_factors
from hockney.models.programs.rank_grid import AXES, RankGrid
from hockney.models.schedules.schedule import Layer, Mode, Step, relation

MAX_CHUNKS = 10_000
MAX_TASKS = 1_000_000
SEED = 1996
"""The seed of the varying task times."""

FormulaReader = Callable[[Any, FormulaKind, str], Formula]
CALL_MODES = {"isend": Mode.POSTED, "sendrecv": Mode.EXCHANGE, "ordered": Mode.BLOCKING}


@dataclass(frozen=True)
class PhaseSetting:
    """A phase on a grid of ranks: the values of names in formulas, the seconds that each rank computes, their
    variation, and whether messages overlap the computation."""

    phase: str
    grid: RankGrid
    names: Names
    seconds: np.ndarray
    noise: Noise
    overlap: bool

    def by_rank(self, formula: Formula) -> np.ndarray:
        return np.broadcast_to(np.asarray(formula.value(self.names), dtype=float), (self.grid.ranks,))

    def count(self, formula: Formula, limit: int) -> int:
        value = float(np.max(formula.value(self.names)))
        if not 1 <= value <= limit:
            raise UsageError(
                f"{formula.text} is {value:g}",
                f"it must be from 1 to {limit}",
                "change the formula",
                code="program-count-out-of-range",
            )
        return round(value)

    def parts_with_messages(self, *steps: Step) -> Iterator[Part]:
        """The phase's computation and these steps. With `overlap` the first step overlaps the computation,
        otherwise all steps follow it."""
        if not self.seconds.any():
            yield StepsPart(self.phase, steps)
        elif self.overlap and steps:
            first_step, *later_steps = steps
            overlapped = Step(first_step.layers, first_step.mode, computed=self.seconds)
            yield StepsPart(self.phase, (overlapped, *later_steps), self.noise)
        else:
            yield StepsPart(f"{self.phase}: work", (Step((), computed=self.seconds),), self.noise)
            yield StepsPart(self.phase, steps)


class Pattern(ABC):
    """The messages of a phase."""

    KEYS: ClassVar[Mapping[str, str]]
    """The keys of the pattern, with descriptions."""

    @classmethod
    @abstractmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Pattern:
        """The pattern of a phase's table; `where` is the position of its keys. Raises UsageError."""

    @abstractmethod
    def parts(self, setting: PhaseSetting) -> Iterator[Part]:
        """The phase's computation and messages. Raises UsageError."""


@dataclass(frozen=True)
class Neighbors(Pattern):
    """Every rank exchanges messages with its neighbors on the grid (a torus if `periodic`) or on a line of
    all ranks (`linear`). With `corners` these include diagonal neighbors.

    Messages have `sizes`, one for all or one for each axis. With a `block`, the extents of a rank's part of
    the data, these are bytes per point. A message then contains the points next to the other block, in
    `width` layers.
    """

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
        _check_choice(raw["neighbors"], ("grid", "torus", "line", "ring"), f"{where}neighbors")
        _check_choice(raw.get("calls", "isend"), tuple(CALL_MODES), f"{where}calls")
        return cls(
            sizes=_read_formulas(raw, "bytes", "size", where, formula),
            block=_read_formulas(raw, "block", "number", where, formula) if "block" in raw else (),
            width=formula(raw.get("width", 1), "number", f"{where}width"),
            periodic=raw["neighbors"] in ("torus", "ring"),
            linear=raw["neighbors"] in ("line", "ring"),
            corners=bool(raw.get("corners", False)),
            calls=raw.get("calls", "isend"),
        )

    def parts(self, setting: PhaseSetting) -> Iterator[Part]:
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
        mode = CALL_MODES[self.calls]
        if mode is Mode.POSTED:
            yield from setting.parts_with_messages(Step(tuple(layers), mode))
        elif mode is Mode.EXCHANGE:
            yield from setting.parts_with_messages(*(Step((layer,), mode) for layer in layers))
        else:
            yield from setting.parts_with_messages(*_order_by_parity(layers, grid))

    def _offsets(self, dimensions: int) -> Iterator[tuple[int, ...]]:
        """The offsets of both neighbors along each axis; with corners, of all neighbors."""
        if self.corners:
            yield from (offset for offset in product((-1, 0, 1), repeat=dimensions) if any(offset))
            return
        for axis in range(dimensions):
            for step in (-1, 1):
                yield tuple(step if dimension == axis else 0 for dimension in range(dimensions))

    def _size(self, setting: PhaseSetting, offset: tuple[int, ...]) -> np.ndarray:
        axis = next(dimension for dimension, step in enumerate(offset) if step)
        size = setting.by_rank(self.sizes[axis if len(self.sizes) > 1 else 0])
        if self.block:
            for extent, step in zip(self.block, offset, strict=True):
                size = size * setting.by_rank(self.width if step else extent)
        return np.asarray(np.round(size))


def _order_by_parity(layers: list[Layer], grid: RankGrid) -> Iterator[Step]:
    """Steps in which ranks at even positions of the axis send first, then those at odd ones (MPI_Send and
    MPI_Recv)."""
    for layer in layers:
        parity = np.sum(grid.coordinates, axis=0)[layer.source] % 2
        for half in (0, 1):
            is_sender = parity == half
            if is_sender.any():
                sizes = np.broadcast_to(layer.size, layer.source.shape)[is_sender]
                yield Step((Layer(layer.source[is_sender], layer.target[is_sender], sizes),), Mode.BLOCKING)


@dataclass(frozen=True)
class MessageList(Pattern):
    """Messages by source, target and bytes, each a formula. Formulas that depend on the rank represent one
    message of each rank. Messages to ranks that do not exist are left out."""

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
        _check_choice(raw.get("calls", "isend"), tuple(CALL_MODES), f"{where}calls")
        kinds: tuple[FormulaKind, ...] = ("number", "number", "size")
        messages = tuple(
            tuple(
                formula(formula_text, kind, f"{where}messages[{index}]")
                for formula_text, kind in zip(row, kinds, strict=True)
            )
            for index, row in enumerate(rows)
        )
        return cls(
            tuple((source, target, size) for source, target, size in messages), raw.get("calls", "isend")
        )

    def parts(self, setting: PhaseSetting) -> Iterator[Part]:
        ranks = setting.grid.ranks
        columns: list[list[np.ndarray]] = [[], [], []]
        for row in self.messages:
            values = np.broadcast_arrays(
                *(np.asarray(field_formula.value(setting.names)) for field_formula in row)
            )
            for column, value in zip(columns, values, strict=True):
                column.append(np.atleast_1d(value))
        source, target, size = (np.concatenate(column) for column in columns)
        source, target = np.round(source).astype(int), np.round(target).astype(int)
        is_valid = (source < ranks) & (target < ranks) & (source >= 0) & (target >= 0)
        step = relation(source[is_valid], target[is_valid], size[is_valid], CALL_MODES[self.calls])
        steps = [step] if step.layers else []
        if step.mode is Mode.BLOCKING:
            steps = list(_order_by_parity(list(step.layers), RankGrid((ranks,))))
        yield from setting.parts_with_messages(*steps)


@dataclass(frozen=True)
class Pipeline(Pattern):
    """A sweep along the axes of the grid: a rank receives a chunk from its predecessor on each axis, computes
    its part, and sends it on. The phase's work is divided among all `chunks`. With 2 `ways`, a sweep back
    follows."""

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
            sizes=_read_formulas(raw, "bytes", "size", where, formula),
            ways=raw.get("ways", 1),
        )

    def parts(self, setting: PhaseSetting) -> Iterator[Part]:
        grid = setting.grid
        if max(self.axes) >= len(grid.extents):
            raise beyond_grid("the pipeline follows", max(self.axes), grid)
        chunks = setting.count(self.chunks, MAX_CHUNKS)
        for direction in (1, -1)[: self.ways]:
            yield StepsPart(setting.phase, tuple(self._sweep(setting, chunks, direction)), setting.noise)

    def _sweep(self, setting: PhaseSetting, chunks: int, direction: int) -> Iterator[Step]:
        """The steps of a sweep. The ranks on a diagonal have a chunk at the same time; each sends it, then
        receives the next one."""
        grid, offset = setting.grid, [0] * len(setting.grid.extents)
        depth = np.zeros(grid.ranks, dtype=int)
        for axis in self.axes:
            position, last = grid.coordinates[axis], grid.extents[axis] - 1
            depth += position if direction == 1 else last - position
        links = []
        for number, axis in enumerate(self.axes):
            offset[axis] = direction
            source, target = grid.neighbors(tuple(offset), periodic=False)
            offset[axis] = 0
            size = np.round(setting.by_rank(self.sizes[number if len(self.sizes) > 1 else 0]))
            links.append((source, target, np.broadcast_to(size[source, None], (len(source), chunks))))
        computed = np.broadcast_to((setting.seconds / chunks)[:, None], (grid.ranks, chunks))
        return wavefront_steps(depth, computed, links)


def beyond_grid(subject: str, axis: int, grid: RankGrid) -> UsageError:
    """The error that `subject` follows an axis that the grid does not have."""
    return UsageError(
        f"{subject} axis {AXES[axis]}",
        f"the grid has {len(grid.extents)} dimensions",
        f'choose another axis, or give the program grid = "{axis + 1}d"',
        code="program-axis",
    )


def wavefront_steps(
    depth: np.ndarray,
    computed: np.ndarray,
    links: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
    mode: Mode = Mode.BLOCKING,
) -> Iterator[Step]:
    """The steps of chunks that pass through the ranks. A rank gets chunk k `depth` + k steps after the start,
    computes for it (seconds by rank and chunk), and sends it along its `links`: sources, targets, and bytes
    by source and chunk."""
    ranks, chunks = computed.shape
    links = tuple(links)
    for diagonal in range(int(depth.max()) + chunks):
        chunk = diagonal - depth
        active = (chunk >= 0) & (chunk < chunks)
        chunk = np.clip(chunk, 0, chunks - 1)
        yield Step((), computed=np.where(active, computed[np.arange(ranks), chunk], 0.0))
        layers = tuple(
            Layer(source[is_sending], target[is_sending], size[is_sending, chunk[source[is_sending]]])
            for source, target, size in links
            for is_sending in (active[source],)
            if is_sending.any()
        )
        if layers:
            yield Step(layers, mode)


@dataclass(frozen=True)
class Tasks(Pattern):
    """A master gives `count` tasks to the workers, each as soon as the worker has returned a result. The
    phase's work is that of one task, which varies between tasks by the phase's noise."""

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

    def parts(self, setting: PhaseSetting) -> Iterator[Part]:
        count = setting.count(self.count, MAX_TASKS)
        random = np.random.default_rng(SEED)
        seconds = float(setting.seconds.max()) * noise_factors(setting.noise, random, count)
        sizes = (
            round(float(np.max(size_formula.value(setting.names))))
            for size_formula in (self.to_worker, self.to_master)
        )
        yield TasksPart(setting.phase, seconds, *sizes)


@dataclass(frozen=True)
class Superstep(Pattern):
    """Bulk synchronous communication (BSP): each rank sends a total of `size` bytes, evenly divided among the
    next `partners` ranks. All ranks wait in a barrier for the end of the superstep."""

    KEYS: ClassVar = {"superstep": "bytes that each rank sends", "partners": "ranks that it sends to"}
    size: Formula
    partners: Formula | None

    @classmethod
    def read(cls, raw: Mapping[str, Any], where: str, formula: FormulaReader) -> Superstep:
        partners = formula(raw["partners"], "number", f"{where}partners") if "partners" in raw else None
        return cls(formula(raw["superstep"], "size", f"{where}superstep"), partners)

    def parts(self, setting: PhaseSetting) -> Iterator[Part]:
        ranks = setting.grid.ranks
        partner_count = ranks - 1
        if self.partners is not None and partner_count:
            partner_count = setting.count(self.partners, partner_count)
        step = messages_to_next(
            ranks, np.round(setting.by_rank(self.size) / max(1, partner_count)), partner_count
        )
        yield from setting.parts_with_messages(*([step] if step.layers else []))
        yield CollectivePart(f"{setting.phase}: barrier", "barrier", 0)


def messages_to_next(ranks: int, sizes: np.ndarray, partner_count: int) -> Step:
    """A step in which each of the first ranks sends messages of its size to the next `partner_count`
    ranks."""
    senders = np.arange(len(sizes))
    source, distance = np.tile(senders, partner_count), np.repeat(np.arange(1, partner_count + 1), len(sizes))
    return relation(source, (source + distance) % ranks, sizes[source])


PATTERNS: Mapping[str, type[Pattern]] = {
    "neighbors": Neighbors,
    "messages": MessageList,
    "pipeline": Pipeline,
    "tasks": Tasks,
    "superstep": Superstep,
}


def _read_formulas(
    raw: Mapping[str, Any], name: str, kind: FormulaKind, key_prefix: str, formula: FormulaReader
) -> tuple[Formula, ...]:
    if name not in raw:
        raise UsageError(
            f"{key_prefix}{name} is missing",
            "the pattern needs it",
            f'add for example {name} = "8 * n / px"',
            code="program-key-missing",
            key=key_prefix.rstrip("."),
        )
    value = raw[name]
    if isinstance(value, list):
        return tuple(formula(item, kind, f"{key_prefix}{name}[{index}]") for index, item in enumerate(value))
    return (formula(value, kind, key_prefix + name),)


def _check_choice(value: Any, allowed: tuple[str, ...], key: str) -> None:
    if value not in allowed:
        raise UsageError(
            f"{key} is not valid",
            f"it can be {', '.join(allowed)}",
            f'write "{allowed[0]}"',
            code="program-choice",
            key=key,
        )
