# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of interleaved comparisons, and their sides."""

from __future__ import annotations

import shlex
from pathlib import Path

from hockney.core.errors import UsageError, printable
from hockney.store import pair_in, pair_with


def refuse_pair(path: Path) -> None:
    """Raises UsageError for an interleaved comparison, and for one side of it: only both can be resumed, in
    turns."""
    if pair_in(path) is not None:
        raise UsageError(
            f"'{printable(str(path))}' is an interleaved comparison",
            "it has two runs",
            "use hockney.resume_interleaved",
            code="pair-resumed-as-run",
            path=str(path),
        )
    whole = pair_with(path)
    if whole is not None:
        raise UsageError(
            f"'{printable(str(path))}' is one side of an interleaved comparison",
            "its launches alternate with those of the other side",
            f"resume both: hockney resume {printable(shlex.quote(str(whole)))}",
            code="interleaved-side",
            path=str(path),
            whole=str(whole),
        )
