# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: measured and predicted times of an iteration, and their parts."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.series import points
from hockney.pages.study_page import section, study_page
from hockney.studies.program import columns
from hockney.studies.program.explorer import explorer
from hockney.studies.program.headline import headline
from hockney.studies.program.results import ProgramPoint, ProgramResults

METHOD = (
    "The skeleton of a program computes for as long as its description gives, sends messages of the same "
    "sizes in the same order, and calls the same collectives; its data are made up and verified. Computation "
    "is a calibrated loop in registers; on a simulated machine, the time passes. Iterations follow one "
    "another without a barrier.",
    "The prediction is that of 'hockney predict', from the costs that this run has measured or from the "
    "description of a simulated machine.",
)


def page(evidence: Evidence) -> Page:
    results = ProgramResults.of(evidence)
    names = list(dict.fromkeys(point.name for point in results.points))
    time_figures = [
        _time_figure(name, [p for p in results.points if p.name == name], results.method) for name in names
    ]
    return study_page(
        evidence,
        title=", ".join(names) or "Nothing measured",
        headline=headline(results),
        sections=[
            section("More programs", figures=time_figures[1:]),
            section("Measured and predicted", tables=[columns.times_table(results)]),
            *_explorer_sections(results),
            quality.noise_section(evidence),
            quality.verification_section(evidence),
        ],
        lead=time_figures[0] if time_figures else None,
        method=METHOD,
    )


def _explorer_sections(results: ProgramResults) -> list[Section]:
    """The explorers of the programs; none if the costs of communication are unknown."""
    costs = results.costs
    if costs is None:
        return []
    max_measured_ranks = max((point.ranks for point in results.points), default=1)
    max_ranks = None if costs.platform is None else costs.platform.capacity
    return [
        Section("What if", widget=explorer(program.name, program, costs, max_measured_ranks, max_ranks))
        for program in results.programs
    ]


def _time_figure(name: str, measured: Sequence[ProgramPoint], method: str) -> Figure:
    figure_name = name.replace(" ", "-")
    predicted = [
        (float(point.ranks), point.predicted_s) for point in measured if point.predicted_s is not None
    ]
    x, y = zip(*predicted, strict=True) if predicted else ((), ())
    return Figure(
        f"program-{figure_name}",
        f"{name}: time of an iteration",
        Axis("ranks", "", "log"),
        Axis("time", "s"),
        (
            points(
                method,
                [point.measured for point in measured],
                lambda result: result.case.ranks,
                lambda result: result.summary.typical,
            ),
            Series("predicted", x, y, kind="line"),
        ),
    )
