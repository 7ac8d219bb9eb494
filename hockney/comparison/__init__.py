# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two sides, each of one or more runs: which is slower, where, and what differs between their environments.

Data in, data out: `hockney.api.comparing` reads the runs, and `hockney compare` prints the result."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.comparison.compare import compare
    from hockney.comparison.environment import Difference
    from hockney.comparison.pairing import in_turns
    from hockney.comparison.result import ComparedSides, Unmatched
    from hockney.comparison.side import MeasuredRun, Side
else:
    __getattr__ = lazy.attributes(__name__)
