# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a run is as usual, for programs and notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import report
from hockney.core.paths import AnyPath, to_path
from hockney.history import CheckedRun
from hockney.models.history import CheckedOperation, CheckedSeries, CheckState

if TYPE_CHECKING:
    from hockney.draw.page import Page


@dataclass(frozen=True, repr=False)
class Check:
    """A run against the earlier ones of its archive."""

    checked: CheckedRun

    @property
    def verdict(self) -> CheckState:
        """slower, faster or usual; undecided if runs differ too much, or if cases failed or are missing;
        unknown if there are too few runs."""
        return self.checked.state

    @property
    def operations(self) -> tuple[CheckedOperation, ...]:
        return self.checked.operations

    @property
    def cases(self) -> tuple[CheckedSeries, ...]:
        return self.checked.cases

    @property
    def document(self) -> dict[str, Any]:
        """What `hockney history check --json` prints."""
        from hockney.history.document import checked_document

        return checked_document(self.checked)

    @property
    def junit(self) -> str:
        """A test report in JUnit's XML."""
        from hockney.history.junit import junit

        return junit(self.checked)

    @property
    def markdown(self) -> str:
        from hockney.history.markdown import markdown

        return markdown(self.checked)

    @cached_property
    def page(self) -> Page:
        from hockney.history.page import checked_page

        return checked_page(self.checked)

    def report(self, path: AnyPath) -> Path:
        """Write the page, one HTML file."""
        return report.write(self.page, to_path(path))

    def __repr__(self) -> str:
        return f"<Check of {self.checked.name}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from hockney.history import tables, wording
        from hockney.report import notebook

        return notebook.summary(
            wording.answer(self.checked), self.checked.caveats, [tables.operations(self.checked)]
        )
