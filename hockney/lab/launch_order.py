# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The order of measuring: rounds of launches, one for each rank count and executable, with shuffled cases."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hockney.core.case import Case
from hockney.store import Item


def schedule(
    cases: Sequence[Case], launches: int, seed: int, group_of: Callable[[Case], str] = lambda case: ""
) -> tuple[Item, ...]:
    """Every case once in each of `launches` rounds. Rounds come one after another, so that a run ended early
    has measured everything at least once; each launch has a different order, so that drift over time does not
    look like an effect of size. `group_of` gives the executable that runs a case: a launch has a single one.
    """
    kinds = sorted({(case.ranks, group_of(case)) for case in cases})
    items = []
    for round_ in range(launches):
        for number, kind in enumerate(kinds):
            launch = round_ * len(kinds) + number
            shuffled = sorted(
                (case for case in dict.fromkeys(cases) if (case.ranks, group_of(case)) == kind),
                key=lambda case: case.line,
            )
            random.Random(f"{seed} {launch}").shuffle(shuffled)
            items += [Item(launch, order, case) for order, case in enumerate(shuffled)]
    return tuple(items)
