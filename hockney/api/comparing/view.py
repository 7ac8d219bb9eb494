# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison in the cell of a notebook: the answer, what differs, and the biggest changes."""

from __future__ import annotations

from hockney.api.notebook.run_view import more_rows
from hockney.comparison import ComparedSides, effect_wording, tables, wording
from hockney.report import notebook

MOST_ROWS = 10


def html(compared: ComparedSides) -> str:
    changes = compared.of("slower", "faster")
    shown = [tables.environment(compared), tables.operations(compared)]
    if changes:
        shown.append(tables.cases(compared, changes[:MOST_ROWS], "changes", "Biggest changes"))
    after = wording.without_comparison(compared)
    if len(changes) > MOST_ROWS:
        after = (more_rows(len(changes) - MOST_ROWS), *after)
    sides = map(wording.side, (compared.a, compared.b))
    before = (wording.overall(compared), *sides, *effect_wording.sentences(compared))
    return notebook.summary(before, compared.caveats, shown, after)
