# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs described in a file or in Python, and how they scale on a machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hockney import measurement
from hockney.api import find_runs
from hockney.api.export import Library, frame, program_table
from hockney.api.tables import Rows
from hockney.core.catalog import Workload
from hockney.core.errors import UsageError, one_line, printable, unknown
from hockney.core.fit import Cost, Fits
from hockney.core.paths import AnyPath, to_path
from hockney.core.units import doubling_series, parse_bytes, parse_quantity
from hockney.core.wording import option
from hockney.draw.page import Caveat
from hockney.machines import simulated
from hockney.machines.descriptions.files import parse_toml, read_file
from hockney.measurement import Listener, ignore_event
from hockney.models.applications.message_costs import costs_of_description, is_relevant
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.measured_costs import End
from hockney.models.programs.communication import Communication, communication_from_fits
from hockney.models.programs.description import parse_description, store_description
from hockney.models.programs.scaling import ProgramForecast, ProgramMachine, ProgramRow, forecast
from hockney.pages import program_scaling
from hockney.pages.caveats.predictions import CostsOrigin, cost_caveats, program_caveats
from hockney.report import notebook
from hockney.report.notebook import text_lines

GUIDE = "docs/programs.md"
DEFAULT_MAX_RANKS = 16
"""The default number of ranks on a machine other than this one."""
ROLES = ("point-to-point", "stream", "train", "overhead", "collective", "barrier", "overlap")
"""Roles of workloads that give the costs of messages and collectives, and what computation hides of them."""


@dataclass(frozen=True)
class CommunicationSource:
    """Costs of communication with their origin. `cores` is the number of available cores (None: unknown);
    with `here`, they belong to this machine."""

    costs: Mapping[End, Communication]
    origin: CostsOrigin
    cores: int | None
    here: bool
    fits: Fits | None = None
    """The fits of the run."""

    @property
    def messages(self) -> PointToPointCosts:
        return self.costs["value"].message

    @property
    def default_max_ranks(self) -> int:
        """Largest power of two that fits; at most 16 on other machines."""
        return default_max_ranks(self.cores, here=self.here)


def default_max_ranks(cores: int | None, *, here: bool) -> int:
    """Largest power of two that fits on these cores, at least 2; at most DEFAULT_MAX_RANKS on other
    machines."""
    core_count = cores or DEFAULT_MAX_RANKS
    limit = max(2, core_count if here else min(core_count, DEFAULT_MAX_RANKS))
    return 1 << (limit.bit_length() - 1)


def communication_source(
    run: AnyPath | None, machine: str, cost: Cost, listen: Listener, ranks: Sequence[int], *, larger: bool
) -> CommunicationSource:
    """Costs from the folder `run`, from the description of `machine` (enlarged to `ranks` with `larger`), or
    by default from the newest survey. Raises UsageError if both are given, for an unknown run or machine, and
    if a described machine has fewer cores than ranks; Inconclusive if no run contains the costs."""
    find_runs.check_single_source(run, machine)
    if machine:
        name = measurement.description_name(machine)
        platform = simulated.platform(name)
        if larger:
            platform = simulated.enlarged(platform, max(ranks, default=1))
        simulated.check_ranks(platform, max(ranks, default=1))
        costs: dict[End, Communication] = {
            "value": Communication(costs_of_description(platform), platform=platform)
        }
        return CommunicationSource(costs, CostsOrigin(platform, name), platform.capacity, here=False)
    source = find_runs.message_source(run, listen, cost, _is_relevant)
    bounds: tuple[End, ...] = ("value", "low", "high") if source.messages.band else ("value",)
    costs = {bound: communication_from_fits(source.fits, source.messages, bound) for bound in bounds}
    is_local = not source.machine.traits.described
    return CommunicationSource(costs, source.origin, source.messages.max_ranks, is_local, source.fits)


def _is_relevant(workload: Workload) -> bool:
    return is_relevant(workload) or workload.role in ROLES


