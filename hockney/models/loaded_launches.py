# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the records of a case that count: excludes launches with a high background load and records that
the scheduler interrupted. Does not import numpy, so pages of stored fits can be written without it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hockney.core.record import Record, RunRecords

LOADED_OUTSIDE_CORES, LOADED_STEAL = 0.25, 0.05
"""A launch is loaded, otherwise quiet, if other programs used more cores than this, or if the hypervisor took
more than this share of processor time."""
MIN_QUIET_LAUNCHES = 5
"""With this many quiet launches of a case, the loaded ones are left out."""
MIN_REPETITIONS = 5
"""A record with fewer repetitions is interrupted if a rank was preempted during all of its visits."""
MIN_UNINTERRUPTED = 3
"""With this many records of a case that have enough repetitions, the interrupted ones are left out."""


def loaded_launches(run: RunRecords) -> set[str]:
    """Launches during which other programs or the hypervisor used a large share of the processors."""
    return {
        close.launch
        for close in run.closes
        if (close.outside_cores or 0.0) > LOADED_OUTSIDE_CORES or (close.steal or 0.0) > LOADED_STEAL
    }


def is_interrupted(record: Record) -> bool:
    """Whether a rank was preempted during every visit and the record has only a few repetitions, so that it
    shows the scheduler rather than the case. This does not depend on the times."""
    visits = zip(record.visits.repetitions, record.visits.preempted, strict=False)
    preempted = [times > 0 for count, times in visits if count]
    return bool(preempted) and all(preempted) and len(record.times_s) < MIN_REPETITIONS


def drop_interrupted(records: Sequence[Record]) -> Sequence[Record]:
    """Records of one case without interrupted ones, if enough others have enough repetitions. Otherwise all
    records, because a launch repeats a long operation only a few times anyway."""
    if sum(len(record.times_s) >= MIN_REPETITIONS for record in records) < MIN_UNINTERRUPTED:
        return records
    return [record for record in records if not is_interrupted(record)]


def select_records(records: Sequence[Record], loaded: Collection[str]) -> Sequence[Record]:
    """Records of one case that count: without interrupted ones, and without the `loaded` launches if enough
    others remain."""
    uninterrupted = drop_interrupted(records)
    quiet = [record for record in uninterrupted if record.launch not in loaded]
    return quiet if len(quiet) >= MIN_QUIET_LAUNCHES else uninterrupted
