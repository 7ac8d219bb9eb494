# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Trains of messages, from which LogGP's o_s, o_r and g are derived (`hockney/models/fits/loggp.py`)."""

from __future__ import annotations

from collections.abc import Iterator

TRAIN_LENGTH = 16
PAUSE_IN_ROUND_TRIPS = 1.5
"""Round trips between two messages of a delayed train. A pause must be longer than the gap, otherwise it
hides the overhead (Hoefler, Lichei and Rehm 2007). It should not be much longer, since errors of the train's
time are only divided by its number of messages."""


def train_lines(size: int) -> Iterator[str]:
    """One message, trains without and with pauses, and the receive call by itself."""
    yield f"prtt bytes={size} messages=1 ranks=2"
    yield f"prtt bytes={size} messages={TRAIN_LENGTH} ranks=2"
    yield f"prtt bytes={size} messages={TRAIN_LENGTH} pause={PAUSE_IN_ROUND_TRIPS} ranks=2"
    yield f"receive_overhead bytes={size} ranks=2"
