# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A description of a parallel program: phases of computation, messages and collective operations, repeated.

Sizes and times are formulas in the number of ranks, the ranks' positions, and the sizes of the problem, so
that a description holds for all numbers of ranks. `describe` makes one of the tables of a TOML file;
docs/programs.md describes the keys."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hockney.core.errors import UsageError, printable, unknown
from hockney.models.programs.formulas import ONE, Formula, Kind, Names, Number
from hockney.models.programs.parts import CollectivePart, Iteration, Noise, Part, StepsPart, join
from hockney.models.programs.patterns import PATTERNS, Pattern, Setting, beyond_grid
from hockney.models.programs.rank_grid import AXES, RankGrid, balanced_grid
from hockney.models.schedules.schedule import Step

COLLECTIVES = (
    "allreduce", "reduce", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce_scatter_block",
    "scan", "barrier",
)  # fmt: skip
Scaling = Literal["strong", "weak", "other"]
DIMENSIONS = {"line": 1, "1d": 1, "2d": 2, "3d": 3}
PROGRAM_KEYS = ("name", "iterations", "grid", "scaling", "sizes", "phase")
PHASE_KEYS = (
    "name",
    "times",
    "every",
    "work",
    "serial",
    "imbalance",
    "noise",
    "overlap",
    "algorithm",
    "along",
)
MOST_TIMES = 10_000
"""Repetitions of a phase in an iteration: each is simulated."""


@dataclass(frozen=True)
class PhaseDescription:
    """A phase: computation, then the messages of a pattern (during it, with `overlap`), then collective
    operations, each with its bytes; `times` in each iteration, or in every `every`-th one.

    `serial` is the part of the computation that rank 0 does while the others wait, `imbalance` the busiest
    rank's work relative to the mean, `noise` the variation of each rank's work.
    `algorithm` is that of the collective operations ("": MPI's own); with `along`, an axis of the grid, each
    line of ranks along it calls them."""

    name: str
    work: Formula | None = None
    serial: float = 0.0
    imbalance: float = 1.0
    noise: Noise = 0.0
    pattern: Pattern | None = None
    overlap: bool = False
    collectives: tuple[tuple[str, Formula], ...] = ()
    algorithm: str = ""
    along: str = ""
    times: Formula = ONE
    every: Formula = ONE

    def parts(self, grid: RankGrid, names: Names, single_names: Names) -> Iterator[Part]:
        """The parts of the phase on the grid's ranks. `names` have values, `single_names` those on a single
        rank, for the work that is `serial`."""
        ranks = grid.ranks
        seconds = self._seconds(ranks, names)
        if self.serial and self.work is not None:
            alone = float(np.max(self.work.value(single_names)))
            first = np.zeros(ranks)
            first[0] = self.serial * alone
            steps = Step((), computed=first), Step((), joins=True)
            yield StepsPart(f"{self.name}: serial", steps, self.noise, serial=True)
            seconds = (1 - self.serial) * seconds
        if self.pattern is not None:
            setting = Setting(self.name, grid, names, seconds, self.noise, self.overlap)
            yield from self.pattern.parts(setting)
        elif seconds.any():
            yield StepsPart(self.name, (Step((), computed=seconds),), self.noise)
        groups = self._groups(grid)
        for operation, size in self.collectives:
            bytes_ = round(float(np.max(size.value(names))))
            name = operation if self.name in COLLECTIVES else f"{self.name}: {operation}"
            yield CollectivePart(name, operation, bytes_, groups, self.algorithm)

    def _groups(self, grid: RankGrid) -> np.ndarray | None:
        """The ranks that call a collective operation together: groups x ranks; None for all."""
        if not self.along:
            return None
        axis = AXES.index(self.along)
        if axis >= len(grid.extents):
            raise beyond_grid("the collective operations follow", axis, grid)
        return grid.lines(axis)

    def _seconds(self, ranks: int, names: Names) -> np.ndarray:
        """Seconds that each rank computes; the busiest of unbalanced ones is the last."""
        if self.work is None:
            return np.zeros(ranks)
        seconds = np.broadcast_to(np.asarray(self.work.value(names), dtype=float), (ranks,)).copy()
        busiest = min(self.imbalance, ranks)
        if busiest > 1:
            seconds[:-1] *= (ranks - busiest) / (ranks - 1)
            seconds[-1] *= busiest
        return seconds


