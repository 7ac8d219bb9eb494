# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences."""

from __future__ import annotations

from hockney.core.fit import Fit
from hockney.core.wording import plural
from hockney.pages.format import ratio_interval_suffix, with_bracketed_interval
from hockney.suites.bsp.studies.bsp_parameters.results import ParameterResults


def headline(run: ParameterResults) -> tuple[str, ...]:
    """Returns sentences on the parameters for the largest number of ranks with one core each, or else for the
    smallest number."""
    if not run.ranks:
        return ("No relation or permutation could be fitted: measure more sizes, or fewer ranks.",)
    ranks = run.ranks[-1]
    sentences = []
    g, superstep = run.estimate("g", ranks), run.estimate("L", ranks)
    if g is not None and superstep is not None:
        sentences.append(
            f"{plural(ranks, 'rank')}: a word of an h-relation costs g = "
            f"{with_bracketed_interval(g, 's')}, and a "
            f"superstep L = {with_bracketed_interval(superstep, 's')}."
            + _poor_fit_warning(run.fit("g", ranks))
        )
    factor = run.combining_gain(ranks)
    if factor is not None:
        sentences.append(
            f"A word that is sent at once as an MPI message takes {factor.value:.3g} times as long as a "
            f"combined one{ratio_interval_suffix(factor)}." + _poor_fit_warning(run.fit("g", ranks, "mpi"))
        )
    sigma, startup = run.estimate("sigma", ranks), run.estimate("l", ranks)
    if sigma is not None and startup is not None:
        sentences.append(
            f"A byte of a block costs sigma = {with_bracketed_interval(sigma, 's/B')}, and a block "
            f"l = {with_bracketed_interval(startup, 's')}." + _poor_fit_warning(run.fit("sigma", ranks))
        )
    return tuple(sentences)


def _poor_fit_warning(fit: Fit | None) -> str:
    """Returns a sentence if the fit that gave the preceding numbers is poor."""
    return f" This fit is poor: {fit.why}." if fit is not None and fit.verdict == "poor" else ""
