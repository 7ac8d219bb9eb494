# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All reproductions on one screen and one page: the statements and printed numbers of each paper, and how
many of them agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hockney.core.wording import plural
from hockney.draw.page import Page, Section, Table
from hockney.reproductions import Reproduction
from hockney.reproductions.compared import CLOSE_ERRORS, Check, ComparedNumber, tally_by_status
from hockney.reproductions.pages import check_table

TITLE = "The papers, reproduced"
MAX_CLOSE_ERROR = CLOSE_ERRORS[-1]


@dataclass(frozen=True)
class PaperResult:
    """The results of one reproduction. `report` is the path of its page, relative to the common page."""

    study: Reproduction
    compared: Sequence[ComparedNumber]
    checks: Sequence[Check]
    report: str

    @property
    def statements(self) -> list[Check]:
        """The statements of the paper, without the reproduction's own conditions and without statements that
        hold by construction."""
        return [check for check in self.checks if check.where and not check.fitted]

    @property
    def predicted(self) -> tuple[int, int]:
        """The number of printed values predicted within MAX_CLOSE_ERROR without fitting, and the number of
        all values without fitting."""
        predicted_rows = [tally for tally in tally_by_status(self.compared) if tally.status == "predicted"]
        return (predicted_rows[0].within[-1], predicted_rows[0].rows) if predicted_rows else (0, 0)


def papers_table(results: Iterable[PaperResult]) -> Table:
    rows = []
    for result in results:
        close_count, count = result.predicted
        held_count = sum(check.holds for check in result.statements)
        rows.append(
            (
                result.study.NAME,
                result.study.TITLE,
                f"{held_count} of {len(result.statements)}",
                f"{close_count} of {count}" if count else "none printed",
                ", ".join(result.study.FIGURES),
                result.report,
            )
        )
    columns = (
        "paper",
        "what",
        "statements met",
        f"predicted within {MAX_CLOSE_ERROR:.0%}",
        "figures",
        "report",
    )
    return Table("papers", "What each paper states and prints", columns, tuple(rows), numeric=(2, 3))


def papers_page(results: Sequence[PaperResult]) -> Page:
    statements = [check for result in results for check in result.statements]
    close_count, count = (
        sum(column) for column in zip(*(result.predicted for result in results), strict=True)
    )
    failed_sections = [
        Section(result.study.TITLE, tables=(check_table([c for c in result.checks if not c.holds]),))
        for result in results
        if not all(check.holds for check in result.checks)
    ]
    return Page(
        title=TITLE,
        subtitle=", ".join(result.study.NAME for result in results),
        headline=(
            f"{sum(check.holds for check in statements)} of {plural(len(statements), 'statement')} of "
            f"{plural(len(results), 'study', 'studies')} hold on the simulated machines, and {close_count} "
            "of "
            f"{plural(count, 'printed number')} to which nothing was fitted are within "
            f"{MAX_CLOSE_ERROR:.0%}.",
        ),
        warnings=(),
        sections=(
            Section("Agreement", tables=(papers_table(results),)),
            *failed_sections,
        ),
        environment=(),
        method=(
            "Each statement of a paper is a check, named by its code; the tables list those that do not "
            "hold. The report of each study has all checks, all printed numbers and the paper's figures.",
        ),
    )
