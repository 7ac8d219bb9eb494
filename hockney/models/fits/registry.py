# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every model that the records of a run allow. The one place that tells which model explains a workload."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import format_value
from hockney.core.fit import Fit, Fits
from hockney.core.record import SCHEMA, Run
from hockney.models.fits.collective import fit_collective
from hockney.models.fits.hockney import fit_hockney
from hockney.models.fits.loggp import RECEIVE, ROUND_TRIP, fit_loggp
from hockney.models.statistics.observations import Observation, observe
from hockney.models.statistics.summary import summaries

POINT_TO_POINT = ("pingpong", "pingpong_double", "stream", "stream_both", "isend_recv")
COLLECTIVES = (
    "barrier", "bcast", "gather", "scatter", "allgather", "alltoall",
    "reduce", "allreduce", "reduce_scatter_block", "scan",
)  # fmt: skip


def fit_all(run: Run, *, cores: int | None) -> Fits:
    """Summaries of all cases and fits of all subjects, in the order first written.

    `cores` leaves collectives on more ranks than that out of the fits, since ranks that share a core cost
    what the scheduler costs; None leaves none out.
    """
    seen = observe(run)
    fits: list[Fit] = []
    for subject, group in _groups(seen, POINT_TO_POINT, free=("bytes",), ranks=True).items():
        if group[0].case.ranks == 2:
            fits.append(fit_hockney(group, subject))
    fits += _loggp(seen)
    allowed = None if cores is None else range(1, cores + 1)
    for subject, group in _groups(seen, COLLECTIVES, free=("bytes",), ranks=False).items():
        fits += fit_collective(group, subject, ranks_allowed=allowed)
    return Fits(schema=SCHEMA, summaries=summaries(seen), fits=fits)


def _loggp(seen: Sequence[Observation]) -> list[Fit]:
    """PRTT and receive overhead meet where the parameters that both have agree."""
    trips = _groups(seen, (ROUND_TRIP,), free=("messages", "delay", "bytes"), ranks=True)
    receives = [each for each in seen if each.case.workload == RECEIVE]
    fits = []
    for subject, group in trips.items():
        fixed = dict(group[0].case.parameters)
        agree = [
            each
            for each in receives
            if each.case.ranks == group[0].case.ranks
            and all(fixed.get(k, v) == v for k, v in each.case.parameters if k not in ("delay", "bytes"))
        ]
        fits.append(fit_loggp([*group, *agree], subject))
    return fits


def _groups(
    seen: Sequence[Observation], workloads: Sequence[str], *, free: Sequence[str], ranks: bool
) -> dict[str, list[Observation]]:
    """Observations by subject: the workload and all parameters but the free ones, with `ranks` or not."""
    groups: dict[str, list[Observation]] = {}
    for each in seen:
        if each.case.workload in workloads:
            fixed = {k: v for k, v in each.case.parameters if k not in free}
            if ranks:
                fixed["ranks"] = each.case.ranks
            words = [f"{k}={format_value(v)}" for k, v in sorted(fixed.items())]
            groups.setdefault(" ".join([each.case.workload, *words]), []).append(each)
    return groups
