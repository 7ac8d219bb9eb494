# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of interleaved comparisons by pairs of launches in the same mode of the machine
(`hockney.models.statistics.launch_pairs`). Each run, and each number of ranks, has its own modes: it has its
own launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hockney.models.comparison.pair import Pair
from hockney.models.statistics import MachineModes, Observation, PooledCase, exchanged, machine_modes


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
    return [_exchanged(pair, partners.get(pair.case.ranks, {})) for pair in pairs], tuple(found)


def _exchanged(pair: Pair, partners: Mapping[str, str | None]) -> Pair:
    def renamed(seen: Observation) -> Observation:
        return replace(seen, launches=exchanged(seen.launches, partners))

    if not partners:
        return pair
    runs = {number: renamed(seen) for number, seen in pair.b.runs.items()}
    return replace(pair, b=PooledCase(runs, renamed(pair.b.whole)))
