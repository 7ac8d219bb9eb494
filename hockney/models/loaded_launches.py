# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches with a high load from other programs, and which records of a case count. Needs no numpy, so that a
page of stored fits is written without it."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.record import Record, RunRecords

LOADED_OUTSIDE_CORES, LOADED_STEAL = 0.25, 0.05
"""A launch is loaded, otherwise quiet, if other programs used more cores than this, or if the hypervisor took
more than this share of processor time."""
FEWEST_QUIET = 5
"""With this many quiet launches of a case, the loaded ones are left out."""


def loaded_launches(run: RunRecords) -> set[str]:
    """Launches during which other programs or the hypervisor took a large share of the processors."""
    return {
        close.launch
        for close in run.closes
        if (close.outside_cores or 0.0) > LOADED_OUTSIDE_CORES or (close.steal or 0.0) > LOADED_STEAL
    }


def kept(records: Sequence[Record], loaded: set[str]) -> Sequence[Record]:
    """The records of one case that count: without the `loaded` launches, if enough others are left."""
    quiet = [record for record in records if record.launch not in loaded]
    return quiet if len(quiet) >= FEWEST_QUIET else records
