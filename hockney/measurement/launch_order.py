# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The order of measuring: rounds of launches, one for each rank count, executable and launch setting, with
shuffled cases."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hockney.core.case import Case
from hockney.store import Item

Kind = tuple[int, str, str]
"""What the cases of a launch share: ranks (0: the whole layout), executable and launch setting."""


def schedule(
    cases: Sequence[Case], launches: int, seed: int, launch_of: Callable[[Case], Kind] | None = None
) -> tuple[Item, ...]:
    """Every case once in each of `launches` rounds. Rounds come one after another, so that a run ended early
    has measured everything at least once; each launch has a different order, so that drift over time does not
    look like an effect of size. `launch_of` gives what the cases of a launch share; by default, all have one
    executable.
    """
    launch_of = launch_of or _with_one_executable
    kinds = sorted({launch_of(case) for case in cases})
    items = []
    for round_ in range(launches):
        for number, kind in enumerate(_in_turns(kinds, round_)):
            launch = round_ * len(kinds) + number
            shuffled = sorted(
                (case for case in dict.fromkeys(cases) if launch_of(case) == kind),
                key=lambda case: case.line,
            )
            random.Random(f"{seed} {launch}").shuffle(shuffled)
            items += [Item(launch, order, case) for order, case in enumerate(shuffled)]
    return tuple(items)


def _with_one_executable(case: Case) -> Kind:
    return case.launched_ranks, "", case.setting


def _in_turns(kinds: Sequence[Kind], round_: int) -> list[Kind]:
    """Launches that differ only by their setting follow one another, and each comes first equally often."""
    alike: dict[tuple[int, str], list[Kind]] = {}
    for kind in kinds:
        alike.setdefault(kind[:2], []).append(kind)
    turned = []
    for same in alike.values():
        first = round_ % len(same)
        turned += [*same[first:], *same[:first]]
    return turned
