# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: speed-up, where the time goes, the cost of barriers, and all numbers."""

from __future__ import annotations

from hockney.draw.figure import Figure
from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.suites.npb.studies.npb import columns, figures
from hockney.suites.npb.studies.npb.headline import headline
from hockney.suites.npb.studies.npb.results import NpbResults, predictions

METHOD = (
    "A time is that of a benchmark's timed part, the maximum over the ranks; its rate is the official number "
    "of operations divided by it. Every run is verified with the published answers.",
    "Each rank notes when it enters and leaves a communication. After the run, these times are compared on a "
    "common clock: waiting ends when the last rank that the communication needs has entered it, and the rest "
    "is the communication itself. The parts are means over the ranks, so together they may be shorter than "
    "the time of the slowest rank.",
    "The benchmarks have no barrier in their timed part; a ratio compares runs with and without one in the "
    "same launches.",
    "The time on several ranks is predicted from that on one rank: each rank's operations in each phase at "
    "the rate of one rank, and its messages and collectives, step by step, at their costs between ranks that "
    "do nothing else.",
)


def page(evidence: Evidence) -> Page:
    run = NpbResults.of(evidence)
    lead = figures.lead_figure(run)
    sections = [
        section("Wrong answers", tables=[columns.wrong_answer_table(run)]),
        _time_section(run, lead),
        _barrier_section(run),
        _prediction_section(run),
        Section("Times and rates", tables=(columns.time_table(run),), closed=True)
        if run.barrier_free_points
        else None,
        section("Barriers in each benchmark", tables=[columns.effect_table(run)], closed=True),
        section("Phases", tables=[columns.phase_table(run)], closed=True),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="NAS Parallel Benchmarks",
        headline=headline(run),
        sections=sections,
        method=METHOD,
        lead=lead,
    )


def _time_section(run: NpbResults, lead: Figure | None) -> Section | None:
    """Returns the section on the time, with the bars unless they are the lead figure."""
    if not run.barrier_free_points:
        return None
    bars = figures.time_figure(run)
    figures_shown = () if bars is None or lead is None or bars.name == lead.name else (bars,)
    return Section("Where the time goes", figures=figures_shown, tables=(columns.benchmark_table(run),))


def _barrier_section(run: NpbResults) -> Section | None:
    table = columns.barrier_table(run)
    if table is None:
        return None
    return Section("Barriers", figures=tuple(figures.barrier_figures(run)), tables=(table,), multiples=True)


def _prediction_section(run: NpbResults) -> Section | None:
    results = predictions(run)
    table = columns.prediction_table(results)
    if table is None:
        return None
    return Section("Predicted and measured", figures=(figures.prediction_figure(results),), tables=(table,))
