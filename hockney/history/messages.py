# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of reasons to doubt a checked run."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.draw.page import Caveat


def data_arrived_wrong(records: int) -> Caveat:
    return Caveat(
        "checked-run-wrong",
        f"data arrived wrong in {plural(records, 'record')} of the run",
        "all its times",
        "Examine it with 'hockney verify'.",
    )


def run_unfinished(left: int) -> Caveat:
    return Caveat(
        "checked-run-unfinished",
        f"{plural(left, 'measurement')} of the run {'is' if left == 1 else 'are'} missing",
        "cases with few launches",
        "'hockney resume' measures them.",
    )


def loaded_launches(loaded: int, launches: int) -> Caveat:
    return Caveat(
        "checked-run-loaded",
        f"other programs ran during {loaded} of its {plural(launches, 'launch', 'launches')}",
        "all its times",
        "Check a run that was measured while the machine was idle.",
    )
