# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A profile as tables: its call sites with the parts of their times, its ranks, and its messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from hockney.api.tables import Cell, Rows
from hockney.core.errors import unknown
from hockney.profiles.explanation import Explanation, Parts


def profile_rows(explanation: Explanation, name: str) -> Rows:
    """The table `name` of an explained launch. Raises UsageError for another one."""
    if name not in TABLES:
        raise unknown("table of a profile", name, TABLES, code="unknown-profile-table")
    return TABLES[name](explanation)


def call_rows(explanation: Explanation) -> Rows:
    """A row for each function at each call site, the longest first; all ranks together. Times are seconds: of
    all calls, of the shortest and the longest one, and the parts of the time of all."""
    rows = explanation.rows
    frames = [explanation.site(row).frame for row in rows]
    columns: dict[str, Sequence[Cell]] = {
        "function": [f"MPI_{row.name}" for row in rows],
        "caller": [frame.function for frame in frames],
        "file": [frame.file for frame in frames],
        "line": [frame.line or None for frame in frames],
        "module": [frame.module for frame in frames],
        "offset": [frame.offset for frame in frames],
        "calls": [int(row.calls) for row in rows],
        "bytes": [float(row.bytes) for row in rows],
        "time_s": [float(row.seconds) for row in rows],
        "min_s": [float(row.least) for row in rows],
        "max_s": [float(row.most) for row in rows],
    }
    columns |= _part_columns([row.parts for row in rows])
    columns["price_s"] = [row.price_s for row in rows]
    columns["price_high_s"] = [row.price_high_s for row in rows]
    columns["recording_s"] = [float(row.recording_s) for row in rows]
    return Rows.of(columns)


def rank_rows(explanation: Explanation) -> Rows:
    """A row for each rank: elapsed seconds from MPI_Init to MPI_Finalize, those in MPI and outside, and the
    parts of the time in MPI."""
    ranks = explanation.launch.ranks
    columns: dict[str, Sequence[Cell]] = {
        "rank": [rank.label for rank in ranks],
        "host": [rank.hostname for rank in ranks],
        "elapsed_s": [float(rank.elapsed_s) for rank in ranks],
        "mpi_s": [float(rank.in_mpi_s) for rank in ranks],
        "outside_s": [float(rank.outside_s) for rank in ranks],
        "calls": [int(rank.calls) for rank in ranks],
        "threads": [int(rank.threads) for rank in ranks],
        "finished": [bool(rank.finished) for rank in ranks],
    }
    return Rows.of(columns | _part_columns(explanation.rank_parts))


def message_rows(explanation: Explanation) -> Rows:
    """A row for each pair of ranks that exchanged messages."""
    launch = explanation.launch
    senders, receivers = np.nonzero((launch.sent > 0) | (launch.messages > 0))
    labels = [rank.label for rank in launch.ranks]
    return Rows.of(
        {
            "sender": [labels[k] for k in senders],
            "receiver": [labels[k] for k in receivers],
            "messages": [int(launch.messages[i, k]) for i, k in zip(senders, receivers, strict=True)],
            "bytes": [float(launch.sent[i, k]) for i, k in zip(senders, receivers, strict=True)],
        }
    )


TABLES: dict[str, Callable[[Explanation], Rows]] = {
    "calls": call_rows,
    "ranks": rank_rows,
    "messages": message_rows,
}


def _part_columns(parts: Sequence[Parts]) -> dict[str, Any]:
    return {f"{f.name}_s": [float(getattr(each, f.name)) for each in parts] for f in fields(Parts)}
