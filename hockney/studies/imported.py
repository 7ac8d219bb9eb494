# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of imported numbers: the time of each case against its size. hockney did not measure them."""

from __future__ import annotations

from dataclasses import replace

from hockney.core.case import Case
from hockney.core.catalog import PING_PONG, Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.wording import join_words, list_names, plural
from hockney.draw.page import Page
from hockney.pages.evidence import Evidence, MeasuredCase, Options
from hockney.pages.format import quantity
from hockney.pages.labels import case_labels
from hockney.studies import ad_hoc

NAME = "imported"
HELP = "the numbers that another benchmark printed; runs nothing: hockney import FILE"
MAX_NAMES, MAX_COSTS = 6, 4


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    raise UsageError(
        "imported numbers cannot be measured",
        "another benchmark printed them",
        "'hockney import FILE' makes a run of them",
        code="imported-numbers",
    )


def page(evidence: Evidence) -> Page:
    return replace(ad_hoc.page(evidence), title=evidence.machine.cpu, headline=_headline(evidence))


def _headline(evidence: Evidence) -> tuple[str, ...]:
    """The workloads, the cost of a message, and the shortest operations on the largest number of ranks."""
    names = list_names(sorted({result.case.workload for result in evidence.measured}), MAX_NAMES)
    counts = sorted({result.case.ranks for result in evidence.measured})
    if not counts:
        return ("Nothing was measured.",)
    launches = plural(len(evidence.run.launches), "launch", "launches")
    cases = plural(len(evidence.measured), "case")
    texts = [f"{cases} from {launches}, on {join_words(counts)} ranks: {names}."]
    for fit in evidence.fits.select_by_role("hockney", *PING_PONG):
        parameters = {parameter.symbol: parameter.estimate.value for parameter in fit.parameters}
        if fit.verdict != "refused" and {"t_0", "r_inf"} <= parameters.keys():
            words = (
                f"t_0 = {quantity(parameters['t_0'], 's')} and r_inf = {quantity(parameters['r_inf'], 'B/s')}"
            )
            texts.append(f"{fit.subject.workload}: {words}; the fit is {fit.verdict}.")
    label = case_labels(evidence)
    smallest_by_workload: dict[str, MeasuredCase] = {}
    for result in evidence.measured:
        if result.case.ranks == counts[-1] and (
            result.case.workload not in smallest_by_workload
            or result.size < smallest_by_workload[result.case.workload].size
        ):
            smallest_by_workload[result.case.workload] = result
    for result in list(smallest_by_workload.values())[:MAX_COSTS]:
        texts.append(f"{label(result.case.line)}: {quantity(result.summary.typical.value, 's')}.")
    return tuple(texts)
