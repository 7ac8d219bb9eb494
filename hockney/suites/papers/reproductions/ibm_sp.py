# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The IBM SPx of Hanebutte and Tatsumi (1996), figures 2 and 3: the efficiency of their benchmark on 2 and
4 processes. The paper draws curves without numbers and describes their shape. Every cost of the simulated
machine is a guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney import reference
from hockney.core.catalog import Catalog
from hockney.draw.figure import Figure, Series
from hockney.draw.page import Page, Section
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, values_if_complete
from hockney.reproductions.parts import Answer, Part
from hockney.suites.papers.reproductions import efficiencies
from hockney.suites.papers.reproductions.efficiencies import Cell

NAME = "ibm-sp"
TITLE = "IBM SPx: efficiency on 2 and 4 processes"
PAPER = "granularity"
FIGURES = {str(number): f"ibm-sp-figure-{number}" for number in (2, 3)}
PAPER_VALUES = reference.published(PAPER)

AXIS_STARTS = {2: 0.8, 4: 0.6}
"""Start of the efficiency axis in the paper's figure, by processes: no efficiency is below it."""
WORDS = (1, 10, 100, 1000, 10000)
FIGURE_NUMBERS = {2: 2, 4: 3}
"""The number of the paper's figure, by processes."""
NARROW_BAND_WORDS = 1000
"""Maximum words of the messages whose efficiencies are within a narrow band."""
WORK_S = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
ITERATIONS = 20
NARROW_BAND_WIDTH, MIN_CLEAR_DROP = 0.05, 0.05
"""The width of a narrow band, and a clear drop, in efficiency."""
GRID_PART = "efficiency"


def parts(catalog: Catalog) -> list[Part]:
    grid = efficiencies.grid_cells(AXIS_STARTS, WORDS, WORK_S)
    return [Part(GRID_PART, "ibm-sp", efficiencies.cases(catalog, grid, ITERATIONS))]


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    """Returns no rows, since the paper prints no number for this machine."""
    return []


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    return [
        check
        for p, figure in FIGURE_NUMBERS.items()
        for check in _figure_checks(answers[GRID_PART], p, figure)
    ]


def _figure_checks(grid: Answer, processes: int, figure: int) -> list[Check]:
    """Checks a figure by the efficiencies with the least work, where they differ most."""
    axis_start, max_words, source = AXIS_STARTS[processes], max(WORDS), f"figure {figure}"
    location = f"on {processes} processes"
    narrow_statement, drop_statement, axis_statement = (
        Statement(f"{code}-{processes}", source, claim)
        for code, claim in (
            ("narrow-band", f"{location}, messages of 1 to {NARROW_BAND_WORDS} words lie in a narrow band"),
            ("drop", f"{location}, messages of {max_words} words drop clearly"),
            ("axis", f"no efficiency {location} is below {axis_start:g}, where the axis begins"),
        )
    )
    values = values_if_complete(
        efficiencies.efficiency(grid, Cell(processes, words, min(WORK_S))) for words in WORDS
    )
    if values is None:
        return [narrow_statement.unknown(), drop_statement.unknown(), axis_statement.unknown()]
    known_efficiencies = dict(zip(WORDS, values, strict=True))
    band = [value for words, value in known_efficiencies.items() if words <= NARROW_BAND_WORDS]
    drop, lowest_efficiency = (
        known_efficiencies[NARROW_BAND_WORDS] - known_efficiencies[max_words],
        min(values),
    )
    return [
        narrow_statement.check(
            max(band) - min(band) <= NARROW_BAND_WIDTH, f"{min(band):.3f} to {max(band):.3f}"
        ),
        drop_statement.check(drop >= MIN_CLEAR_DROP, f"by {drop:.3f}"),
        axis_statement.check(
            lowest_efficiency >= axis_start,
            f"at least {lowest_efficiency:.3f}, with T from {1e3 * min(WORK_S):g} ms on",
        ),
    ]


def page(
    answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber], checks: Sequence[Check]
) -> Page:
    held_count = sum(check.holds for check in checks)
    summary = (
        "U. R. Hanebutte and M. Tatsumi draw the efficiency of an IBM SPx on 2 and 4 processes without "
        "numbers.",
        f"Every cost of the simulated machine is a guess: some 45 us and 35 MB/s. With it, {held_count} of "
        f"{len(checks)} statements about the curves hold.",
    )
    series = [_efficiency_figure(answers[GRID_PART], p, number) for p, number in FIGURE_NUMBERS.items()]
    sections = [Section("Efficiency", figures=tuple(series), multiples=True)]
    return pages.reproduction_page(
        (NAME, TITLE, PAPER_VALUES.citation), answers, comparisons, checks, summary, sections, lead=series[-1]
    )


def _efficiency_figure(grid: Answer, processes: int, number: int) -> Figure:
    series: list[Series] = []
    for words in WORDS:
        row = efficiencies.grid_cells((processes,), (words,), WORK_S)
        points = [(cell.work, efficiencies.efficiency(grid, cell)) for cell in row]
        series.append(pages.make_series(f"L = {words}, simulated", points, group=f"L = {words}"))
    return Figure(
        f"ibm-sp-figure-{number}",
        f"Figure {number}: efficiency of {processes} processes",
        efficiencies.WORK_AXIS,
        efficiencies.EFFICIENCY_AXIS,
        tuple(series),
        "The benchmark, simulated on a machine whose every cost is a guess. The paper's axis begins at "
        f"{AXIS_STARTS[processes]:g}.",
    )
