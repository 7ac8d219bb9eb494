# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Printed numbers compared with simulated ones, and counts of how closely they agree.

Numbers to which a machine's description was fitted do not show how well it predicts. Their rows are marked
and counted separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from hockney.core.platform import Platform

T = TypeVar("T")
Status = Literal["predicted", "fitted", "variant"]
STATUSES: tuple[Status, ...] = ("predicted", "fitted", "variant")
NOT_SIMULATED_TEXT = "not simulated"
CLOSE_ERRORS = (0.01, 0.05, 0.25)
"""Relative errors within which rows are counted."""


@dataclass(frozen=True)
class ComparedNumber:
    """One printed number. `key` is the key of the reference's row, `what` describes the number, and `unit` is
    the unit of all values. `emulated` was measured with real messages on an emulated machine, and `predicted`
    was predicted from messages between two of its hosts. `status` is "fitted" if the machine's description
    used this row, "variant" if it ran on a machine with an added mechanism (named in `mechanism`), otherwise
    "predicted". If any other row disagrees, `mechanism` names the explanation. `table` groups the rows of one
    of the paper's tables or figures. `series` groups rows that are evaluated together: `collectives` are the
    paper's tables of collectives, `tried` the same numbers on a machine with a mechanism, `algorithms` the
    same numbers by each algorithm of engine/coll. A `bound` is a limit of a printed range, or a number
    printed as "more than"."""

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
    series: Literal["", "collectives", "tried", "algorithms"] = ""
    emulated: float | None = None
    predicted: float | None = None
    bound: bool = False

    @property
    def emulated_share(self) -> float | None:
        """The emulated value relative to the published one."""
        return None if self.emulated is None or not self.published else self.emulated / self.published

    @property
    def error(self) -> float | None:
        """The relative error of the simulated value; None if there is nothing to compare."""
        if self.simulated is None:
            return None
        if self.published == 0:
            return 0.0 if self.simulated == 0 else None
        return self.simulated / self.published - 1


def values_if_complete(values: Iterable[T | None]) -> list[T] | None:
    """Return the values, or None if any is missing."""
    items = list(values)
    present_values = [value for value in items if value is not None]
    return present_values if len(present_values) == len(items) else None


@dataclass(frozen=True)
class Check:
    """Whether a statement holds here. `found` is the contrary result, or the worst value. A `fitted` check
    depends only on numbers to which the machine's description was fitted: it holds by construction and is
    counted separately."""

    code: str
    where: str
    what: str
    holds: bool
    found: str
    fitted: bool = False


@dataclass(frozen=True)
class Statement:
    """A statement of a paper. `where` is a figure, a table or a section of the paper ("" for a condition of
    the reproduction itself), and `code` identifies the statement for programs."""

    code: str
    where: str
    what: str

    def check(self, holds: bool, found: str, fitted: bool = False) -> Check:
        return Check(self.code, self.where, self.what, holds, found, fitted)

    def unknown(self, reason: str = NOT_SIMULATED_TEXT) -> Check:
        """Return a check that does not hold, because there is no result."""
        return self.check(False, reason)

    def within(self, rows: Sequence[ComparedNumber], limit: float) -> Check:
        """Check whether every one of `rows` has at most this relative error. A row that was not measured does
        not."""
        missing_count = sum(row.error is None for row in rows)
        errors = {row.what: abs(row.error) for row in rows if row.error is not None}
        if not errors:
            return self.unknown()
        worst_row = max(errors, key=lambda what: errors[what])
        result = f"largest error {errors[worst_row]:.2%}, {worst_row}"
        if missing_count:
            result += f"; {missing_count} {NOT_SIMULATED_TEXT}"
        is_fitted = all(row.status == "fitted" for row in rows)
        return self.check(not missing_count and errors[worst_row] <= limit, result, is_fitted)


@dataclass(frozen=True)
class CloseRows:
    """The number of rows with one status, and how many of them are within each of CLOSE_ERRORS. `missing`
    rows were not measured."""

    status: Status
    rows: int
    within: tuple[int, ...]
    missing: int


def status_of(platform: Platform, key: str, mechanism: str = "") -> Status:
    """Return the status of the row `key` on this machine. A row is "fitted" if an origin names it or a prefix
    of it ("t3e/table" for "t3e/table/bcast/8/32"), whether its number was fitted to the row or copied from
    it."""
    used_rows = [row for origin in platform.origins for row in origin.rows]
    if any(key == row or key.startswith(f"{row.rstrip('/')}/") for row in used_rows):
        return "fitted"
    return "variant" if mechanism else "predicted"


def tally_by_status(compared: Iterable[ComparedNumber]) -> list[CloseRows]:
    """Return a tally for each status that occurs. Trials of the algorithms, bounds, and printed zeros that
    agree do not count."""
    rows = [
        row
        for row in compared
        if row.series != "algorithms" and not row.bound and not row.published == row.simulated == 0
    ]
    results = []
    for status in STATUSES:
        status_rows = [row for row in rows if row.status == status]
        errors = [abs(row.error) for row in status_rows if row.error is not None]
        counts = tuple(sum(error <= limit for error in errors) for limit in CLOSE_ERRORS)
        if status_rows:
            results.append(CloseRows(status, len(status_rows), counts, len(status_rows) - len(errors)))
    return results
