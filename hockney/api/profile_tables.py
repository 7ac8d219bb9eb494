# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a profile: call sites with the parts of their times, ranks, and messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from hockney.api.tables import Cell, Rows
from hockney.core.errors import unknown
from hockney.profiles.explanation import Explanation, Parts


def profile_table(explanation: Explanation, name: str) -> Rows:
    """Return the table `name` of an explained launch. Raises UsageError for an unknown name."""
    if name not in TABLES:
        raise unknown("table of a profile", name, TABLES, code="unknown-profile-table")
    return TABLES[name](explanation)


def call_table(explanation: Explanation) -> Rows:
    """Table with one row per function and call site, longest first, summed over the ranks. Times in seconds
    are the total with its parts, and those of the shortest and longest call."""
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


def rank_table(explanation: Explanation) -> Rows:
    """Table with one row per rank: elapsed seconds from MPI_Init to MPI_Finalize, seconds inside and outside
    MPI, and the parts of the time in MPI."""
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


def message_table(explanation: Explanation) -> Rows:
    """Table with one row per pair of ranks that exchanged messages."""
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
    "calls": call_table,
    "ranks": rank_table,
    "messages": message_table,
}


def _part_columns(parts: Sequence[Parts]) -> dict[str, Any]:
    return {
        f"{field.name}_s": [float(getattr(part, field.name)) for part in parts] for field in fields(Parts)
    }
