# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A description of a parallel program: phases of computation, messages and collective operations, repeated.

Sizes and times are formulas of the number of ranks, the ranks' positions, and the sizes of the problem, so a
description applies to all numbers of ranks. `parse_description` creates one from the tables of a TOML file;
docs/programs.md describes the keys.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hockney.core.errors import UsageError, printable, unknown
from hockney.models.programs.formulas import ONE, Formula, FormulaKind, Names, Number
from hockney.models.programs.parts import CollectivePart, Iteration, Noise, Part, StepsPart, join_parts
from hockney.models.programs.patterns import PATTERNS, Pattern, PhaseSetting, beyond_grid
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
MAX_TIMES = 10_000
"""The maximum number of repetitions of a phase in an iteration, since each one is simulated."""


@dataclass(frozen=True)
class PhaseDescription:
    """A phase: computation, then the messages of a pattern (during the computation with `overlap`), then
    collective operations, each with its bytes. It is executed `times` times in each iteration, or in every
    `every`-th one.

    `serial` is the fraction of the computation that rank 0 does while the others wait, `imbalance` the
    busiest rank's work relative to the mean, and `noise` the variation of each rank's work. `algorithm` is
    that of the collective operations ("": MPI's own). With `along`, an axis of the grid, each line of ranks
    along this axis calls them separately.
    """

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
        """The parts of the phase on the grid's ranks. `names` contains the values of names on these ranks,
        and `single_names` those on a single rank, for the `serial` work."""
        ranks = grid.ranks
        seconds = self._computing_times(ranks, names)
        if self.serial and self.work is not None:
            single_rank_s = float(np.max(self.work.value(single_names)))
            serial_times = np.zeros(ranks)
            serial_times[0] = self.serial * single_rank_s
            steps = Step((), computed=serial_times), Step((), joins=True)
            yield StepsPart(f"{self.name}: serial", steps, self.noise, serial=True)
            seconds = (1 - self.serial) * seconds
        if self.pattern is not None:
            setting = PhaseSetting(self.name, grid, names, seconds, self.noise, self.overlap)
            yield from self.pattern.parts(setting)
        elif seconds.any():
            yield StepsPart(self.name, (Step((), computed=seconds),), self.noise)
        groups = self._groups(grid)
        for operation, size in self.collectives:
            bytes_ = round(float(np.max(size.value(names))))
            name = operation if self.name in COLLECTIVES else f"{self.name}: {operation}"
            yield CollectivePart(name, operation, bytes_, groups, self.algorithm)

    def _groups(self, grid: RankGrid) -> np.ndarray | None:
        """The ranks that call a collective operation together: groups x ranks; None for all ranks."""
        if not self.along:
            return None
        axis = AXES.index(self.along)
        if axis >= len(grid.extents):
            raise beyond_grid("the collective operations follow", axis, grid)
        return grid.lines(axis)

    def _computing_times(self, ranks: int, names: Names) -> np.ndarray:
        """Seconds that each rank computes. With an imbalance, the last rank is the busiest."""
        if self.work is None:
            return np.zeros(ranks)
        seconds = np.broadcast_to(np.asarray(self.work.value(names), dtype=float), (ranks,)).copy()
        largest_factor = min(self.imbalance, ranks)
        if largest_factor > 1:
            seconds[:-1] *= (ranks - largest_factor) / (ranks - 1)
            seconds[-1] *= largest_factor
        return seconds


@dataclass(frozen=True)
class ProgramDescription:
    """`grid` is a number of dimensions, over which ranks are distributed as evenly as possible, or one
    formula per extent. `sizes` are names with formulas, each of which may contain the preceding names.
    Without `scaling`, it is inferred from the work on each number of ranks."""

    name: str
    phases: tuple[PhaseDescription, ...]
    iterations: Formula = ONE
    grid: int | tuple[Formula, ...] = 1
    sizes: Mapping[str, Formula] = field(default_factory=dict)
    scaling: Scaling | None = None

    def iteration(self, ranks: int) -> Iteration:
        """The parts of an iteration. Raises UsageError if a formula has no value on this number of ranks."""
        grid, names = self._names(ranks)
        _, single_names = self._names(1)
        return join_parts(self._parts(grid, names, single_names), ranks, grid.extents)

    def count(self, ranks: int) -> float:
        """The number of iterations."""
        _, names = self._names(ranks)
        return _single_number(self.iterations, names, "iterations", low=0.0)

    def _parts(self, grid: RankGrid, names: Names, single_names: Names) -> Iterator[tuple[Part, float]]:
        for index, phase in enumerate(self.phases):
            times = _single_number(phase.times, names, f"phase[{index}].times", low=0.0)
            every = _single_number(phase.every, names, f"phase[{index}].every", low=1.0)
            if times > MAX_TIMES:
                raise _out_of_range(f"phase[{index}].times", times, f"at most {MAX_TIMES}")
            try:
                parts = tuple(phase.parts(grid, names, single_names))
            except UsageError as error:
                error.fields.setdefault("key", f"phase[{index}]")
                raise
            for _ in range(math.floor(times)):
                yield from ((part, 1 / every) for part in parts)
            if remaining_share := times - math.floor(times):
                yield from ((part, remaining_share / every) for part in parts)

    def _names(self, ranks: int) -> tuple[RankGrid, dict[str, Number]]:
        names: dict[str, Number] = {"ranks": float(ranks)}
        for name, formula in self.sizes.items():
            names[name] = _single_number(formula, names, f"sizes.{name}", low=0.0)
        if isinstance(self.grid, int):
            grid = balanced_grid(ranks, self.grid)
        else:
            extents = tuple(round(_single_number(formula, names, "grid", low=1.0)) for formula in self.grid)
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
        return grid, {"rank": np.arange(float(ranks)), **names, **grid.formula_names()}


