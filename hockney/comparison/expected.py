# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which cases a run should have measured, because its plan or a run of the same study has them.

Cases that the user typed, another study, and other ranks or sizes are a choice. A workload that a study
leaves out, as after an update of the MPI or of hockney, is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from hockney.core.case import Case

AD_HOC = "cases"
"""The study of cases that the user typed."""


def lacking(
    there: Iterable[Case],
    here: Collection[Case],
    planned: Collection[Case],
    size_of: Callable[[Case], float],
    *,
    same_study: bool,
) -> set[Case]:
    """The cases `there` that are missing `here` although they were `planned`; with `same_study`, also those
    of workloads that are neither here nor planned, if other cases have the same number of ranks and size."""
    workloads = {case.workload for case in (*here, *planned)}
    measured = {(case.ranks, size_of(case)) for case in (*here, *planned)}
    ranks = {count for count, _ in measured}

    def left_out(case: Case) -> bool:
        if not same_study or case.workload in workloads:
            return False
        size = size_of(case)
        return (case.ranks, size) in measured if size else case.ranks in ranks

    return {case for case in there if case not in here and (case in planned or left_out(case))}


def same_study(a: Collection[str], b: Collection[str]) -> bool:
    """Whether all runs of two sides have one study, which is not that of typed cases. Those of papers and of
    imported logs are not planned."""
    names = {*a, *b}
    return len(names) == 1 and not names & {AD_HOC, "published", "import", "imported", ""}
