# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for programs (`--json`), in sentences, and the tables below these on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney.core.fit import Estimate, Fit
from hockney.core.wording import plural
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.pages.format import in_brackets, ratio_bounds
from hockney.suites.bsp.studies.bsp_parameters import tables
from hockney.suites.bsp.studies.bsp_parameters.results import METHODS, ParameterResults, rate
from hockney.suites.bsp.studies.bsp_parameters.tables import UNITS


def headline(run: ParameterResults) -> tuple[str, ...]:
    """The parameters in sentences, for the largest number of ranks with a core for each; if there is none,
    for the smallest."""
    if not run.ranks:
        return ("No relation or permutation could be fitted: measure more sizes, or fewer ranks.",)
    ranks = run.ranks[-1]
    texts = []
    g, superstep = run.estimate("g", ranks), run.estimate("L", ranks)
    if g is not None and superstep is not None:
        texts.append(
            f"{plural(ranks, 'rank')}: a word of an h-relation costs g = {in_brackets(g, 's')}, and a "
            f"superstep L = {in_brackets(superstep, 's')}." + _if_poor(run.fit("g", ranks))
        )
    factor = run.combining(ranks)
    if factor is not None:
        texts.append(
            f"A word that is sent at once as an MPI message takes {factor.value:.3g} times as long as a "
            f"combined one{ratio_bounds(factor)}." + _if_poor(run.fit("g", ranks, "mpi"))
        )
    sigma, startup = run.estimate("sigma", ranks), run.estimate("l", ranks)
    if sigma is not None and startup is not None:
        texts.append(
            f"A byte of a block costs sigma = {in_brackets(sigma, 's/B')}, and a block "
            f"l = {in_brackets(startup, 's')}." + _if_poor(run.fit("sigma", ranks))
        )
    return tuple(texts)


def _if_poor(fit: Fit | None) -> str:
    """A sentence about the fit from which the numbers before it are."""
    return f" This fit is poor: {fit.why}." if fit is not None and fit.verdict == "poor" else ""


def summary(evidence: Evidence) -> Sequence[Table]:
    return (tables.parameters(ParameterResults.of(evidence)),)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every parameter at each number of ranks, and every local rate. In seconds, seconds per byte, and
    operations per second; null for an unknown end of an interval."""
    run = ParameterResults.of(evidence)
    return {
        "parameters": [
            {"ranks": ranks, "symbol": symbol, "unit": UNITS[symbol], **_interval(estimate)}
            for ranks in run.ranks
            for symbol in UNITS
            if (estimate := run.estimate(symbol, ranks)) is not None
        ],
        "methods": [
            {"ranks": ranks, "method": method, "g_s": g.value, "L_s": startup.value}
            for ranks in run.ranks
            for method in METHODS
            if (g := run.estimate("g", ranks, method)) is not None
            and (startup := run.estimate("L", ranks, method)) is not None
        ],
        "combining": [
            {"ranks": ranks, "factor": factor and factor.value, **_ends(factor)}
            for ranks in run.ranks
            for factor in [run.combining(ranks)]
        ],
        "rates": [
            {"case": m.case.line, "operation": m.workload.operation, **_interval(speed)}
            for m in run.rates
            if (speed := rate(m)) is not None
        ],
    }


def _interval(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, **_ends(estimate)}


def _ends(estimate: Estimate | None) -> dict[str, float | None]:
    return {"low": None, "high": None} if estimate is None else {"low": estimate.low, "high": estimate.high}
