# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of interleaved comparisons by pairs of launches in the same mode of the machine (`MachineModes`).
Each run, and each number of ranks, has its own modes: it has its own launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hockney.models.comparison.pair import Pair
from hockney.models.statistics import MachineModes, exchanged, machine_modes


def in_same_mode(pairs: Sequence[Pair]) -> tuple[list[Pair], tuple[MachineModes, ...]]:
    """The same cases, and the modes that were found."""
    groups: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        for run in pair.a.runs.keys() & pair.b.runs.keys():
            groups.setdefault((run, pair.case.ranks), []).append(pair)
    partners: dict[int, dict[str, str | None]] = {}
    found = []
    for (run, ranks), group in groups.items():
        modes = machine_modes([each.a.runs[run] for each in group], [each.b.runs[run] for each in group])
        if modes is not None:
            found.append(modes)
            partners.setdefault(ranks, {}).update(modes.partners)
    same = [replace(pair, b=exchanged(pair.b, partners.get(pair.case.ranks, {}))) for pair in pairs]
    return same, tuple(found)
