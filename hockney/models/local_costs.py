# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a rank's own work in a collective costs: copying a block, combining two vectors, and sending data that
it has just written.

Between 2 ranks an allgather is an exchange and a copy of each rank's own block, and a reduction is a message
and a combination, whatever the algorithm. So MPI's own allgather and reduction on 2 ranks give these costs:
their time beyond that of the messages. A gather would not do: its root copies while the message is under way.

A ping-pong sends the same bytes again and again, so that the receiver may still have them in a cache. Bytes
that the sender has written since must come from the sender's cache, which takes longer. A scan on 2 ranks
shows by how much: rank 0 copies its vector and sends the copy, rank 1 combines. It is a message, a copy and a
combination, and the rest of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.case import parse_canonical
from hockney.core.fit import Estimate, Fits
from hockney.core.layout import PAIR_RANKS, meeting_level
from hockney.models.levels import alike

EVIDENCE = {"copy": "allgather", "combine": "reduce", "fresh": "scan"}
"""The operation on 2 ranks that shows each kind of work."""


@dataclass(frozen=True)
class LocalCost:
    """Seconds by bytes: `sizes` ascend; if `rising`, `seconds` do not fall. Without sizes it is unknown and
    taken as 0."""

    sizes: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    rising: bool = True

    def at(self, size: float | np.ndarray) -> np.ndarray:
        """Linear between the sizes and below them; above them proportional to the bytes if rising, else
        constant."""
        bytes_ = np.asarray(size, dtype=float)
        if not self.sizes:
            return np.zeros(bytes_.shape)
        inside = np.interp(bytes_, (0.0, *self.sizes), (0.0, *self.seconds))
        beyond = self.seconds[-1] / self.sizes[-1] * bytes_ if self.rising else inside
        return np.where(bytes_ > self.sizes[-1], beyond, inside)


def local_cost(
    fits: Fits,
    work: str,
    known_s: Callable[[float], float],
    end: Callable[[Estimate], float | None],
    *,
    setting: str = "",
    place: str = "",
    rising: bool = True,
) -> LocalCost:
    """The cost of `work`, one of EVIDENCE. `known_s` is the time of all else in the operation that shows it,
    by bytes; `end` selects the value of a measured time, or an end of its interval. Only cases with this
    launch setting count, and those whose ranks met at the level `place` or, if there are none, at one like it
    ("": any)."""
    found = {}
    for size, time in _of_level(list(_measured(fits, EVIDENCE[work], setting)), place):
        whole = end(time)
        if size > 0:
            found[size] = max(0.0, (time.value if whole is None else whole) - known_s(size))
    sizes = tuple(sorted(found))
    seconds = [found[size] for size in sizes]
    return LocalCost(sizes, tuple(_isotonic(seconds) if rising else seconds), rising)


def _isotonic(values: list[float]) -> list[float]:
    """The values that do not fall and are nearest in least squares, by pooling adjacent violators (M. Ayer et
    al., Annals of Mathematical Statistics 26 (1955) 641)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (before, many), (after, few) = pools[-2:]
            pools[-2:] = [((before * many + after * few) / (many + few), many + few)]
    return [mean for mean, many in pools for _ in range(many)]


def _of_level(
    measured: Sequence[tuple[str, float, Estimate]], place: str
) -> Iterator[tuple[float, Estimate]]:
    here = [(size, time) for met, size, time in measured if met == place]
    return iter(here or [(size, time) for met, size, time in measured if alike(place, met)])


def _measured(fits: Fits, operation: str, setting: str) -> Iterator[tuple[str, float, Estimate]]:
    """The level at which the ranks met, the size and the time of each measured case."""
    by_name = {w.name: w for w in fits.workloads if w.performs("collective", operation)}
    for summary in fits.summaries:
        workload = by_name.get(summary.case.split(" ", 1)[0])
        if workload is None:
            continue
        case = parse_canonical(summary.case)
        of_two = case.ranks == PAIR_RANKS and case.get("sync") != "loop"
        if of_two and case.setting == setting and case.is_usual:
            yield meeting_level(case, summary), float(case.number(workload.size)), summary.cost(fits.cost)
