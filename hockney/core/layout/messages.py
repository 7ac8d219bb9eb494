# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages about the places of ranks."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, printable, unknown


def unknown_level(text: str, available: Iterable[str]) -> UsageError:
    return unknown("place", text, available)


def not_a_layout(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a layout",
        "it is the number of nodes, x, and the ranks on each",
        "use for example 2x4",
        code="not-a-layout",
        text=text,
    )


def unknown_starter(name: str, available: Iterable[str]) -> UsageError:
    return unknown("launcher", name, available, code="unknown-starter")


def node_count_not_usable(text: str, ranks: int) -> UsageError:
    """`text` is the value of nodes=."""
    return UsageError(
        f"nodes={printable(text)} does not divide ranks={ranks}",
        "every node has the same number of ranks",
        "use for example nodes=1",
        code="node-count-not-usable",
        nodes=text,
        ranks=ranks,
    )


def pairs_need_even_ranks(ranks: int) -> UsageError:
    return UsageError(
        f"place= needs an even number of ranks, not {ranks}",
        "it is where rank i and rank i + p/2 meet",
        "use nodes= to spread ranks over nodes",
        code="pairs-need-even-ranks",
        ranks=ranks,
    )


def place_and_nodes() -> UsageError:
    return UsageError(
        "place= and nodes= exclude each other",
        "both choose the ranks of a case",
        "leave one of them out",
        code="place-and-nodes",
    )
