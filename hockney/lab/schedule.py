# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The order of measuring: rounds of launches, one launch a rank count, cases shuffled in each."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hockney.core.case import Case
from hockney.store import Item


def schedule(cases: Sequence[Case], launches: int, seed: int) -> tuple[Item, ...]:
    """Every case once in each of `launches` rounds. Rounds come one after another, so that a run ended
    early has measured everything at least once; in each launch the order is another, so that what
    drifts with time does not look like an effect of size."""
    counts = sorted({case.ranks for case in cases})
    items = []
    for round_ in range(launches):
        for group, ranks in enumerate(counts):
            launch = round_ * len(counts) + group
            mine = sorted(
                (case for case in dict.fromkeys(cases) if case.ranks == ranks), key=lambda c: c.line
            )
            random.Random(f"{seed} {launch}").shuffle(mine)
            items += [Item(launch, order, case) for order, case in enumerate(mine)]
    return tuple(items)
