# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the study of pairs."""

from __future__ import annotations

from hockney.core.errors import UsageError
from hockney.core.wording import plural


def too_many_pairs(pairs: int, most: int, where: str) -> UsageError:
    """`most` fit `where` their ranks meet, as in "between nodes"; "" if the launch decides."""
    more = "--nodes and --ranks-per-node" if where else f"--ranks {2 * pairs}"
    return UsageError(
        f"{plural(pairs, 'pair')}{f' {where}' if where else ''} {'does' if pairs == 1 else 'do'} not fit",
        f"at most {plural(most, 'pair')} of ranks fit",
        f"use pairs={max(most, 1)}, or {more}",
        code="too-many-pairs",
        pairs=pairs,
        most=most,
    )


def odd_ranks(ranks: int) -> UsageError:
    return UsageError(
        f"{ranks} ranks are not pairs",
        "rank i and rank i + p/2 are a pair",
        f"use --ranks {ranks + 1}",
        code="odd-ranks",
        ranks=ranks,
    )


def not_at_level(level: str, where: str, levels: list[str]) -> UsageError:
    """`where` ranks would meet, as in "between nodes"; `levels` are those that pairs of the launch have."""
    return UsageError(
        f"no two ranks meet {where}",
        f"pairs of this launch have place={', '.join(levels)}",
        f"use place={levels[-1]}",
        code="not-at-level",
        level=level,
    )
