# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SUN workstations on one Ethernet, of Hanebutte and Tatsumi (1996): the round-robin exchange of equation 3,

    Tcom = 2 (t_start + t_w (np/2) L),

in which half of the processes send while the other half receives, and vice versa, and the efficiency of their
benchmark over the work. The description has the paper's t_start and t_w. The np/2 messages of a phase share
the cable equally, as follows from the equation, and as on a bus. The paper draws its measurements without
numbers, so efficiencies are compared with its equation 2.

The exchange has to start on all processes at the same time (sync=window). Otherwise the pairs are out of
phase, and the message of one is on the cable while that of another is being started: see the variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from hockney import reference
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.suites.papers.reproductions import efficiencies
from hockney.suites.papers.reproductions.efficiencies import WORD_BYTES, Cell

if TYPE_CHECKING:
    from hockney.reproductions import Reproduction

NAME = "sun"
TITLE = "SUN workstations on shared Ethernet: exchange and efficiency"
PAPER = "granularity"
FIGURES = {str(number): f"sun-figure-{number}" for number in (1, 4, 5)}
PAPER_VALUES = reference.published(PAPER)

PROCESSES = (2, 4)
ALL_PROCESSES = (2, 4, 8)
"""Numbers of processes that the paper measured, and those that it draws."""
WORDS = (1, 10, 100, 1000, 10000)
FORMULA = "granularity/formula/exchange/{}"
VARIANTS = {
    "queue": ("sun-ethernet+queue", "window", "one message on the cable at a time"),
    "barrier": ("sun-ethernet", "barrier", "started by MPI_Barrier"),
    "loop": ("sun-ethernet", "loop", "many exchanges back to back, not synchronised"),
}
"""Alternatives to the machine or to the start of the exchange: part, machine, synchronisation,
description."""
EIGHT_PROCESSES_PART, GRID_PART, NIGHT_PART = "exchange-8", "efficiency", "night"
WORK_S = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
ITERATIONS = 20
NIGHTS = 10
"""Launches, each with a cable slowed down by other users, as the paper repeated its benchmark."""
EXTREME_WORDS = (min(WORDS), max(WORDS))
MAX_DIFFERENCE = 0.02
"""Efficiencies that differ by less count as equal."""
SERIAL_FRACTIONS = (0.0, 0.1, 0.2)
LEVEL_WORDS, LEVEL_PROCESSES, EFFICIENCY_LEVELS = (1, 1000, 10000), range(2, 17, 2), (0.5, 0.9)
"""Words, processes and efficiencies of figure 5."""


def parts(catalog: Catalog) -> list[Part]:
    def exchanges(sync: str, processes: Sequence[int]) -> tuple[Case, ...]:
        lines = (
            f"round_robin bytes={WORD_BYTES * words} sync={sync} ranks={p}"
            for p in processes
            for words in WORDS
        )
        return tuple(map(catalog.case, lines))

    variants = [
        Part(name, machine, exchanges(sync, PROCESSES)) for name, (machine, sync, _) in VARIANTS.items()
    ]
    grid = efficiencies.grid_cells(ALL_PROCESSES, WORDS, WORK_S)
    night = efficiencies.grid_cells(PROCESSES, WORDS, WORK_S)
    return [
        Part("exchange", "sun-ethernet", exchanges("window", PROCESSES)),
        Part(EIGHT_PROCESSES_PART, "sun-ethernet", exchanges("window", ALL_PROCESSES[2:])),
        Part(GRID_PART, "sun-ethernet", efficiencies.cases(catalog, grid, ITERATIONS)),
        Part(
            NIGHT_PART, "sun-ethernet+night", efficiencies.cases(catalog, night, ITERATIONS), launches=NIGHTS
        ),
        *variants,
    ]


def on_emulated(machine: str) -> Reproduction:
    """Returns the reproduction with real TCP on the emulated `machine`."""
    from hockney.suites.papers.reproductions.sun_emulated import SunOnTcp

    return SunOnTcp(machine)


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    rows = [
        *exchange_rows(answers["exchange"], PROCESSES),
        *exchange_rows(answers[EIGHT_PROCESSES_PART], ALL_PROCESSES[2:]),
        *_break_even_rows(answers[GRID_PART]),
    ]
    variants = [(answers[name], description) for name, (_, _, description) in VARIANTS.items()]
    return [
        *rows,
        *(row for answer, description in variants for row in exchange_rows(answer, PROCESSES, description)),
    ]


