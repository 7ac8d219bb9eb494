# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Trains of messages, from which LogGP's o_s, o_r and g follow (`hockney/models/fits/loggp.py`)."""

from __future__ import annotations

from collections.abc import Iterator

MESSAGES = 16
PAUSE = 1.5
"""Round trips between two messages of a delayed train. A pause must be longer than the gap, or it hides the
overhead (Hoefler, Lichei and Rehm 2007), but not much: errors of the train's time are divided by its messages
only."""


def trains(size: int) -> Iterator[str]:
    """One message, trains without and with pauses, and the receive call alone."""
    yield f"prtt bytes={size} messages=1 ranks=2"
    yield f"prtt bytes={size} messages={MESSAGES} ranks=2"
    yield f"prtt bytes={size} messages={MESSAGES} pause={PAUSE} ranks=2"
    yield f"receive_overhead bytes={size} ranks=2"
