# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of interleaved comparisons, and their sides."""

from __future__ import annotations

from pathlib import Path

from hockney.api.comparing import messages
from hockney.store import pair_in, pair_with


def refuse_pair(path: Path) -> None:
    """Raises UsageError for an interleaved comparison, and for one side of it: only both can be resumed, in
    turns."""
    if pair_in(path) is not None:
        raise messages.pair_resumed_as_run(path)
    whole = pair_with(path)
    if whole is not None:
        raise messages.side_of_pair(path, whole)
