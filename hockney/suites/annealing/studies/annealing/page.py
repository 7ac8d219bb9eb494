# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the recommended set-up, where the time goes, steps and energies over time, quality, load
balancing, and predictions."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.wording import join_words, list_names, plural
from hockney.draw.figure import Figure
from hockney.draw.page import Caveat, Page, Section
from hockney.pages import caveats as general_caveats
from hockney.pages import quality as quality_sections
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_share
from hockney.pages.study_page import section, study_page
from hockney.suites.annealing.studies.annealing import columns, figures
from hockney.suites.annealing.studies.annealing.choice import MIN_SEEDS, quality_on
from hockney.suites.annealing.studies.annealing.headline import headline
from hockney.suites.annealing.studies.annealing.results import AnnealingResults, predictions

MAX_SUM_ERROR = 0.01
"""Maximum relative difference between a rank's time and the sum of its parts without a caveat."""

METHOD = (
    "A time is that of a whole annealing, the maximum over the ranks. Its rate is the number of steps of all "
    "walkers divided by it. Every final energy is computed again from the state after the run.",
    "Each rank's time is divided into computation, posting (calls that start communication), testing "
    "(MPI_Test), waiting (also blocking calls) and balancing (moving walkers).",
    "Repetition i of a case has the seed 1 + i modulo the number of seeds, for all set-ups, so that their "
    "energies are compared in pairs with the same seed; intervals are Student's over the seeds. The time to "
    "a target is the expected running time: the time of all runs over the number of those that reach it; the "
    "interval of its ratio is that of the jackknife over the seeds.",
    "Without a given target, energies over time are known for the last run of each launch. Times until an "
    "energy is reached are parts of a run times its typical time, so that a delayed run does not count as a "
    "property of its seed; the interval of a ratio has the errors of both typical times as well.",
    "The share of communication is predicted from the rounds of one rank with as many walkers as each of "
    "several ranks has, which vary independently on each rank, and from a ping-pong, MPI_Bcast and "
    "MPI_Gather of the paper's messages.",
)


def page(evidence: Evidence) -> Page:
    run = AnnealingResults.of(evidence)
    lead = figures.relative_time_figure(run, run.headline_ranks) or figures.time_figure(run)
    sections = [
        Section("Set-ups", tables=(columns.setup_table(run),)) if run.comparable_points else None,
        _time_section(run, lead),
        section("Steps over time", figures=figures.step_figures(run)),
        _quality_section(run),
        section("Load balancing", tables=[columns.balancing_table(run)]),
        _prediction_section(run),
        quality_sections.noise_section(evidence),
        quality_sections.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Annealing: blocking, nonblocking or not at all",
        headline=headline(run),
        sections=sections,
        method=METHOD,
        lead=lead,
        warnings=(*(caveat.caveat for caveat in general_caveats.caveats(evidence)), *_caveats(run)),
    )


def _time_section(run: AnnealingResults, lead: Figure | None) -> Section | None:
    time_figure = figures.time_figure(run)
    if time_figure is None:
        return None
    section_figures = () if lead is not None and lead.name == time_figure.name else (time_figure,)
    return Section("Where the time goes", figures=section_figures, tables=(columns.paper_table(run),))


def _quality_section(run: AnnealingResults) -> Section | None:
    tables = [
        make_table(run, ranks)
        for ranks in run.rank_counts
        for make_table in (columns.energy_table, columns.target_table)
    ]
    return section("Quality", figures=figures.energy_figures(run), tables=tables)


def _prediction_section(run: AnnealingResults) -> Section | None:
    results = predictions(run)
    table = columns.prediction_table(run, results)
    if table is None:
        return None
    return Section("Predicted and measured", figures=(figures.prediction_figure(results),), tables=(table,))


def _caveats(run: AnnealingResults) -> Iterator[Caveat]:
    """Yields the caveats of this study."""
    qualities = [quality_on(run, ranks) for ranks in run.rank_counts]
    min_seed_count = min(
        (quality.min_seed_count for quality in qualities if len(quality.points) > 1), default=MIN_SEEDS
    )
    if min_seed_count < MIN_SEEDS:
        yield Caveat(
            "few-seeds",
            f"energies were compared over {plural(min_seed_count, 'seed')} only: the intervals hold if the "
            f"differences between seeds are normal, which fewer than {MIN_SEEDS} seeds cannot show",
            "energies and times to target",
            "measure longer (--budget), or use a smaller problem, fewer steps or temperatures",
        )
    inconsistent_seeds = {
        p.label: count
        for quality in qualities
        for p in quality.points
        if (count := quality.count_inconsistent_seeds(p))
    }
    if inconsistent_seeds:
        yield Caveat(
            "not-reproducible",
            f"runs of {join_words(list(inconsistent_seeds))} with the same seed found different "
            "energies (for "
            f"{plural(max(inconsistent_seeds.values()), 'seed')}): the arrival times of messages "
            "decide which "
            "schedule is used",
            f"energies of {list_names(list(inconsistent_seeds))}",
            "if results must be reproducible, choose a variant that waits, or lag=1",
        )
    worst_point = max(run.points, key=lambda p: p.sum_error, default=None)
    if worst_point is not None and worst_point.sum_error > MAX_SUM_ERROR:
        yield Caveat(
            "parts-do-not-add-up",
            f"the parts of the time of {worst_point.label} on {plural(worst_point.ranks, 'rank')} "
            "differ from the whole "
            f"by {format_share(worst_point.sum_error)}",
            "shares of computation and communication",
            "measure again on a quiet machine: a rank may have lost its core between two readings of the "
            "clock",
        )
