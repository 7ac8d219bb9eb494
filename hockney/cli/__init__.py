# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: `hockney VERB`. There is one file per verb. `start` runs a verb, and `errors` prints
every problem as one line."""

from __future__ import annotations

import gc

from hockney.cli import interrupts

TYPE_CHECKING = False
"""Like `typing.TYPE_CHECKING`, without the import: until `main` keeps signals, Ctrl-C ends in a traceback."""
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments, run the verb, and exit with its exit code."""
    interrupts.keep_signals()
    # A run's records are a million objects without cycles, which the collector would visit again and again.
    gc.set_threshold(100_000)
    from hockney.cli.start import guarded

    try:
        code = guarded(arguments)
    except KeyboardInterrupt:  # a second one, just before they are ignored
        code = interrupts.exit_code()
    interrupts.ignore_signals()
    raise SystemExit(code)
