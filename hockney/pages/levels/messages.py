# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of a caveat about where ranks were."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.wording import plural, together
from hockney.draw.page import Caveat


def mixed_levels(cases: int, places: Sequence[str], nodes: Sequence[int]) -> Caveat:
    """`places` are the levels of pairs, in words, `nodes` the numbers of nodes of other cases."""
    where = [*places, *([f"on {together(nodes)} nodes"] if nodes else [])]
    return Caveat(
        "mixed-levels",
        f"{plural(cases, 'case')} ran at different levels in different launches "
        f"({together(where)}): the typical times are a mixture",
        "",
        "name the level or the nodes in the case, with place= or nodes=",
    )
