# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The questions of Hanebutte and Tatsumi (1996) with real TCP on an emulated Ethernet: exchanges of 2, 4 and
8 processes, and the efficiency of 2 and 4 over the work T, as in their figures 1 to 3 on a small grid.

Emulated hosts compute by waiting for the given time, so the work T is exact and needs no processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import median

from hockney.core.catalog import Catalog
from hockney.core.units import format_value
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section, Table
from hockney.models.applications.granularity import Algorithm, efficiency
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, Compared, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.suites.papers.reproductions import efficiencies, emulated, sun
from hockney.suites.papers.reproductions.efficiencies import WORD_BYTES, Cell

MACHINE = "sun-ethernet"
PROCESSES = (2, 4, 8)
SIZES = tuple(WORD_BYTES * words for words in sun.WORDS)
GRID, EMULATED_GRID = "efficiency-4", "emulated-efficiency"

GRID_PROCESSES = (2, 4)
GRID_WORDS = (1, 100, 10000)
GRID_WORK_S = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ITERATIONS = 4
"""The paper averages 20; with so few the grid takes some minutes."""
GRID_S = 240.0

NEAR = 0.05
"""The largest median error of predicted efficiencies."""
DOUBLED = (1.7, 2.3)
"""By how much twice the processes lengthen an exchange of long messages: equation 3 gives 2."""
SEEN = 0.02
"""Efficiencies that differ by less are considered equal: they were measured."""

Answers = Mapping[str, Answer]


def cells() -> list[Cell]:
    return efficiencies.cells(GRID_PROCESSES, GRID_WORDS, GRID_WORK_S)


@dataclass(frozen=True)
class SunOnTcp:
    """The reproduction on the emulated machine `on`, the value of --machine."""

    on: str
    NAME: str = sun.NAME
    TITLE: str = sun.TITLE
    PAPER: str = sun.PAPER
    FIGURES: Mapping[str, str] = field(default_factory=dict)

    def parts(self, catalog: Catalog) -> list[Part]:
        simulated = {part.name: part for part in sun.parts(catalog)}
        grid = efficiencies.cases(catalog, cells(), ITERATIONS)
        return [
            simulated["exchange"],
            simulated[sun.MORE_PROCESSES],
            Part(GRID, MACHINE, grid),
            emulated.part(catalog, MACHINE, self.on, PROCESSES, SIZES),
            Part(EMULATED_GRID, MACHINE, grid, (), self.on, 1, GRID_S),
        ]

    def compare(self, answers: Answers) -> list[Compared]:
        return [*_exchanges(answers), *_efficiencies(answers)]

    def checks(self, answers: Answers, compared: Sequence[Compared]) -> list[Check]:
        return [
            *sun.exchange_checks(compared),
            *emulated.checks(answers, PROCESSES, SIZES),
            *(_grows(answers, p) for p in PROCESSES[1:]),
            _equation_2(answers),
            _predicted(answers),
            _falls_with_length(answers),
            _falls_with_processes(answers),
        ]

    def tables(self, answers: Answers) -> list[Table]:
        return [
            emulated.table(answers, PROCESSES, SIZES, sun.WORD_BYTES),
            _efficiency_table(answers),
        ]

    def page(self, answers: Answers, compared: Sequence[Compared], checks: Sequence[Check]) -> Page:
        exchange_table, grid_table = self.tables(answers)
        figure = _exchange_figure(answers)
        sections = [
            Section("The exchange", tables=(exchange_table,)),
            Section(
                "Efficiency",
                figures=tuple(_efficiency_figure(answers, p) for p in GRID_PROCESSES),
                tables=(grid_table,),
            ),
        ]
        paper = (self.NAME, self.TITLE, sun.PRINTED.citation)
        summary = emulated.summary(SUMMARY, checks)
        return pages.page(paper, answers, compared, checks, summary, sections, lead=figure)