@dataclass(frozen=True, repr=False)
class ProgramPrediction:
    """Scaling of a program. `forecast` contains all numbers, `source` is the origin of the costs."""

    forecast: ProgramForecast
    source: CommunicationSource

    @property
    def messages(self) -> PointToPointCosts:
        return self.source.messages

    @property
    def rows(self) -> tuple[ProgramRow, ...]:
        """One row per number of ranks: time (s), speed-up, efficiency, and where the time goes."""
        return self.forecast.rows

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """The warnings about the prediction, each with a code."""
        return (
            *cost_caveats(self, self.source.origin),
            *program_caveats(self.forecast, self.messages),
        )

    @property
    def document(self) -> dict[str, Any]:
        """Document that `--json` prints."""
        return program_scaling.document(self.forecast, self.messages) | {"doubts": self.caveats}

    def table(self) -> Rows:
        """Table of the rows. Each value has columns for the bounds of its 95% interval."""
        return program_table(self.rows)

    def frame(self, library: Library | None = None) -> Any:
        """The rows as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(), library)

    def __repr__(self) -> str:
        intro, notes = self._sentences
        return "\n".join(
            map(one_line, (*intro, *text_lines(program_scaling.ranks_table(self.forecast)), *notes))
        )

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        intro, notes = self._sentences
        return notebook.summary(intro, self.caveats, [program_scaling.ranks_table(self.forecast)], notes)

    @property
    def _sentences(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return program_scaling.assumption_sentences(
            self.forecast, self.messages
        ), program_scaling.best_sentences(self.forecast)


class Program:
    """A parallel program: phases of computation, messages and collective operations, repeated.

    `phases` are tables with the keys of docs/programs.md, such as {"work": "1ms"} or {"allreduce": 8}.
    `sizes` gives values to names in their formulas. `description` is the parsed program."""

    def __init__(
        self,
        phases: Sequence[Mapping[str, Any]],
        *,
        name: str = "program",
        iterations: str | float = 1,
        grid: str | Sequence[str | int] = "line",
        sizes: Mapping[str, str | float] | None = None,
    ) -> None:
        """Raises UsageError for an invalid program."""
        raw: dict[str, Any] = {
            "phase": [dict(phase) for phase in phases],
            "iterations": iterations,
            "grid": grid if isinstance(grid, str) else list(grid),
            "sizes": dict(sizes or {}),
        }
        self._set(raw, name)

    def _set(self, raw: Mapping[str, Any], name: str, where: str = "", text: str = "") -> None:
        """`text` is the content of the file `where`."""
        self.description = parse_description(raw, name)
        self._raw, self._where, self._text = raw, where, text

    @classmethod
    def read(cls, path: AnyPath) -> Program:
        """Read a program from a TOML file. Raises UsageError naming the offending line and key."""
        file = to_path(path)
        text = read_file(file, ())
        with _lines_in_errors(str(file), text):
            raw = _with_measured_times({"name": file.stem, **parse_toml(text, str(file), GUIDE)}, file.parent)
            program = cls.__new__(cls)
            program._set(raw, file.stem, str(file), text)
            return program

    @property
    def stored(self) -> str:
        """The description as a line of a plan."""
        return store_description(self._raw, self.description.name)

    def with_sizes(self, **sizes: float) -> Program:
        """Copy of the program with other problem sizes. Raises UsageError for unknown names."""
        for name in sizes:
            if name not in self.description.sizes:
                raise unknown("size", name, self.description.sizes, code="unknown-problem-size")
        program = copy(self)
        raw = {**self._raw, "sizes": {**self._raw.get("sizes", {}), **sizes}}
        program._set(raw, self.description.name, self._where, self._text)
        return program

    def with_typed_sizes(self, words: Iterable[str]) -> Program:
        """Copy of the program with sizes such as "n=8192". Raises UsageError for invalid ones."""
        sizes = {}
        for word in words:
            name, equals, value = word.partition("=")
            try:
                sizes[name] = parse_quantity(value)
            except UsageError:
                raise UsageError(
                    f"{printable(word)} is not a size",
                    "after a file come sizes of the problem" if not equals else "it is not a number",
                    "write for example n=8192 or t=1.2ns",
                    code="bad-problem-size",
                    text=word,
                ) from None
        return self.with_sizes(**sizes)

    def predict(
        self,
        ranks: Sequence[int] = (),
        *,
        run: AnyPath | None = None,
        machine: str = "",
        larger: bool = False,
        cost: Cost = "typical",
        listen: Listener = ignore_event,
    ) -> ProgramPrediction:
        """Predict the program's time (s), speed-up and efficiency on `ranks` (default: powers of two up to
        the number of cores), the parts of its time and possible improvements.

        The costs of messages and collectives come from the folder `run`, from the description of `machine`,
        or by default from the newest survey in runs. For a run, `cost` selects the typical or the undisturbed
        cost. Ranks share cores if there are more ranks than cores; with `larger`, each has its own. Nothing
        is measured. Raises UsageError for a formula without a value and for more ranks than a described
        machine has, Inconclusive if no run contains the cost of messages.
        """
        source = communication_source(run, machine, cost, listen, ranks, larger=larger)
        rank_counts = tuple(ranks) or doubling_series(1, source.default_max_ranks)
        machine_costs = ProgramMachine(source.costs, None if larger else source.cores)
        with _lines_in_errors(self._where, self._text):
            result = forecast(self.description, rank_counts, machine_costs, self.description.scaling)
        return ProgramPrediction(result, source)


def _with_measured_times(raw: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Tables of a file, in which the files named by `noise` are replaced by their lines."""

    def read(phase: Any) -> Any:
        if isinstance(phase, dict) and isinstance(phase.get("noise"), str):
            return {**phase, "noise": re.findall(r"[^\s,]+", read_file(folder / phase["noise"], ()))}
        return phase

    phases = raw.get("phase")
    return {**raw, "phase": list(map(read, phases))} if isinstance(phases, list) else raw


