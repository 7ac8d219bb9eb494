# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Printing what one of several writers of a run has measured."""

from __future__ import annotations

from hockney.api import Run
from hockney.cli.output.answer import Form
from hockney.cli.output.tables import print_json, print_line
from hockney.core.errors import Exit
from hockney.core.wording import plural
from hockney.store import missing


def left_in(run: Run) -> int:
    """How many measurements the whole run lacks."""
    return len(missing(run.plan, run.reading.run))


def print_share(run: Run, number: int, count: int, form: Form) -> int:
    """Print how complete one share of a run is; an answer needs the other shares too. Returns the exit
    code."""
    own = 0 if run.outcome is None else run.outcome.left
    if form.as_json:
        share = {"share": number, "shares": count, "outcome": run.outcome, "left": left_in(run)}
        print_json({"run": str(run.path), **share})
    else:
        print_line(_share_measured(number, count, own, left_in(run) - own))
    return Exit.INCONCLUSIVE if own else Exit.FINE


def _share_measured(number: int, count: int, left: int, others: int) -> str:
    """`left` measurements are missing in the share, and `others` in the other ones."""
    own = f"{plural(left, 'measurement')} missing" if left else "complete"
    return f"share {number} of {count}: {own}; the others lack {plural(others, 'measurement')}"