def _exchanges(answers: Answers) -> Iterator[Compared]:
    for name, processes in (("exchange", sun.PROCESSES), (sun.MORE_PROCESSES, sun.ALL_PROCESSES[2:])):
        rows = sun.exchange_rows(answers[name], processes)
        for row, (p, size) in zip(rows, product(processes, SIZES), strict=True):
            if p in PROCESSES:
                row = replace(
                    row,
                    emulated=emulated.measured(answers, p, size),
                    predicted=emulated.predicted(answers, p, size),
                )
            yield row


def measured(answers: Answers, part: str, cell: Cell) -> float | None:
    return efficiencies.efficiency(answers[part], cell)


def predicted(answers: Answers, cell: Cell) -> float | None:
    """The efficiency predicted from messages between two emulated hosts."""
    costs = emulated.predicting(answers)
    algorithm = Algorithm(cell.work, WORD_BYTES * cell.words)
    return None if costs is None else efficiency(algorithm, costs, cell.processes)


def _by_equation_2(answers: Answers, cell: Cell) -> float | None:
    """The efficiency by equation 2, with the measured time of the exchange alone."""
    exchange = emulated.measured(answers, cell.processes, WORD_BYTES * cell.words)
    return None if exchange is None else cell.work / (cell.work + cell.processes * exchange)


def _efficiencies(answers: Answers) -> Iterator[Compared]:
    for cell in cells():
        key = f"granularity/efficiency/{cell.processes}/{cell.words}/{cell.work:g}"
        yield Compared(
            key,
            _named(cell),
            sun.equation_2(cell),
            measured(answers, GRID, cell),
            None,
            "",
            status_of(answers[GRID].platform, key),
            table="efficiency (equation 2)",
            emulated=measured(answers, EMULATED_GRID, cell),
            predicted=predicted(answers, cell),
        )


# what the paper states, and what a bus does