@contextmanager
def _lines_in_errors(where: str, text: str) -> Iterator[None]:
    """Add the line number to errors about a key of the file."""
    try:
        yield
    except UsageError as error:
        key = error.fields.get("key")
        if key is None or not text:
            raise
        error.fields["line"] = line_of(text, str(key))
        raise error.with_context(f"{where}, line {error.fields['line']}") from error


def line_of(text: str, key: str) -> int:
    """Line number of a key such as "grid", "sizes.n" or "phase[1].bytes" in a TOML file. If the key is
    missing, that of its table, or 1."""
    path = re.match(r"(?:(sizes|phase(?:\[\d+\])?)(?:\.|$))?(\w*)", key)
    assert path is not None
    table, name = path[1] or "", path[2]
    current_table, phases, table_line = "", 0, 1
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+\s*(\w+)\s*\]", line):
            current_table = header[1]
            if current_table == "phase":
                current_table, phases = f"phase[{phases}]", phases + 1
            table_line = number if current_table == table else table_line
        elif name and current_table == table and re.match(rf"\s*{name}\s*=", line):
            return number
    return table_line


def program_of_options(
    work: float, grid: str, halo: str, allreduce: str, serial: float, imbalance: float
) -> Program:
    """Make a simple program: `work` seconds on one rank, divided among the ranks, messages of `halo` bytes to
    each neighbor on the grid, and sums of `allreduce` bytes ("8B*2": two of 8 bytes). Raises UsageError for
    invalid values."""
    phases: list[dict[str, Any]] = [
        {"name": "work", "work": f"{work!r} / ranks", "serial": serial, "imbalance": imbalance}
    ]
    if halo:
        phases.append({"name": "halo", "neighbors": "grid", "bytes": parse_bytes(halo)})
    if allreduce:
        size, _, times = allreduce.partition("*")
        if times and not times.strip().isdecimal():
            raise UsageError(
                f"{option('allreduce', allreduce)} is not valid",
                "it is a size, and a number of calls",
                f"use for example {option('allreduce', '8B*2')}",
                code="bad-allreduce",
            )
        phases.append({"allreduce": parse_bytes(size), "times": int(times or 1)})
    return Program(phases, grid=grid or "line")
