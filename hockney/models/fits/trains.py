# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the observations are PRTT(1, 0, s), PRTT(n, 0, s), PRTT(n, d, s) and the receive call, by size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.record import SCHEMA, Record, RunRecords, Visits
from hockney.models.fits.piecewise import fit_piecewise
from hockney.models.statistics import SHORTEST_S, Observation, observe, tabulate

TRAIN, OVERHEAD, MESSAGE = "train", "overhead", "point-to-point"
"""Roles of the model's input: trains of messages, the receive call alone, and the ping-pong."""

FEWEST_TRAINS = 3
"""Minimum sizes of trains for a line; at least this many are used, even beyond a change of protocol."""

FEWEST_SIZES = 6
"""Minimum sizes of the ping-pong to detect a change of protocol: a line on each side."""


@dataclass(frozen=True)
class Trains:
    """`seen` are the observations that the rows refer to, delayed trains without their pauses. The largest n
    and d are used. `pauses` are the seconds between two messages of a delayed train."""

    seen: tuple[Observation, ...]
    single: dict[int, int]
    burst: dict[int, tuple[int, int]]
    delayed: dict[int, tuple[int, int]]
    pauses: dict[int, float]
    receive: dict[int, int]

    @staticmethod
    def of(observations: Sequence[Observation], beyond: float) -> Trains:
        """The trains of the sizes below `beyond`."""
        used = [o for o in observations if o.role in (TRAIN, OVERHEAD) and o.size < beyond]
        used = [o for o in used if _pause(o) == 0 or _pauses_s(o) > 0]
        used.sort(key=lambda o: (_count(o), _pauses_s(o)))
        found = Trains(tuple(map(_without_pauses, used)), {}, {}, {}, {}, {})
        for row, observation in enumerate(used):
            count, size = _count(observation), int(observation.size)
            if observation.role == OVERHEAD:
                found.receive[size] = row
            elif _pauses_s(observation) > 0:
                found.delayed[size] = row, count
                found.pauses[size] = _pauses_s(observation)
            elif count == 1:
                found.single[size] = row
            else:
                found.burst[size] = row, count
        return found

    def missing(self, sizes: int = 2) -> str:
        """The reason why no fit at this many sizes is possible, as text; empty if all observations exist."""
        gaps = self.single.keys() & self.burst.keys()
        if len(gaps) < sizes:
            return f"g and G need PRTT(1,0,s) and PRTT(n,0,s) at two sizes at least; there are {len(gaps)}"
        if not self.single.keys() & self.delayed.keys():
            return "o_s needs PRTT(n,d,s) with a delay d > 0 at a size that PRTT(1,0,s) has; there is none"
        if not self.receive:
            return "o_r needs a receive timed after the message arrived (receive_overhead); there is none"
        return ""


def ping_pong(observations: Iterable[Observation]) -> list[Observation]:
    """One message at a time, buffers hot, by size."""
    found = (
        o
        for o in observations
        if o.role == MESSAGE and o.workload.operation == "send" and o.case.get("buffers", "hot") == "hot"
    )
    return sorted(found, key=lambda o: o.size)


def end_of_protocol(observations: Sequence[Observation]) -> float:
    """The size at which messages change protocol, by the ping-pong: the first change that leaves enough
    trains below; infinite if there is none."""
    trains = {o.size for o in observations if o.role == TRAIN}
    messages = ping_pong(observations)
    sizes = np.array([o.size for o in messages])
    if len(sizes) < FEWEST_SIZES or len(set(sizes)) < len(sizes):
        return np.inf
    changes = (change.value for change in fit_piecewise(sizes, tabulate(messages)).changes())
    return next((c for c in changes if sum(size < c for size in trains) >= FEWEST_TRAINS), np.inf)


def _count(observation: Observation) -> int:
    return int(observation.case.number("messages", 1))


def _pause(observation: Observation) -> float:
    """Whether the case requests a pause."""
    if observation.role != TRAIN or _count(observation) == 1:
        return 0.0
    return observation.case.number("delay") + observation.case.number("pause")


def _pauses_s(observation: Observation) -> float:
    """Seconds between two messages in the typical launch; 0 if there are none or they are not known."""
    if _pause(observation) == 0:
        return 0.0
    return float(np.mean([np.median(_paused(record)[1]) for record in observation.records]))


def _paused(record: Record) -> tuple[Record, np.ndarray]:
    """The length of a pause in each repetition: as measured there, else as requested by the case. Every visit
    has another pause. If there is only one value for a record, it is the last visit's, so the record returned
    has only that one."""
    measured = record.metrics.get("paused")
    if measured is None or not measured.values or measured.values[0] <= 0:
        return record, np.full(len(record.times_s), record.parse_case().number("delay"))
    if len(measured.values) == len(record.times_s):
        return record, np.array(measured.values)
    last = _last_visit(record) if record.parse_case().number("pause") > 0 else record
    return last, np.full(len(last.times_s), measured.values[0])


def _last_visit(record: Record) -> Record:
    """The same record with only the last of its visits that has repetitions."""
    visits = record.visits
    place = max((k for k, count in enumerate(visits.repetitions) if count), default=None)
    if place is None:
        return record
    only = Visits(
        after_s=[visits.after_s[place]],
        repetitions=[visits.repetitions[place]],
        preempted=[visits.preempted[place]],
    )
    times_s = record.times_by_visit[place]
    return msgspec.structs.replace(record, times_s=list(times_s), visits=only)


def _without_pauses(observation: Observation) -> Observation:
    """Pauses differ between launches and visits, and their time is not the messages'."""
    if _pause(observation) == 0:
        return observation
    waits = _count(observation) - 1
    records = []
    for record, paused in map(_paused, observation.records):
        times_s = np.maximum(np.array(record.times_s) - waits * paused, SHORTEST_S)
        records.append(msgspec.structs.replace(record, times_s=times_s.tolist(), metrics={}))
    catalog = Catalog(schema=SCHEMA, engine="", workloads=[observation.workload])
    return observe(RunRecords(records=tuple(records)), catalog)[0]
