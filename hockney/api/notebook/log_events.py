# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Events of measuring, in the log "hockney" of Python's `logging`."""

from __future__ import annotations

import logging

from hockney.api.notebook import messages
from hockney.core.errors import one_line
from hockney.core.record import Failure
from hockney.lab import CaseEnded, Event, LaunchBegan, MeasuringBegan, Notice, Status

LOG = logging.getLogger("hockney")


def log(event: Event) -> None:
    """A listener: notices and cases without a result are warnings, steps of the work are information."""
    if isinstance(event, Notice):
        LOG.warning("%s", one_line(event.text))
    elif isinstance(event, Status):
        LOG.info("%s", one_line(event.text))
    elif isinstance(event, MeasuringBegan):
        LOG.info("%s", messages.measuring(event.measurements, event.launches, event.budget_s))
    elif isinstance(event, LaunchBegan):
        LOG.info("%s", messages.launching(event.launch, event.ranks, event.cases))
    elif isinstance(event, CaseEnded) and isinstance(event.result, Failure):
        LOG.warning("%s", one_line(messages.no_result(event.result.case, event.result.message)))