def _single_number(formula: Formula, names: Names, key: str, *, low: float) -> float:
    value = formula.value(names)
    if np.ndim(value) or value < low:
        raise _out_of_range(key, value, f"one number of at least {low:g}")
    return float(value)


def _out_of_range(key: str, value: Number, requirement: str) -> UsageError:
    found = "a number for each rank" if np.ndim(value) else f"{value:g}"
    return UsageError(
        f"{key} is {found}",
        f"it must be {requirement}",
        "change its formula",
        code="program-number-out-of-range",
        key=key,
    )


def parse_description(raw: Mapping[str, Any], name: str) -> ProgramDescription:
    """The description in the tables of a TOML file called `name`. Raises UsageError with the field `key`."""
    _check_keys(raw, PROGRAM_KEYS, "")
    phases = raw.get("phase")
    if not isinstance(phases, list) or not phases or not all(isinstance(item, dict) for item in phases):
        raise _invalid_value(
            "phase", "a program has at least one [[phase]]", 'add for example [[phase]] work = "1ms"'
        )
    sizes = raw.get("sizes", {})
    if not isinstance(sizes, dict):
        raise _invalid_value(
            "sizes", "it is a table of names and numbers", "write [sizes] and under it n = 1000"
        )
    return ProgramDescription(
        name=_read_text(raw, "name", "", name),
        phases=tuple(_read_phase(item, index) for index, item in enumerate(phases)),
        iterations=_read_formula(raw, "iterations", "number", "") or ONE,
        grid=_read_grid(raw.get("grid", 1)),
        sizes={item: _parse_formula(value, "quantity", f"sizes.{item}") for item, value in sizes.items()},
        scaling=_read_scaling(raw),
    )


def _read_scaling(raw: Mapping[str, Any]) -> Scaling | None:
    value = raw.get("scaling")
    if value not in (None, "strong", "weak"):
        raise _invalid_value(
            "scaling", 'it is "strong" or "weak"', "leave it out, and the work shows which it is"
        )
    return value


def store_description(raw: Mapping[str, Any], name: str) -> str:
    """A description as a line of a plan: a name that is unique to the description, and its tables."""
    text = json.dumps({"name": name, **raw}, separators=(",", ":"))
    safe_name = "".join(
        character if character.isalnum() and character.isascii() else "-" for character in name
    )
    return f"{safe_name}-{zlib.crc32(text.encode()):08x} {text}"


def read_stored_descriptions(lines: Iterable[str]) -> dict[str, ProgramDescription]:
    """The descriptions in lines from `store_description`, by the names of their cases. Raises UsageError, or
    ValueError for a damaged line."""
    stored_lines = (line.partition(" ") for line in lines)
    return {name: parse_description(json.loads(text), name) for name, _, text in stored_lines}


def _read_grid(value: Any) -> int | tuple[Formula, ...]:
    if isinstance(value, str) and value in DIMENSIONS:
        return DIMENSIONS[value]
    if isinstance(value, list) and 1 <= len(value) <= len(AXES):
        return tuple(_parse_formula(extent, "number", f"grid[{axis}]") for axis, extent in enumerate(value))
    if value == 1:
        return 1
    raise _invalid_value(
        "grid", "it is a number of dimensions, or a list of extents", 'write "2d" or ["ranks / 4", 4]'
    )


