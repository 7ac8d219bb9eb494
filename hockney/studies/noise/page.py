# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the time that cores lose, their detours, and the cost on many ranks."""

from __future__ import annotations

from hockney.draw.page import Page
from hockney.models.noise.noisy_cores import NOTABLE
from hockney.models.noise.spectrum import FAMILY_ERROR
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_share, quantity
from hockney.pages.study_page import section, study_page
from hockney.studies.noise import columns, figures
from hockney.studies.noise.headline import headline
from hockney.studies.noise.results import ASSUMED_LATENCY_S, NoiseResults

METHOD = (
    "Each core repeats a fixed quantum of work and times every one; a quantum that takes notably longer than "
    "the median of its neighbors contains a detour. Fixed time quanta count the work in equal windows "
    "(Sottile and Minnich, Cluster 2004). Changes of the clock frequency are not noise.",
    f"A core is noisier if it loses at least {format_share(NOTABLE)} more of its time than the median of the "
    "others, by a one-sided t-test over blocks of observations, with a false discovery rate of 5% among all "
    "cores (Benjamini and Hochberg 1995).",
    "Frequencies are peaks of the mean periodogram of the time lost, relative to neighboring frequencies, "
    f"that chance reaches in {format_share(FAMILY_ERROR)} of all runs.",
    "For the cost on many ranks, each rank replays the detours of an observed core from a random phase on, "
    "through its computing and the messages of a dissemination barrier (Hoefler, Schneider and Lumsdaine, "
    "SC 2010).",
)


def page(evidence: Evidence) -> Page:
    run = NoiseResults.of(evidence)
    sections = [
        section("Detours", figures=[figures.timeline_figure(run), figures.distribution_figure(run)]),
        section(
            "Periodic detours", figures=[figures.spectrum_figure(run)], tables=[columns.components_table(run)]
        ),
        section(
            "Cost on many ranks",
            [_message_text(run)],
            figures=[figures.costs_figure(run)],
            tables=[columns.costs_table(run)],
        ),
        section("All cores", tables=[columns.cores_table(run)] if run.cores else [], closed=True),
        quality.noise_section(evidence),
    ]
    return study_page(
        evidence,
        title="Noise of cores",
        headline=headline(run),
        sections=sections,
        method=METHOD,
        lead=figures.cores_figure(run) if run.cores else None,
    )


def _message_text(run: NoiseResults) -> str:
    if run.latency is not None:
        return f"An empty message takes {quantity(run.latency.value, 's')} between two ranks, as measured."
    return f"An empty message is assumed to take {quantity(ASSUMED_LATENCY_S, 's')}."