def exchange_rows(answer: Answer, processes: Sequence[int], mechanism: str = "") -> Iterable[ComparedNumber]:
    for p in processes:
        formula = PAPER_VALUES.formula(FORMULA.format(p))
        for words in WORDS:
            key = f"{formula.key}/{words}"
            yield ComparedNumber(
                key,
                f"exchange of {p} processes, L = {words}",
                formula.time(WORD_BYTES * words),
                answer.seconds("round_robin", ranks=p, bytes=WORD_BYTES * words),
                None,
                "s",
                status_of(answer.platform, key, mechanism),
                mechanism,
                note="" if p in PROCESSES else "only drawn in the paper",
                table=mechanism or "equation 3",
            )


def exchange_s(processes: int, words: int) -> float:
    """Returns the seconds of an exchange by equation 3."""
    return PAPER_VALUES.formula(FORMULA.format(processes)).time(WORD_BYTES * words)


def equation_2(cell: Cell) -> float:
    """Returns T / (T + np Tcom) with equation 3."""
    return cell.work / (cell.work + cell.processes * exchange_s(cell.processes, cell.message_words))


def _break_even_rows(grid: Answer) -> Iterable[ComparedNumber]:
    """Yields the work for which np processes are as fast as one: the paper's 50% on two and 25% on four."""
    for p in ALL_PROCESSES:
        for words in EXTREME_WORDS:
            key = f"granularity/break-even/{p}/{words}"
            yield ComparedNumber(
                key,
                f"break-even of {p} processes, L = {words}",
                p * exchange_s(p, words) / (p - 1),
                efficiencies.break_even(grid, p, words, WORK_S),
                None,
                "s",
                "fitted" if p == 2 else status_of(grid.platform, key),
                note="by equations 2 and 3",
                table="work at break-even, an efficiency of 1/np",
            )


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    known_efficiencies = {
        cell: value
        for cell in efficiencies.grid_cells(ALL_PROCESSES, WORDS, WORK_S)
        if (value := efficiencies.efficiency(answers[GRID_PART], cell)) is not None
    }
    return [*exchange_checks(comparisons), *_efficiency_checks(known_efficiencies)]


def exchange_checks(comparisons: Sequence[ComparedNumber]) -> list[Check]:
    rows = [row for row in comparisons if row.table == "equation 3"]
    claim = "equation 3 at L = 1 to 10000 words within 8%"
    return [Statement("equation-3", "equation 3", claim).within(rows, 0.08)]


def _efficiency_checks(known_efficiencies: Mapping[Cell, float]) -> list[Check]:
    """Checks the simulated efficiencies. All checks are unknown if any efficiency is missing."""
    equation_statement = Statement(
        "equation-2", "figure 1", f"equation 2 gives the efficiencies, within {MAX_DIFFERENCE:g}"
    )
    length_statement = Statement(
        "falls-with-length", "figure 1", "longer messages are less efficient, whatever T"
    )
    processes_statement = Statement(
        "falls-with-processes", "figure 1", "more processes are less efficient, whatever T and L"
    )
    break_even_statement = Statement(
        "break-even", "text", "two processes break even at 50%, four at 25%: with more work only"
    )
    if len(known_efficiencies) < len(ALL_PROCESSES) * len(WORDS) * len(WORK_S):
        return [
            statement.unknown()
            for statement in (equation_statement, length_statement, processes_statement, break_even_statement)
        ]
    largest_difference = max(abs(value - equation_2(cell)) for cell, value in known_efficiencies.items())
    short_words, long_words = EXTREME_WORDS
    length_drops = [
        known_efficiencies[Cell(cell.processes, short_words, cell.work)] - known_efficiencies[cell]
        for cell in known_efficiencies
        if cell.message_words == long_words
    ]
    processes_drops = [
        known_efficiencies[Cell(fewer_processes, cell.message_words, cell.work)] - known_efficiencies[cell]
        for fewer_processes, more_processes in pairwise(ALL_PROCESSES)
        for cell in known_efficiencies
        if cell.processes == more_processes
    ]
    margins = [known_efficiencies[Cell(p, short_words, min(WORK_S))] - 1 / p for p in PROCESSES]
    return [
        equation_statement.check(
            largest_difference <= MAX_DIFFERENCE, f"largest difference {largest_difference:.3f}"
        ),
        length_statement.check(
            min(length_drops) > 0, f"by {min(length_drops):.3f} to {max(length_drops):.3f}"
        ),
        processes_statement.check(
            min(processes_drops) > 0, f"by {min(processes_drops):.4f} to {max(processes_drops):.3f}"
        ),
        break_even_statement.check(
            max(margins)
            < 0
            < min(known_efficiencies[Cell(p, short_words, max(WORK_S))] - 1 / p for p in PROCESSES),
            f"with T = {1e3 * min(WORK_S):g} ms and L = 1: "
            + ", ".join(
                f"{known_efficiencies[Cell(p, short_words, min(WORK_S))]:.0%} on {p}" for p in PROCESSES
            ),
        ),
    ]