def _read_phase(raw: dict[str, Any], index: int) -> PhaseDescription:
    key_prefix = f"phase[{index}]."
    patterns = [key for key in raw if key in PATTERNS]
    pattern_keys = PATTERNS[patterns[0]].KEYS if patterns else {}
    _check_keys(raw, (*PHASE_KEYS, *COLLECTIVES, *pattern_keys, *(() if patterns else PATTERNS)), key_prefix)
    if len(patterns) > 1:
        raise _invalid_value(
            key_prefix + patterns[1],
            f"this phase has {patterns[0]} already",
            "write another [[phase]] for it",
        )
    collectives = tuple(
        (key, _parse_collective_size(value, key_prefix + key))
        for key, value in raw.items()
        if key in COLLECTIVES
    )
    phase = PhaseDescription(
        name=_read_text(raw, "name", key_prefix, patterns[0] if patterns else next(iter(raw), "phase")),
        work=_read_formula(raw, "work", "time", key_prefix),
        serial=_read_fraction(raw, "serial", key_prefix, 0.0, 1.0),
        imbalance=_read_fraction(raw, "imbalance", key_prefix, 1.0, math.inf),
        noise=_read_noise(raw, key_prefix),
        pattern=PATTERNS[patterns[0]].read(raw, key_prefix, _parse_formula) if patterns else None,
        overlap=_read_flag(raw, "overlap", key_prefix),
        collectives=collectives,
        algorithm=_read_text(raw, "algorithm", key_prefix, ""),
        along=_read_text(raw, "along", key_prefix, ""),
        times=_read_formula(raw, "times", "number", key_prefix) or ONE,
        every=_read_formula(raw, "every", "number", key_prefix) or ONE,
    )
    if phase.work is None and phase.pattern is None and not collectives:
        raise _invalid_value(
            key_prefix.rstrip("."), "this phase does nothing", 'add for example work = "1ms"'
        )
    if phase.along and not collectives:
        raise _invalid_value(key_prefix + "along", "there is no collective operation", "leave it out")
    if phase.along and phase.along not in AXES:
        raise _invalid_value(key_prefix + "along", "it is an axis of the grid", 'write "x", "y" or "z"')
    return phase


def _parse_collective_size(value: Any, key: str) -> Formula:
    """The size. A barrier has the value true and no bytes."""
    return Formula("0", "size") if value is True else _parse_formula(value, "size", key)


def _read_formula(raw: Mapping[str, Any], name: str, kind: FormulaKind, key_prefix: str) -> Formula | None:
    return _parse_formula(raw[name], kind, key_prefix + name) if name in raw else None


def _parse_formula(value: Any, kind: FormulaKind, key: str) -> Formula:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _invalid_value(key, "a number or a formula is expected", 'write for example "n / ranks"')
    if isinstance(value, str):
        return Formula(value, kind, key)
    return Formula(repr(float(value) if isinstance(value, float) else value), kind, key)


def _read_text(raw: Mapping[str, Any], name: str, key_prefix: str, default: str) -> str:
    value = raw.get(name, default)
    if not isinstance(value, str):
        raise _invalid_value(key_prefix + name, "text is expected", "put it in quotes")
    return value


def _read_flag(raw: Mapping[str, Any], name: str, key_prefix: str) -> bool:
    value = raw.get(name, False)
    if not isinstance(value, bool):
        raise _invalid_value(key_prefix + name, "it is true or false", f"write {name} = true")
    return value


def _read_fraction(raw: Mapping[str, Any], name: str, key_prefix: str, low: float, high: float) -> float:
    value = raw.get(name, low)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _invalid_value(key_prefix + name, f"it is a number from {low:g} to {high:g}", "change it")
    return float(value)


def _read_noise(raw: Mapping[str, Any], key_prefix: str) -> Noise:
    """A relative standard deviation, or measured times relative to their mean."""
    if not isinstance(raw.get("noise"), list):
        return _read_fraction(raw, "noise", key_prefix, 0.0, 10.0)
    formulas = [
        _parse_formula(formula, "time", f"{key_prefix}noise[{index}]")
        for index, formula in enumerate(raw["noise"])
    ]
    times = np.array([_single_number(formula, {}, f"{key_prefix}noise", low=0.0) for formula in formulas])
    if not times.any():
        raise _invalid_value(
            f"{key_prefix}noise", "a list of measured times is expected", 'write ["1.1ms", "1.3ms"]'
        )
    return tuple((times / times.mean()).tolist())


def _check_keys(raw: Mapping[str, Any], names: tuple[str, ...], key_prefix: str) -> None:
    for name in raw:
        if name not in names:
            remedy = unknown("key", name, names, code="unknown-key").remedy
            raise UsageError(
                f"{printable(key_prefix + name)} is unknown",
                "a description of a program has no such key there",
                remedy,
                code="unknown-program-key",
                key=key_prefix + name,
            )


def _invalid_value(key: str, why: str, remedy: str) -> UsageError:
    return UsageError(f"{printable(key)} is not valid", why, remedy, code="bad-program-value", key=key)
