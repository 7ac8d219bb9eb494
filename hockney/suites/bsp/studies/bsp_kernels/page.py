# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: errors of the predictions, the assumptions that fail, the paper's figures, and the parameters."""

from __future__ import annotations

from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.suites.bsp.studies.bsp_kernels import columns, figures
from hockney.suites.bsp.studies.bsp_kernels.headline import headline
from hockney.suites.bsp.studies.bsp_kernels.results import KernelResults
from hockney.suites.bsp.studies.bsp_parameters import columns as parameters
from hockney.suites.bsp.studies.bsp_parameters.results import ParameterResults

METHOD = (
    "Each kernel states its supersteps: local work, bytes, packets and messages. Models turn these into "
    "times, with parameters and local rates that were measured separately in the same launches. No "
    "prediction uses the run of a kernel.",
    "Each repair drops one assumption of a model: docs/models.md lists them. An assumption is named if its "
    "repair alone removes most of an error of more than 10%, and at least a third of it.",
)


def page(evidence: Evidence) -> Page:
    run, costs = KernelResults.of(evidence), ParameterResults.of(evidence)
    sections = [
        section("Which assumption fails where", tables=[columns.failure_table(run)]),
        Section("Errors", tables=(columns.error_table(run), columns.median_table(run)))
        if run.points
        else None,
        Section("The paper's figures", figures=tuple(figures.figures(run)), multiples=True),
        Section("Parameters", tables=(parameters.parameter_table(costs),), closed=True),
        section("Local work", tables=[parameters.rate_table(costs)], closed=True),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Kernels and bulk synchronous models",
        headline=headline(run) if evidence.measured else ("Nothing was measured.",),
        sections=sections,
        method=METHOD,
        lead=figures.error_figure(run),
    )