@dataclass(frozen=True)
class ProgramDescription:
    """`grid` is a number of dimensions, among which ranks are divided as evenly as possible, or a formula for
    each extent. `sizes` are names and formulas of numbers, each in the names before it. Without `scaling`,
    the work on each number of ranks shows which it is."""

    name: str
    phases: tuple[PhaseDescription, ...]
    iterations: Formula = ONE
    grid: int | tuple[Formula, ...] = 1
    sizes: Mapping[str, Formula] = field(default_factory=dict)
    scaling: Scaling | None = None

    def iteration(self, ranks: int) -> Iteration:
        """Raises UsageError if a formula has no value on this number of ranks."""
        grid, names = self._names(ranks)
        _, single_names = self._names(1)
        return join(self._parts(grid, names, single_names), ranks, grid.extents)

    def count(self, ranks: int) -> float:
        """The number of iterations."""
        _, names = self._names(ranks)
        return _single(self.iterations, names, "iterations", low=0.0)

    def _parts(self, grid: RankGrid, names: Names, single_names: Names) -> Iterator[tuple[Part, float]]:
        for index, phase in enumerate(self.phases):
            times = _single(phase.times, names, f"phase[{index}].times", low=0.0)
            every = _single(phase.every, names, f"phase[{index}].every", low=1.0)
            if times > MOST_TIMES:
                raise _out_of_range(f"phase[{index}].times", times, f"at most {MOST_TIMES}")
            try:
                parts = tuple(phase.parts(grid, names, single_names))
            except UsageError as error:
                error.fields.setdefault("key", f"phase[{index}]")
                raise
            for _ in range(math.floor(times)):
                yield from ((part, 1 / every) for part in parts)
            if rest := times - math.floor(times):
                yield from ((part, rest / every) for part in parts)

    def _names(self, ranks: int) -> tuple[RankGrid, dict[str, Number]]:
        names: dict[str, Number] = {"ranks": float(ranks)}
        for name, formula in self.sizes.items():
            names[name] = _single(formula, names, f"sizes.{name}", low=0.0)
        if isinstance(self.grid, int):
            grid = balanced_grid(ranks, self.grid)
        else:
            extents = tuple(round(_single(each, names, "grid", low=1.0)) for each in self.grid)
            grid = RankGrid(extents)
            if grid.ranks != ranks:
                product = " x ".join(map(str, extents))
                raise UsageError(
                    f"the grid {product} has {grid.ranks} ranks, not {ranks}",
                    "each rank has one position",
                    "change the formulas of grid, or leave out this number of ranks",
                    code="grid-without-ranks",
                    key="grid",
                    ranks=ranks,
                )
        return grid, {"rank": np.arange(float(ranks)), **names, **grid.names()}


def _single(formula: Formula, names: Names, key: str, *, low: float) -> float:
    value = formula.value(names)
    if np.ndim(value) or value < low:
        raise _out_of_range(key, value, f"one number of at least {low:g}")
    return float(value)


def _out_of_range(key: str, value: Number, wanted: str) -> UsageError:
    text = "a number for each rank" if np.ndim(value) else f"{value:g}"
    return UsageError(
        f"{key} is {text}",
        f"it must be {wanted}",
        "change its formula",
        code="program-number-out-of-range",
        key=key,
    )


def describe(raw: Mapping[str, Any], name: str) -> ProgramDescription:
    """The description in the tables of a TOML file called `name`. Raises UsageError with the field `key`."""
    _only_known(raw, PROGRAM_KEYS, "")
    phases = raw.get("phase")
    if not isinstance(phases, list) or not phases or not all(isinstance(each, dict) for each in phases):
        raise _wrong(
            "phase", "a program has at least one [[phase]]", 'add for example [[phase]] work = "1ms"'
        )
    sizes = raw.get("sizes", {})
    if not isinstance(sizes, dict):
        raise _wrong("sizes", "it is a table of names and numbers", "write [sizes] and under it n = 1000")
    return ProgramDescription(
        name=_text(raw, "name", "", name),
        phases=tuple(_phase(each, index) for index, each in enumerate(phases)),
        iterations=_formula(raw, "iterations", "number", "") or ONE,
        grid=_grid(raw.get("grid", 1)),
        sizes={each: _formula_of(value, "quantity", f"sizes.{each}") for each, value in sizes.items()},
        scaling=_scaling(raw),
    )


def _scaling(raw: Mapping[str, Any]) -> Scaling | None:
    value = raw.get("scaling")
    if value not in (None, "strong", "weak"):
        raise _wrong("scaling", 'it is "strong" or "weak"', "leave it out, and the work shows which it is")
    return value


def stored(raw: Mapping[str, Any], name: str) -> str:
    """A description as a line of a plan: its name, which differs for another description, and its tables."""
    text = json.dumps({"name": name, **raw}, separators=(",", ":"))
    plain = "".join(each if each.isalnum() and each.isascii() else "-" for each in name)
    return f"{plain}-{zlib.crc32(text.encode()):08x} {text}"


def read_stored(lines: Iterable[str]) -> dict[str, ProgramDescription]:
    """The descriptions in lines that `stored` made, by the names of their cases. Raises UsageError, or
    ValueError for a damaged line."""
    named = (line.partition(" ") for line in lines)
    return {name: describe(json.loads(text), name) for name, _, text in named}


