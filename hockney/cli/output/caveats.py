# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats, printed as warnings: few enough to be read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hockney.cli import messages
from hockney.cli.output.tables import print_labelled
from hockney.core.errors import sentences
from hockney.draw.page import Caveat

MOST = 3
"""Warnings on a screen; the report has all of them."""
USUAL = ("virtual", "precision", "governor")
"""Codes of caveats that most runs have."""
CLAUSE = re.compile(r"[^:;(]*[^:;(\s]")


def print_caveats(caveats: Iterable[Caveat]) -> None:
    """Print caveats in the given order, the most serious first. If there are more than MOST, or several that
    most runs have, the latter and all but the first of the others share one line."""
    every = tuple(caveats)
    usual = [caveat for caveat in every if caveat.code in USUAL]
    condensed = len(every) > MOST or len(usual) > 1
    whole = [caveat for caveat in every if caveat not in usual][: MOST - 1] if condensed else every
    for caveat in whole:
        print_labelled("warning", messages.warning(caveat.text, caveat.touches, caveat.todo))
    if rest := [_first_clause(caveat.text) for caveat in every if caveat not in whole]:
        print_labelled("warning", sentences(f"also: {'; '.join(rest)}"))


def _first_clause(text: str) -> str:
    found = CLAUSE.match(text)
    return found[0] if found else text
