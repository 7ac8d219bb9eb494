# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A printed number and the simulated one, and how many of them come how close.

What a machine's description was fitted to says nothing about how well the description predicts: such rows are
marked and counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hockney.core.platform import Platform

Status = Literal["predicted", "fitted", "variant"]
STATUSES: tuple[Status, ...] = ("predicted", "fitted", "variant")
CLOSE = (0.01, 0.05, 0.25)
"""Relative errors up to which rows are counted."""


@dataclass(frozen=True)
class Compared:
    """One printed number. `key` is that of the reference's row, `what` says it in words, `unit` is that of
    all three values. `status`: fitted when the machine's description has used this row, variant when it ran
    on a machine with a mechanism laid over (named in `mechanism`), else predicted. Where a row that is no
    variant misses, `mechanism` names what explains it. `table` groups the rows of one of the paper's tables
    or figures, `series` those that are evaluated together: `collectives` the paper's tables of collectives,
    `tried` the same numbers on a machine with a mechanism."""

    key: str
    what: str
    published: float
    simulated: float | None
    model: float | None
    unit: str
    status: Status
    mechanism: str = ""
    note: str = ""
    table: str = ""
    series: Literal["", "collectives", "tried"] = ""

    @property
    def error(self) -> float | None:
        """Relative, of the simulated value; None where there is nothing to compare."""
        if self.simulated is None or self.published == 0:
            return None
        return self.simulated / self.published - 1


@dataclass(frozen=True)
class Limit:
    """What a reproduction must keep: `what` in words with the limit's number, `found` in words with the worst
    that was found."""

    what: str
    holds: bool
    found: str


@dataclass(frozen=True)
class CloseRows:
    """How many rows of one status there are and how many come within each of CLOSE. `missing` ones were not
    measured."""

    status: Status
    rows: int
    within: tuple[int, ...]
    missing: int


def status_of(platform: Platform, key: str, mechanism: str = "") -> Status:
    """Of the row `key` on this machine: fitted also when an origin names what stands above the row
    ("t3e/table" for "t3e/table/bcast/8/32"), whether its number was fitted to the row or copied from it."""
    used = [row for origin in platform.origins for row in origin.rows]
    if any(key == row or key.startswith(f"{row.rstrip('/')}/") for row in used):
        return "fitted"
    return "variant" if mechanism else "predicted"


def tallies(compared: Iterable[Compared]) -> list[CloseRows]:
    """One for each status that occurs."""
    rows = list(compared)
    results = []
    for status in STATUSES:
        selected = [row for row in rows if row.status == status]
        errors = [abs(row.error) for row in selected if row.error is not None]
        counts = tuple(sum(error <= close for error in errors) for close in CLOSE)
        if selected:
            results.append(CloseRows(status, len(selected), counts, len(selected) - len(errors)))
    return results


def within(what: str, rows: Sequence[Compared], most: float) -> Limit:
    """Every one of `rows` has at most this relative error; a row that was not measured has not."""
    missing = sum(row.error is None for row in rows)
    measured = [row for row in rows if row.error is not None]
    worst = max(measured, key=lambda row: abs(row.error or 0.0), default=None)
    text = "nothing measured" if worst is None else f"at most {abs(worst.error or 0.0):.2%}, {worst.what}"
    if missing and worst is not None:
        text += f"; {missing} not measured"
    holds = bool(rows) and not missing and all(abs(row.error or 0.0) <= most for row in measured)
    return Limit(f"{what} within {100 * most:g}%", holds, text)
