# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lines in the format of the OSU Micro-Benchmarks (OMB 7: c/util/osu_util_mpi.c), for scripts that parse it.
docs/columns.md explains the numbers, and how they differ from OSU's."""

from __future__ import annotations

from hockney import __version__
from hockney.core.catalog import Workload
from hockney.core.errors import UsageError
from hockney.core.wording import join_words
from hockney.pages.evidence import Measured
from hockney.pages.format import label
from hockney.system.bundled import bundled_workloads

LATENCY, BANDWIDTH = "Avg Latency(us)", "Bandwidth (MB/s)"

TITLES = {
    ("point-to-point", "send"): ("Latency Test", LATENCY),
    ("stream", "isend"): ("Bandwidth Test", BANDWIDTH),
    ("stream", "isendrecv"): ("Bi-Directional Bandwidth Test", BANDWIDTH),
    ("collective", "allgather"): ("Allgather Latency Test", LATENCY),
    ("collective", "allgatherv"): ("Allgatherv Latency Test", LATENCY),
    ("collective", "allreduce"): ("Allreduce Latency Test", LATENCY),
    ("collective", "alltoall"): ("All-to-All Personalized Exchange Latency Test", LATENCY),
    ("collective", "alltoallv"): ("All-to-Allv Personalized Exchange Latency Test", LATENCY),
    ("collective", "bcast"): ("Broadcast Latency Test", LATENCY),
    ("collective", "gather"): ("Gather Latency Test", LATENCY),
    ("collective", "gatherv"): ("Gatherv Latency Test", LATENCY),
    ("collective", "reduce"): ("Reduce Latency Test", LATENCY),
    ("collective", "scatter"): ("Scatter Latency Test", LATENCY),
    ("collective", "scatterv"): ("Scatterv Latency Test", LATENCY),
    ("barrier", "barrier"): ("Barrier Latency Test", LATENCY),
}
"""OSU's benchmark and its unit, by role and operation. The size of osu_reduce_scatter is that of the whole
vector, not of a rank's block, and OSU has no MPI_Scan."""

SIZE, FIELD, COUNT, WITHOUT_SIZE = 10, 18, 12, 17
"""Widths of OSU's columns."""


class OsuLines:
    """`full`: with the columns of OSU's option -f."""

    def __init__(self, full: bool) -> None:
        self.full = full

    def check(self, workload: Workload) -> None:
        if (workload.role, workload.operation) not in TITLES:
            available = _equivalents()
            raise UsageError(
                f"--format osu does not apply to {workload.name}",
                f"OSU's benchmarks have equivalents only of {join_words(available)}",
                "use --format plain",
                code="no-osu-benchmark",
                workload=workload.name,
                available=list(available),
            )

    def heading(self, first: Measured) -> list[str]:
        title, measures = TITLES[first.workload.role, first.workload.operation]
        heads = measures.rjust(FIELD)
        head = f"{'# Size':<{SIZE}}{heads}" if first.workload.size else f"# {measures}"
        if self.full and measures == LATENCY:
            head += f"{'Min Latency(us)':>{FIELD}}{'Max Latency(us)':>{FIELD}}{'Iterations':>{COUNT}}"
        return [
            "",
            f"# OSU MPI {title} v{__version__}-hockney",
            f"# {label(first, first.workload.size)}: typical times, a robust mean",
            head,
        ]

    def line(self, measured: Measured) -> str:
        summary = measured.summary
        _, measures = TITLES[measured.workload.role, measured.workload.operation]
        typical = summary.typical.value
        if measures == BANDWIDTH:
            value = summary.bytes_moved / typical / 1e6 if typical else 0.0
        else:
            value = 1e6 * typical
        size = f"{measured.size:<{SIZE}.0f}" if measured.has_size else ""
        text = f"{size}{value:>{FIELD if size else WITHOUT_SIZE}.2f}"
        if self.full and measures == LATENCY:
            low, high = 1e6 * (summary.min_s or 0.0), 1e6 * (summary.max_s or 0.0)
            text += f"{low:>{FIELD}.2f}{high:>{FIELD}.2f}{summary.operations:>{COUNT}}"
        return text


def _equivalents() -> list[str]:
    """The names of the workloads that have an OSU benchmark."""
    return sorted(w.name for w in bundled_workloads().values() if (w.role, w.operation) in TITLES)
