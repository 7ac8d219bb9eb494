# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fit of one message that a page's numbers come from."""

from __future__ import annotations

from hockney.core.case import PLACE
from hockney.core.catalog import PING_PONG
from hockney.core.fit import Fit
from hockney.pages.evidence import Evidence
from hockney.pages.series import usable


def fitted(evidence: Evidence) -> Fit | None:
    """The model of the ping-pong with hot buffers, if it was not refused; of the evidence's level only."""
    fits = evidence.fits.select_by_role("hockney", *PING_PONG)
    here = [fit for fit in fits if fit.subject.get(PLACE, "") == evidence.place]
    return usable(here, buffers="hot")
