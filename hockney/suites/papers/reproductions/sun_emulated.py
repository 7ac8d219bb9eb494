# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The questions of Hanebutte and Tatsumi (1996) with real TCP on an emulated Ethernet: exchanges of 2, 4 and
8 processes, and the efficiency of 2 and 4 over the work T, as in their figures 1 to 3 on a small grid.

Emulated hosts compute by waiting for the given time, so the work T is exact and needs no processor."""

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
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of, values_if_complete
from hockney.reproductions.parts import Answer, Part
from hockney.suites.papers.reproductions import efficiencies, emulated, sun
from hockney.suites.papers.reproductions.efficiencies import WORD_BYTES, Cell

MACHINE = "sun-ethernet"
PROCESSES = (2, 4, 8)
SIZES = tuple(WORD_BYTES * words for words in sun.WORDS)
GRID_PART, EMULATED_GRID_PART = "efficiency-4", "emulated-efficiency"

GRID_PROCESSES = (2, 4)
GRID_WORDS = (1, 100, 10000)
GRID_WORK_S = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ITERATIONS = 4
"""The paper averages 20 iterations. With 4, the grid takes some minutes."""
GRID_BUDGET_S = 240.0

MAX_MEDIAN_DIFFERENCE = 0.05
"""Maximum median error of predicted efficiencies."""
DOUBLING_FACTORS = (1.7, 2.3)
"""Range of factors by which doubling the processes lengthens an exchange of long messages. Equation 3
gives 2."""
EQUAL_DIFFERENCE = 0.02
"""Measured efficiencies that differ by less count as equal."""

Answers = Mapping[str, Answer]


def grid_cells() -> list[Cell]:
    return efficiencies.grid_cells(GRID_PROCESSES, GRID_WORDS, GRID_WORK_S)


@dataclass(frozen=True)
class SunOnTcp:
    """The reproduction on the emulated `machine`, the value of --machine."""

    machine: str
    NAME: str = sun.NAME
    TITLE: str = sun.TITLE
    PAPER: str = sun.PAPER
    FIGURES: Mapping[str, str] = field(default_factory=dict)

    def parts(self, catalog: Catalog) -> list[Part]:
        simulated_parts = {part.name: part for part in sun.parts(catalog)}
        grid = efficiencies.cases(catalog, grid_cells(), ITERATIONS)
        return [
            simulated_parts["exchange"],
            simulated_parts[sun.EIGHT_PROCESSES_PART],
            Part(GRID_PART, MACHINE, grid),
            emulated.survey_part(catalog, MACHINE, self.machine, PROCESSES, SIZES),
            Part(EMULATED_GRID_PART, MACHINE, grid, (), self.machine, 1, GRID_BUDGET_S),
        ]

    def compare(self, answers: Answers) -> list[ComparedNumber]:
        return [*_exchange_rows(answers), *_efficiency_rows(answers)]

    def checks(self, answers: Answers, comparisons: Sequence[ComparedNumber]) -> list[Check]:
        return [
            *sun.exchange_checks(comparisons),
            *emulated.checks(answers, PROCESSES, SIZES),
            *(_shared_cable_check(answers, p) for p in PROCESSES[1:]),
            _equation_2_check(answers),
            _prediction_check(answers),
            _length_check(answers),
            _processes_check(answers),
        ]

    def tables(self, answers: Answers) -> list[Table]:
        return [
            emulated.exchange_table(answers, PROCESSES, SIZES, sun.WORD_BYTES),
            _efficiency_table(answers),
        ]

    def page(self, answers: Answers, comparisons: Sequence[ComparedNumber], checks: Sequence[Check]) -> Page:
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
        heading = (self.NAME, self.TITLE, sun.PAPER_VALUES.citation)
        summary = emulated.summary(SUMMARY, checks)
        return pages.reproduction_page(heading, answers, comparisons, checks, summary, sections, lead=figure)


def _exchange_rows(answers: Answers) -> Iterator[ComparedNumber]:
    for name, processes in (("exchange", sun.PROCESSES), (sun.EIGHT_PROCESSES_PART, sun.ALL_PROCESSES[2:])):
        rows = sun.exchange_rows(answers[name], processes)
        for row, (p, size) in zip(rows, product(processes, SIZES), strict=True):
            if p in PROCESSES:
                row = replace(
                    row,
                    emulated=emulated.measured_exchange_s(answers, p, size),
                    predicted=emulated.predicted_exchange_s(answers, p, size),
                )
            yield row


def measured_efficiency(answers: Answers, part: str, cell: Cell) -> float | None:
    return efficiencies.efficiency(answers[part], cell)


def predicted_efficiency(answers: Answers, cell: Cell) -> float | None:
    """Returns the efficiency predicted from messages between two emulated hosts."""
    costs = emulated.prediction_costs(answers)
    algorithm = Algorithm(cell.work, WORD_BYTES * cell.message_words)
    return None if costs is None else efficiency(algorithm, costs, cell.processes)


def _efficiency_by_equation_2(answers: Answers, cell: Cell) -> float | None:
    """Returns the efficiency by equation 2, with the measured time of the exchange without computation."""
    exchange_s = emulated.measured_exchange_s(answers, cell.processes, WORD_BYTES * cell.message_words)
    return None if exchange_s is None else cell.work / (cell.work + cell.processes * exchange_s)


def _efficiency_rows(answers: Answers) -> Iterator[ComparedNumber]:
    for cell in grid_cells():
        key = f"granularity/efficiency/{cell.processes}/{cell.message_words}/{cell.work:g}"
        yield ComparedNumber(
            key,
            _cell_name(cell),
            sun.equation_2(cell),
            measured_efficiency(answers, GRID_PART, cell),
            None,
            "",
            status_of(answers[GRID_PART].platform, key),
            table="efficiency (equation 2)",
            emulated=measured_efficiency(answers, EMULATED_GRID_PART, cell),
            predicted=predicted_efficiency(answers, cell),
        )


# Statements of the paper, and properties of a bus


def _shared_cable_check(answers: Answers, processes: int) -> Check:
    """Checks equation 3 for long messages: Tcom grows with np/2."""
    size = SIZES[-1]
    few_s, many_s = (emulated.measured_exchange_s(answers, p, size) for p in (processes // 2, processes))
    low, high = DOUBLING_FACTORS
    claim = (
        f"the longest messages take {low:g} to {high:g} times as long on {processes} processes as on "
        f"{processes // 2}: they share the cable"
    )
    statement = Statement(f"cable-shared-{processes}", "equation 3", claim)
    if not few_s or not many_s:
        return statement.unknown(emulated.NOT_MEASURED)
    return statement.check(low <= many_s / few_s <= high, f"{many_s / few_s:.2f} times")


def _difference_check(statement: Statement, pairs: Sequence[tuple[float | None, float | None]]) -> Check:
    known_pairs = values_if_complete(map(values_if_complete, pairs))
    if known_pairs is None:
        return statement.unknown(emulated.NOT_MEASURED)
    errors = [abs(model_value - measured_value) for model_value, measured_value in known_pairs]
    return statement.check(
        median(errors) <= MAX_MEDIAN_DIFFERENCE, f"median {median(errors):.3f}, largest {max(errors):.3f}"
    )


def _equation_2_check(answers: Answers) -> Check:
    claim = (
        "equation 2 gives the efficiencies from the exchange alone, with a median difference of at most "
        f"{MAX_MEDIAN_DIFFERENCE:g}"
    )
    statement = Statement("equation-2", "equation 2", claim)
    return _difference_check(
        statement,
        [
            (_efficiency_by_equation_2(answers, cell), measured_efficiency(answers, EMULATED_GRID_PART, cell))
            for cell in grid_cells()
        ],
    )


def _prediction_check(answers: Answers) -> Check:
    claim = (
        "efficiencies are predicted from messages between two and the network that exchanges of more "
        f"processes show, with a median difference of at most {MAX_MEDIAN_DIFFERENCE:g}"
    )
    statement = Statement("efficiency-predicted", "", claim)
    return _difference_check(
        statement,
        [
            (predicted_efficiency(answers, cell), measured_efficiency(answers, EMULATED_GRID_PART, cell))
            for cell in grid_cells()
        ],
    )


def _length_check(answers: Answers) -> Check:
    short_words, long_words = min(GRID_WORDS), max(GRID_WORDS)
    claim = (
        f"messages of {long_words} words are clearly less efficient than those of {short_words}, whatever T"
    )
    pairs = [
        (replace(cell, message_words=short_words), cell)
        for cell in grid_cells()
        if cell.message_words == long_words
    ]
    statement = Statement("falls-with-length", "figure 1", claim)
    return _drop_check(statement, answers, pairs, min_drop=EQUAL_DIFFERENCE)


def _processes_check(answers: Answers) -> Check:
    fewer_processes, more_processes = GRID_PROCESSES
    claim = f"{more_processes} processes are no more efficient than {fewer_processes}, whatever T and L"
    pairs = [
        (replace(cell, processes=fewer_processes), cell)
        for cell in grid_cells()
        if cell.processes == more_processes
    ]
    statement = Statement("falls-with-processes", "figure 1", claim)
    return _drop_check(statement, answers, pairs, min_drop=-EQUAL_DIFFERENCE)


def _drop_check(
    statement: Statement, answers: Answers, pairs: Sequence[tuple[Cell, Cell]], min_drop: float
) -> Check:
    """Checks whether the second cell of each pair is less efficient by at least `min_drop`."""
    pair_efficiencies = values_if_complete(
        values_if_complete(measured_efficiency(answers, EMULATED_GRID_PART, cell) for cell in pair)
        for pair in pairs
    )
    if pair_efficiencies is None:
        return statement.unknown(emulated.NOT_MEASURED)
    drops = [high - low for high, low in pair_efficiencies]
    return statement.check(min(drops) >= min_drop, f"by {min(drops):.3f} to {max(drops):.3f}")


# Figures and tables


def _exchange_figure(answers: Answers) -> Figure:
    series: list[Series] = []
    for p in PROCESSES:
        group = f"{p} processes"
        rows = [row for row in _exchange_rows(answers) if row.key.startswith(sun.FORMULA.format(p) + "/")]
        values = list(zip(sun.WORDS, rows, strict=True))
        series += [
            pages.make_series(
                f"{group}, equation 3", [(words, row.published) for words, row in values], "line", group
            ),
            pages.make_series(
                f"{group}, simulated", [(words, row.simulated) for words, row in values], group=group
            ),
            pages.make_series(
                f"{group}, emulated",
                [(words, row.emulated) for words, row in values],
                group=group,
                hollow=True,
            ),
        ]
    return Figure(
        "sun-exchange-emulated",
        "Time of the round-robin exchange",
        Axis("L, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(series),
        "Lines: equation 3. Points: simulated. Outlines: emulated hosts of today, with real TCP.",
    )


def _efficiency_figure(answers: Answers, processes: int) -> Figure:
    series: list[Series] = []
    for words in GRID_WORDS:
        group = f"L = {words}"
        row = efficiencies.grid_cells((processes,), (words,), GRID_WORK_S)
        series += [
            pages.make_series(
                f"{group}, equation 2", [(cell.work, sun.equation_2(cell)) for cell in row], "line", group
            ),
            pages.make_series(
                f"{group}, simulated",
                [(cell.work, measured_efficiency(answers, GRID_PART, cell)) for cell in row],
                group=group,
            ),
            pages.make_series(
                f"{group}, emulated",
                [(cell.work, measured_efficiency(answers, EMULATED_GRID_PART, cell)) for cell in row],
                group=group,
                hollow=True,
            ),
        ]
    return Figure(
        f"sun-efficiency-emulated-{processes}",
        f"Efficiency of {processes} processes",
        efficiencies.WORK_AXIS,
        efficiencies.EFFICIENCY_AXIS,
        tuple(series),
        "Lines: equation 2 with the printed parameters. Points: simulated. Outlines: emulated.",
    )


def _efficiency_table(answers: Answers) -> Table:
    rows = []
    for cell in grid_cells():
        measured_value, predicted_value = (
            measured_efficiency(answers, EMULATED_GRID_PART, cell),
            predicted_efficiency(answers, cell),
        )
        rows.append(
            (
                _cell_name(cell),
                *(
                    _three_decimals(value)
                    for value in (measured_value, _efficiency_by_equation_2(answers, cell), predicted_value)
                ),
                ""
                if measured_value is None or predicted_value is None
                else f"{predicted_value - measured_value:+.3f}",
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


def _cell_name(cell: Cell) -> str:
    return f"{cell.processes} processes, L = {cell.message_words}, T = {format_value(cell.work, 's')}"


def _three_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


SUMMARY = (
    "U. R. Hanebutte and M. Tatsumi measured how efficient SUN workstations on one Ethernet cable are, and "
    "described it by two formulas. Here the same exchanges are computed by these formulas, simulated, and "
    "measured with real TCP on an emulated Ethernet."
)
