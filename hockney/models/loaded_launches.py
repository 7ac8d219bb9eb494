# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches with a high load from other programs, records that the scheduler interrupted, and which records of
a case count. Needs no numpy, so that a page of stored fits is written without it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hockney.core.record import Record, RunRecords

LOADED_OUTSIDE_CORES, LOADED_STEAL = 0.25, 0.05
"""A launch is loaded, otherwise quiet, if other programs used more cores than this, or if the hypervisor took
more than this share of processor time."""
FEWEST_QUIET = 5
"""With this many quiet launches of a case, the loaded ones are left out."""
FEWEST_REPETITIONS = 5
"""A record with fewer repetitions is interrupted if a rank was preempted during all of its visits."""
FEWEST_UNINTERRUPTED = 3
"""With this many records of a case that have enough repetitions, the interrupted ones are left out."""


def loaded_launches(run: RunRecords) -> set[str]:
    """Launches during which other programs or the hypervisor took a large share of the processors."""
    return {
        close.launch
        for close in run.closes
        if (close.outside_cores or 0.0) > LOADED_OUTSIDE_CORES or (close.steal or 0.0) > LOADED_STEAL
    }


def is_interrupted(record: Record) -> bool:
    """Whether a rank was preempted during every visit, and the record has only a few repetitions: it shows
    the scheduler rather than the case. This does not depend on the times."""
    visits = zip(record.visits.repetitions, record.visits.preempted, strict=False)
    preempted = [times > 0 for count, times in visits if count]
    return bool(preempted) and all(preempted) and len(record.times_s) < FEWEST_REPETITIONS


def drop_interrupted(records: Sequence[Record]) -> Sequence[Record]:
    """The records of one case without the interrupted ones, if enough others have enough repetitions.
    Otherwise all of them: a launch repeats a long operation only a few times anyway."""
    if sum(len(record.times_s) >= FEWEST_REPETITIONS for record in records) < FEWEST_UNINTERRUPTED:
        return records
    return [record for record in records if not is_interrupted(record)]


def select_records(records: Sequence[Record], loaded: Collection[str]) -> Sequence[Record]:
    """The records of one case that count: without interrupted ones, and without the `loaded` launches if
    enough others are left."""
    uninterrupted = drop_interrupted(records)
    quiet = [record for record in uninterrupted if record.launch not in loaded]
    return quiet if len(quiet) >= FEWEST_QUIET else uninterrupted
