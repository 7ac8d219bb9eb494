# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Printed numbers compared with simulated ones, and how many of them agree how closely.

Numbers to which a machine's description was fitted do not show how well it predicts: such rows are marked and
counted separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from hockney.core.platform import Platform

T = TypeVar("T")
Status = Literal["predicted", "fitted", "variant"]
STATUSES: tuple[Status, ...] = ("predicted", "fitted", "variant")
NOT_SIMULATED = "not simulated"
CLOSE = (0.01, 0.05, 0.25)
"""Relative errors up to which rows are counted."""


@dataclass(frozen=True)
class ComparedNumber:
    """One printed number. `key` is that of the reference's row, `what` describes it, `unit` is that of all
    values. `emulated` was measured with real messages on an emulated machine, and is `predicted` from
    messages between two of its hosts. `status`: fitted if the machine's description has used this row,
    variant if it ran on a machine with an added mechanism (named in `mechanism`), otherwise predicted. If a
    row that is not a variant disagrees, `mechanism` names the explanation. `table` groups the rows of one of
    the paper's tables or figures, `series` those that are evaluated together: `collectives` the paper's
    tables of collectives, `tried` the same numbers on a machine with a mechanism, `algorithms` the same by
    each algorithm of engine/coll. A `bound` is the end of a printed range, or "more than" a number."""

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
        """Relative error of the simulated value; None if there is nothing to compare."""
        if self.simulated is None:
            return None
        if self.published == 0:
            return 0.0 if self.simulated == 0 else None
        return self.simulated / self.published - 1


def all_known(values: Iterable[T | None]) -> list[T] | None:
    """The values; None if any is missing."""
    every = list(values)
    known = [value for value in every if value is not None]
    return known if len(known) == len(every) else None


@dataclass(frozen=True)
class Check:
    """Whether a statement holds here; `found` is what was found instead, or the worst value. A `fitted` one
    rests only on numbers to which the machine's description was fitted: it holds by construction, and is
    counted separately."""

    code: str
    where: str
    what: str
    holds: bool
    found: str
    fitted: bool = False


@dataclass(frozen=True)
class Statement:
    """Something that a paper states, `where`: a figure, a table or a section of it ("" for a condition of the
    reproduction itself). `code` names it for programs."""

    code: str
    where: str
    what: str

    def check(self, holds: bool, found: str, fitted: bool = False) -> Check:
        return Check(self.code, self.where, self.what, holds, found, fitted)

    def unknown(self, why: str = NOT_SIMULATED) -> Check:
        """Nothing can be said about it, so it does not hold."""
        return self.check(False, why)

    def within(self, rows: Sequence[ComparedNumber], limit: float) -> Check:
        """Whether every one of `rows` has at most this relative error; a row that was not measured does
        not."""
        missing = sum(row.error is None for row in rows)
        errors = {row.what: abs(row.error) for row in rows if row.error is not None}
        if not errors:
            return self.unknown()
        worst = max(errors, key=lambda what: errors[what])
        found = f"largest error {errors[worst]:.2%}, {worst}"
        if missing:
            found += f"; {missing} {NOT_SIMULATED}"
        fitted = all(row.status == "fitted" for row in rows)
        return self.check(not missing and errors[worst] <= limit, found, fitted)


@dataclass(frozen=True)
class CloseRows:
    """The number of rows of one status and how many of them are within each of CLOSE. `missing` ones were not
    measured."""

    status: Status
    rows: int
    within: tuple[int, ...]
    missing: int


def status_of(platform: Platform, key: str, mechanism: str = "") -> Status:
    """The status of the row `key` on this machine: fitted also if an origin names a prefix of the row
    ("t3e/table" for "t3e/table/bcast/8/32"), whether its number was fitted to the row or copied from it."""
    used_rows = [row for origin in platform.origins for row in origin.rows]
    if any(key == row or key.startswith(f"{row.rstrip('/')}/") for row in used_rows):
        return "fitted"
    return "variant" if mechanism else "predicted"


def tallies(compared: Iterable[ComparedNumber]) -> list[CloseRows]:
    """One for each status that occurs. The trials of one algorithm after another do not count, nor bounds,
    nor a printed 0 that is met."""
    rows = [
        row
        for row in compared
        if row.series != "algorithms" and not row.bound and not row.published == row.simulated == 0
    ]
    results = []
    for status in STATUSES:
        selected = [row for row in rows if row.status == status]
        errors = [abs(row.error) for row in selected if row.error is not None]
        counts = tuple(sum(error <= close for error in errors) for close in CLOSE)
        if selected:
            results.append(CloseRows(status, len(selected), counts, len(selected) - len(errors)))
    return results
