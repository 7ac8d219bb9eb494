# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measurement events in the log "hockney" of Python's `logging`."""

from __future__ import annotations

import logging

from hockney.core.errors import one_line
from hockney.core.record import Failure
from hockney.core.units import format_seconds
from hockney.core.wording import plural
from hockney.measurement import CaseEnded, Event, LaunchBegan, MeasuringBegan, Notice, Status

LOG = logging.getLogger("hockney")


def log(event: Event) -> None:
    """Log an event. Notices and cases without a result are warnings, other events are information."""
    if isinstance(event, Notice):
        LOG.warning("%s", one_line(event.text))
    elif isinstance(event, Status):
        LOG.info("%s", one_line(event.text))
    elif isinstance(event, MeasuringBegan):
        LOG.info(
            "%s",
            (
                f"measuring: {plural(event.measurements, 'measurement')} in "
                f"{plural(event.launches, 'launch', 'launches')}, at most {format_seconds(event.budget_s)}"
            ),
        )
    elif isinstance(event, LaunchBegan):
        LOG.info(
            "%s", f"launch {event.launch}: {plural(event.cases, 'case')} on {plural(event.ranks, 'rank')}"
        )
    elif isinstance(event, CaseEnded) and isinstance(event.result, Failure):
        LOG.warning("%s", one_line(f"{event.result.case} gave no result: {event.result.message}"))