def page(
    answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber], checks: Sequence[Check]
) -> Page:
    sections = [
        Section("The exchange", figures=(_exchange_figure(answers),)),
        Section(
            "Efficiency", figures=tuple(_efficiency_figure(answers, p) for p in PROCESSES), multiples=True
        ),
        Section("The model", figures=(*(_serial_figure(words) for words in EXTREME_WORDS), _levels_figure())),
    ]
    return pages.reproduction_page(
        (NAME, TITLE, PAPER_VALUES.citation), answers, comparisons, checks, _summary(comparisons), sections
    )


def _summary(comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    rows, variants = _equation_rows(comparisons), [row for row in comparisons if row.status == "variant"]
    error, variant_error = pages.largest_error(rows), pages.largest_error(variants)
    sentences = [
        "U. R. Hanebutte and M. Tatsumi describe how SUN workstations on one Ethernet cable exchange "
        "messages in pairs: Tcom = 2 (t_start + t_w (np/2) L)."
    ]
    if error is None:
        return (*sentences, "Nothing was simulated yet.")
    sentences.append(
        "The simulated cable has the paper's t_start and t_w and nothing else. On 2, 4 and 8 processes, its "
        f"exchange of {min(WORDS)} to {max(WORDS)} words differs from the formula by at most {error:.1%}."
    )
    if variant_error is not None and variant_error > max(2 * error, 0.05):
        sentences.append(
            "What the formula does not specify matters more: if the processes do not start together, or if "
            f"the cable carries one message after another, times differ from it by up to {variant_error:.0%}."
        )
    return tuple(sentences)


def _equation_rows(comparisons: Sequence[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in pages.time_rows(comparisons) if row.table == "equation 3"]


def _exchange_figure(answers: Mapping[str, Answer]) -> Figure:
    series = []
    for p in ALL_PROCESSES:
        formula = PAPER_VALUES.formula(FORMULA.format(p))
        equation_points = [(words, formula.time(WORD_BYTES * words)) for words in WORDS]
        group = f"{p} processes"
        series += [
            pages.make_series(f"{group}, equation 3", equation_points, "line", group),
            pages.make_series(
                f"{group}, simulated",
                _exchange_points(answers["exchange" if p in PROCESSES else EIGHT_PROCESSES_PART], p),
                group=group,
            ),
        ]
    max_processes = max(PROCESSES)
    series += [
        pages.make_series(
            f"{max_processes} processes, {words}", _exchange_points(answers[name], max_processes)
        )
        for name, (_, _, words) in VARIANTS.items()
    ]
    return Figure(
        "sun-exchange",
        "Equation 3: time of the round-robin exchange",
        Axis("L, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(series),
        "Lines: equation 3. Points: simulated, with all processes starting at once unless stated otherwise.",
    )


def _exchange_points(answer: Answer, processes: int) -> list[tuple[float, float | None]]:
    return [
        (words, answer.seconds("round_robin", ranks=processes, bytes=WORD_BYTES * words)) for words in WORDS
    ]


def _efficiency_figure(answers: Mapping[str, Answer], processes: int) -> Figure:
    """Draws the efficiency for each length, with the range of its runs at night."""
    series: list[Series] = []
    for words in WORDS:
        group = f"L = {words}"
        row = efficiencies.grid_cells((processes,), (words,), WORK_S)
        points = [(cell.work, efficiencies.efficiency(answers[GRID_PART], cell)) for cell in row]
        series += [
            pages.make_series(
                f"{group}, equation 2", [(cell.work, equation_2(cell)) for cell in row], "line", group
            ),
            pages.make_series(f"{group}, simulated", points, group=group),
        ]
        if (band := _night_series(answers[NIGHT_PART], row, group)) is not None:
            series.append(band)
    return Figure(
        f"sun-figure-1-{processes}",
        f"Figure 1: efficiency of {processes} processes",
        efficiencies.WORK_AXIS,
        efficiencies.EFFICIENCY_AXIS,
        tuple(series),
        f"Lines: T / (T + {processes} Tcom) with equation 3. Points: the benchmark, simulated. Bands: the "
        f"range of {NIGHTS} runs at night, each with a slower cable; how much slower is a guess.",
        marks=((processes * exchange_s(processes, 1) / (processes - 1), "break-even, L = 1"),),
    )


def _night_series(answer: Answer, row: Sequence[Cell], group: str) -> Series | None:
    """Returns the mean and the range of the launches; None if nothing was measured."""
    times_by_cell = [
        (cell, launch_seconds) for cell in row if (launch_seconds := efficiencies.launch_means(answer, cell))
    ]
    if not times_by_cell:
        return None
    launch_efficiencies = [
        [efficiencies.efficiency_of_time(cell, seconds) for seconds in launch_seconds]
        for cell, launch_seconds in times_by_cell
    ]
    return Series(
        f"{group}, {NIGHTS} runs at night",
        tuple(cell.work for cell, _ in times_by_cell),
        tuple(sum(values) / len(values) for values in launch_efficiencies),
        tuple(map(min, launch_efficiencies)),
        tuple(map(max, launch_efficiencies)),
        kind="line",
        group=group,
    )


def _serial_figure(words: int) -> Figure:
    """Draws equation 6 over the work, for serial fractions of 0 to 20%."""
    series = []
    for p in ALL_PROCESSES:
        for serial_fraction in SERIAL_FRACTIONS:
            points = [
                (
                    work,
                    work
                    / ((1 - serial_fraction) * work + p * (serial_fraction * work + exchange_s(p, words))),
                )
                for work in WORK_S
            ]
            group = f"{p} processes"
            series.append(pages.make_series(f"{group}, s = {serial_fraction:.0%}", points, "line", group))
    return Figure(
        f"sun-figure-4-{words}",
        f"Figure 4: efficiency by the model, L = {words}",
        efficiencies.WORK_AXIS,
        efficiencies.EFFICIENCY_AXIS,
        tuple(series),
        "Equation 6, T / (p T + np (s T + Tcom)), p = 1 - s, with equation 3.",
    )


def _levels_figure() -> Figure:
    """Draws equation 2 solved for T: np Tcom e / (1 - e), with Tcom for any even number of processes."""
    t_start, t_w = (PAPER_VALUES.row(f"granularity/parameter/{name}").si for name in ("t_start", "t_w"))

    def work_for_efficiency(p: int, words: int, efficiency: float) -> float:
        exchange_time = 2 * (t_start + t_w * WORD_BYTES * p / 2 * words)
        return p * exchange_time * efficiency / (1 - efficiency)

    series = [
        pages.make_series(
            f"L = {words}, {efficiency:.0%}",
            [(work_for_efficiency(p, words, efficiency), p) for p in LEVEL_PROCESSES],
            "line",
            f"L = {words}",
        )
        for words in LEVEL_WORDS
        for efficiency in EFFICIENCY_LEVELS
    ]
    return Figure(
        "sun-figure-5",
        "Figure 5: T that an efficiency needs, by the model",
        efficiencies.WORK_AXIS,
        Axis("processes", "processes", "linear"),
        tuple(series),
        "Equation 2 with equation 3 and no serial work. The paper draws the efficiency as planes over T and "
        "np, and cites an equation 7 that it does not have; these are their lines of 50% and 90%.",
    )