def _grows(answers: Answers, processes: int) -> Check:
    """Equation 3 for long messages: Tcom grows with np/2."""
    size = SIZES[-1]
    few, many = (emulated.measured(answers, p, size) for p in (processes // 2, processes))
    low, high = DOUBLED
    what = (
        f"the longest messages take {low:g} to {high:g} times as long on {processes} processes as on "
        f"{processes // 2}: they share the cable"
    )
    stated = Statement(f"cable-shared-{processes}", "equation 3", what)
    if not few or not many:
        return stated.unknown(emulated.NOT_MEASURED)
    return stated.check(low <= many / few <= high, f"{many / few:.2f} times")


def _close(stated: Statement, pairs: Sequence[tuple[float | None, float | None]]) -> Check:
    errors = [abs(model - found) for model, found in pairs if model is not None and found is not None]
    if len(errors) < len(pairs):
        return stated.unknown(emulated.NOT_MEASURED)
    return stated.check(median(errors) <= NEAR, f"median {median(errors):.3f}, largest {max(errors):.3f}")


def _equation_2(answers: Answers) -> Check:
    what = (
        "equation 2 gives the efficiencies from the exchange alone, with a median difference of at most "
        f"{NEAR:g}"
    )
    stated = Statement("equation-2", "equation 2", what)
    return _close(
        stated, [(_by_equation_2(answers, each), measured(answers, EMULATED_GRID, each)) for each in cells()]
    )


def _predicted(answers: Answers) -> Check:
    what = (
        "efficiencies are predicted from messages between two and the network that exchanges of more "
        f"processes show, with a median difference of at most {NEAR:g}"
    )
    stated = Statement("efficiency-predicted", "", what)
    return _close(
        stated, [(predicted(answers, each), measured(answers, EMULATED_GRID, each)) for each in cells()]
    )


def _falls_with_length(answers: Answers) -> Check:
    short, long = min(GRID_WORDS), max(GRID_WORDS)
    what = f"messages of {long} words are clearly less efficient than those of {short}, whatever T"
    pairs = [(replace(cell, words=short), cell) for cell in cells() if cell.words == long]
    stated = Statement("falls-with-length", "figure 1", what)
    return _less(stated, answers, pairs, clearly=SEEN)


def _falls_with_processes(answers: Answers) -> Check:
    few, many = GRID_PROCESSES
    what = f"{many} processes are no more efficient than {few}, whatever T and L"
    pairs = [(replace(cell, processes=few), cell) for cell in cells() if cell.processes == many]
    stated = Statement("falls-with-processes", "figure 1", what)
    return _less(stated, answers, pairs, clearly=-SEEN)


def _less(stated: Statement, answers: Answers, pairs: Sequence[tuple[Cell, Cell]], clearly: float) -> Check:
    """Whether the second cell of each pair is less efficient by `clearly`."""
    found = [tuple(measured(answers, EMULATED_GRID, cell) for cell in pair) for pair in pairs]
    drops = [high - low for high, low in found if high is not None and low is not None]
    if len(drops) < len(pairs):
        return stated.unknown(emulated.NOT_MEASURED)
    return stated.check(min(drops) >= clearly, f"by {min(drops):.3f} to {max(drops):.3f}")


# figures and tables


def _exchange_figure(answers: Answers) -> Figure:
    drawn: list[Series] = []
    for p in PROCESSES:
        group = f"{p} processes"
        rows = [row for row in _exchanges(answers) if row.key.startswith(sun.FORMULA.format(p) + "/")]
        values = list(zip(sun.WORDS, rows, strict=True))
        drawn += [
            pages.make_series(f"{group}, equation 3", [(w, r.published) for w, r in values], "line", group),
            pages.make_series(f"{group}, simulated", [(w, r.simulated) for w, r in values], group=group),
            pages.make_series(
                f"{group}, emulated", [(w, r.emulated) for w, r in values], group=group, hollow=True
            ),
        ]
    return Figure(
        "sun-exchange-emulated",
        "Time of the round-robin exchange",
        Axis("L, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(drawn),
        "Lines: equation 3. Points: simulated. Outlines: emulated hosts of today, with real TCP.",
    )


def _efficiency_figure(answers: Answers, processes: int) -> Figure:
    drawn: list[Series] = []
    for words in GRID_WORDS:
        group = f"L = {words}"
        row = efficiencies.cells((processes,), (words,), GRID_WORK_S)
        drawn += [
            pages.make_series(
                f"{group}, equation 2", [(c.work, sun.equation_2(c)) for c in row], "line", group
            ),
            pages.make_series(
                f"{group}, simulated", [(c.work, measured(answers, GRID, c)) for c in row], group=group
            ),
            pages.make_series(
                f"{group}, emulated",
                [(c.work, measured(answers, EMULATED_GRID, c)) for c in row],
                group=group,
                hollow=True,
            ),
        ]
    return Figure(
        f"sun-efficiency-emulated-{processes}",
        f"Efficiency of {processes} processes",
        efficiencies.WORK,
        efficiencies.EFFICIENCY,
        tuple(drawn),
        "Lines: equation 2 with the printed parameters. Points: simulated. Outlines: emulated.",
    )


def _efficiency_table(answers: Answers) -> Table:
    rows = []
    for cell in cells():
        found, model = measured(answers, EMULATED_GRID, cell), predicted(answers, cell)
        rows.append(
            (
                _named(cell),
                *(_plain(value) for value in (found, _by_equation_2(answers, cell), model)),
                "" if found is None or model is None else f"{model - found:+.3f}",
            )
        )
    return Table(
        "predicted-efficiency",
        "Efficiency, emulated",
        ("cell", "measured", "equation 2", "predicted", "difference"),
        tuple(rows),
        numeric=(1, 2, 3, 4),
        caption="Equation 2 with the measured exchange; predicted from the ping-pong between two hosts.",
    )


def _named(cell: Cell) -> str:
    return f"{cell.processes} processes, L = {cell.words}, T = {format_value(cell.work, 's')}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


SUMMARY = (
    "U. R. Hanebutte and M. Tatsumi measured how efficient SUN workstations on one Ethernet cable are, and "
    "described it by two formulas. Here the same exchanges are computed by these formulas, simulated, and "
    "measured with real TCP on an emulated Ethernet."
)
