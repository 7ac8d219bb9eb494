# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the numbers of ranks, and the answer for programs (`--json`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    TEXT_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_signed_tenths
from hockney.studies.program.results import ProgramPoint, ProgramResults

ERROR = Format(format_signed_tenths)
NO_PREDICTION = "costs unknown"
COLUMNS: tuple[Column[ProgramPoint], ...] = (
    Column("", lambda p: p.measured.case.line, key="case"),
    Column("program", lambda p: p.name, TEXT_FORMAT, "program"),
    Column("ranks", lambda p: p.ranks, COUNT_FORMAT, "ranks"),
    Column("iteration", lambda p: p.time, SECONDS_FORMAT, "iteration_s", INTERVAL_HEADING),
    Column("predicted", lambda p: p.predicted_s, SECONDS_FORMAT, "predicted_s", missing=NO_PREDICTION),
    Column("difference", lambda p: p.error, ERROR, "error"),
    Column("computation", lambda p: p.measured_part("computation"), SECONDS_FORMAT, "computation_s"),
    Column(
        "predicted computation",
        lambda p: p.predicted_part("computation"),
        SECONDS_FORMAT,
        "predicted_computation_s",
    ),
    Column("communication", lambda p: p.measured_part("communication"), SECONDS_FORMAT, "communication_s"),
    Column(
        "predicted communication",
        lambda p: p.predicted_part("communication"),
        SECONDS_FORMAT,
        "predicted_communication_s",
    ),
    Column("disagreement", lambda p: p.disagreement, TEXT_FORMAT, "disagreement"),
    Column("", lambda p: p.predicted and p.predicted.contention, key="shared_links_followed"),
)
CAPTION = (
    "An iteration of the skeleton as measured, and as predicted from the description and the costs of "
    "messages and collectives. Communication includes waiting; parts are means over the ranks."
)


def times_table(results: ProgramResults) -> Table:
    return columns_table("program", "Measured and predicted", COLUMNS, results.points, CAPTION)


def summary(evidence: Evidence) -> Sequence[Table]:
    return (times_table(ProgramResults.of(evidence)),)


def answer(evidence: Evidence) -> Mapping[str, Any]:
    return {"programs": columns_document(COLUMNS, ProgramResults.of(evidence).points)}
