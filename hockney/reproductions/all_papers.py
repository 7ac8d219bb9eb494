# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Several reproductions on one screen and one page: what each paper states and prints, and how much of it is
met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hockney.core.wording import plural
from hockney.draw.page import Page, Section, Table
from hockney.reproductions import Reproduction
from hockney.reproductions.compared import CLOSE, Check, ComparedNumber, tallies
from hockney.reproductions.pages import check_table

TITLE = "The papers, reproduced"
NEAR = CLOSE[-1]


@dataclass(frozen=True)
class PaperResult:
    """The results of one reproduction; `report` is the path of its page, relative to the common one."""

    study: Reproduction
    compared: Sequence[ComparedNumber]
    checks: Sequence[Check]
    report: str

    @property
    def statements(self) -> list[Check]:
        """The statements of the paper, without the reproduction's own conditions and what holds by
        construction."""
        return [check for check in self.checks if check.where and not check.fitted]

    @property
    def predicted(self) -> tuple[int, int]:
        """The number of printed values within NEAR to which nothing was fitted, and the number of all of
        them."""
        found = [each for each in tallies(self.compared) if each.status == "predicted"]
        return (found[0].within[-1], found[0].rows) if found else (0, 0)


def table(results: Iterable[PaperResult]) -> Table:
    rows = []
    for result in results:
        near, count = result.predicted
        held = sum(check.holds for check in result.statements)
        rows.append(
            (
                result.study.NAME,
                result.study.TITLE,
                f"{held} of {len(result.statements)}",
                f"{near} of {count}" if count else "none printed",
                ", ".join(result.study.FIGURES),
                result.report,
            )
        )
    columns = ("paper", "what", "statements met", f"predicted within {NEAR:.0%}", "figures", "report")
    return Table("papers", "What each paper states and prints", columns, tuple(rows), numeric=(2, 3))


def page(results: Sequence[PaperResult]) -> Page:
    statements = [check for result in results for check in result.statements]
    near, count = (sum(each) for each in zip(*(result.predicted for result in results), strict=True))
    failed = [
        Section(result.study.TITLE, tables=(check_table([c for c in result.checks if not c.holds]),))
        for result in results
        if not all(check.holds for check in result.checks)
    ]
    return Page(
        title=TITLE,
        subtitle=", ".join(result.study.NAME for result in results),
        headline=(
            f"{sum(check.holds for check in statements)} of {plural(len(statements), 'statement')} of "
            f"{plural(len(results), 'study', 'studies')} hold on the simulated machines, and {near} of "
            f"{plural(count, 'printed number')} to which nothing was fitted are within {NEAR:.0%}.",
        ),
        warnings=(),
        sections=(
            Section("Agreement", tables=(table(results),)),
            *failed,
        ),
        environment=(),
        method=(
            "Each statement of a paper is a check, named by its code; the tables list those that do not "
            "hold. The report of each study has all checks, all printed numbers and the paper's figures.",
        ),
    )