def _grid(value: Any) -> int | tuple[Formula, ...]:
    if isinstance(value, str) and value in DIMENSIONS:
        return DIMENSIONS[value]
    if isinstance(value, list) and 1 <= len(value) <= len(AXES):
        return tuple(_formula_of(each, "number", f"grid[{axis}]") for axis, each in enumerate(value))
    if value == 1:
        return 1
    raise _wrong(
        "grid", "it is a number of dimensions, or a list of extents", 'write "2d" or ["ranks / 4", 4]'
    )


def _phase(raw: dict[str, Any], index: int) -> PhaseDescription:
    where = f"phase[{index}]."
    patterns = [key for key in raw if key in PATTERNS]
    pattern_keys = PATTERNS[patterns[0]].KEYS if patterns else {}
    _only_known(raw, (*PHASE_KEYS, *COLLECTIVES, *pattern_keys, *(() if patterns else PATTERNS)), where)
    if len(patterns) > 1:
        raise _wrong(
            where + patterns[1], f"this phase has {patterns[0]} already", "write another [[phase]] for it"
        )
    collectives = tuple(
        (key, _collective_size(value, where + key)) for key, value in raw.items() if key in COLLECTIVES
    )
    phase = PhaseDescription(
        name=_text(raw, "name", where, patterns[0] if patterns else next(iter(raw), "phase")),
        work=_formula(raw, "work", "time", where),
        serial=_fraction(raw, "serial", where, 0.0, 1.0),
        imbalance=_fraction(raw, "imbalance", where, 1.0, math.inf),
        noise=_noise(raw, where),
        pattern=PATTERNS[patterns[0]].read(raw, where, _formula_of) if patterns else None,
        overlap=_flag(raw, "overlap", where),
        collectives=collectives,
        algorithm=_text(raw, "algorithm", where, ""),
        along=_text(raw, "along", where, ""),
        times=_formula(raw, "times", "number", where) or ONE,
        every=_formula(raw, "every", "number", where) or ONE,
    )
    if phase.work is None and phase.pattern is None and not collectives:
        raise _wrong(where.rstrip("."), "this phase does nothing", 'add for example work = "1ms"')
    if phase.along and not collectives:
        raise _wrong(where + "along", "there is no collective operation", "leave it out")
    if phase.along and phase.along not in AXES:
        raise _wrong(where + "along", "it is an axis of the grid", 'write "x", "y" or "z"')
    return phase


def _collective_size(value: Any, key: str) -> Formula:
    """A barrier has no bytes: it is true."""
    return Formula("0", "size") if value is True else _formula_of(value, "size", key)


def _formula(raw: Mapping[str, Any], name: str, kind: Kind, where: str) -> Formula | None:
    return _formula_of(raw[name], kind, where + name) if name in raw else None


def _formula_of(value: Any, kind: Kind, key: str) -> Formula:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _wrong(key, "a number or a formula is expected", 'write for example "n / ranks"')
    if isinstance(value, str):
        return Formula(value, kind, key)
    return Formula(repr(float(value) if isinstance(value, float) else value), kind, key)


def _text(raw: Mapping[str, Any], name: str, where: str, default: str) -> str:
    value = raw.get(name, default)
    if not isinstance(value, str):
        raise _wrong(where + name, "text is expected", "put it in quotes")
    return value


def _flag(raw: Mapping[str, Any], name: str, where: str) -> bool:
    value = raw.get(name, False)
    if not isinstance(value, bool):
        raise _wrong(where + name, "it is true or false", f"write {name} = true")
    return value


def _fraction(raw: Mapping[str, Any], name: str, where: str, low: float, high: float) -> float:
    value = raw.get(name, low)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _wrong(where + name, f"it is a number from {low:g} to {high:g}", "change it")
    return float(value)


def _noise(raw: Mapping[str, Any], where: str) -> Noise:
    """A relative standard deviation, or measured times, which are made relative to their mean."""
    if not isinstance(raw.get("noise"), list):
        return _fraction(raw, "noise", where, 0.0, 10.0)
    formulas = [
        _formula_of(each, "time", f"{where}noise[{index}]") for index, each in enumerate(raw["noise"])
    ]
    times = np.array([_single(each, {}, f"{where}noise", low=0.0) for each in formulas])
    if not times.any():
        raise _wrong(f"{where}noise", "a list of measured times is expected", 'write ["1.1ms", "1.3ms"]')
    return tuple((times / times.mean()).tolist())


def _only_known(raw: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in raw:
        if name not in names:
            remedy = unknown("key", name, names, code="unknown-key").remedy
            raise UsageError(
                f"{printable(where + name)} is unknown",
                "a description of a program has no such key there",
                remedy,
                code="unknown-program-key",
                key=where + name,
            )


def _wrong(key: str, why: str, remedy: str) -> UsageError:
    return UsageError(f"{printable(key)} is not valid", why, remedy, code="bad-program-value", key=key)
