# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a rank's own work in a collective costs: copying a block, combining two vectors.

Between 2 ranks an allgather is an exchange and a copy of each rank's own block, and a reduction is a message
and a combination, whatever the algorithm. So MPI's own allgather and reduction on 2 ranks give these costs:
their time beyond that of the messages. A gather would not do: its root copies while the message is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hockney.core.case import parse_canonical
from hockney.core.fit import Estimate, Fits

EVIDENCE = {"copy": "allgather", "combine": "reduce"}
"""The operation on 2 ranks that shows each kind of work."""
FIXED = {"algorithm": "mpi", "buffers": "hot", "root": 0, "ranks": 2}
"""Parameters of the cases that are used, where a workload has them."""


@dataclass(frozen=True)
class LocalCost:
    """Seconds by bytes: `sizes` ascend, `seconds` do not fall. Without sizes it is unknown and taken as 0."""

    sizes: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()

    def at(self, size: float | np.ndarray) -> np.ndarray:
        """Linear between the sizes and below them; proportional to the bytes above."""
        bytes_ = np.asarray(size, dtype=float)
        if not self.sizes:
            return np.zeros(bytes_.shape)
        inside = np.interp(bytes_, (0.0, *self.sizes), (0.0, *self.seconds))
        return np.where(bytes_ > self.sizes[-1], self.seconds[-1] / self.sizes[-1] * bytes_, inside)


def local_cost(
    fits: Fits, work: str, message_s: Callable[[float], float], end: Callable[[Estimate], float | None]
) -> LocalCost:
    """The cost of `work` ("copy" or "combine"). `message_s` is the time of its messages by their bytes, of an
    exchange for a copy; `end` selects the value of a measured time, or an end of its interval."""
    found = {}
    for size, time in _measured(fits, EVIDENCE[work]):
        seconds = end(time)
        if size > 0:
            found[size] = max(0.0, (time.value if seconds is None else seconds) - message_s(size))
    sizes = tuple(sorted(found))
    rising = np.maximum.accumulate([found[size] for size in sizes]) if sizes else ()
    return LocalCost(sizes, tuple(float(seconds) for seconds in rising))


def _measured(fits: Fits, operation: str) -> Iterator[tuple[float, Estimate]]:
    by_name = {w.name: w for w in fits.workloads if w.performs("collective", operation)}
    for summary in fits.summaries:
        case = parse_canonical(summary.case)
        workload = by_name.get(case.workload)
        if workload is None:
            continue
        values = case.values
        if values.get("sync") == "loop" or any(values.get(k, v) != v for k, v in FIXED.items()):
            continue
        yield float(case.number(workload.size)), summary.cost(fits.cost)
