# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about where ranks meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.errors import UsageError
from hockney.core.layout import Layout, Level, level_from
from hockney.core.wording import plural, together

ON_THREADS = "start a rank on each hardware thread (with --mpiexec-args, see docs/levels.md)"
ON_NODES = "start ranks on several hosts (--nodes, --hosts)"
MORE = "start more ranks on each node (--ranks-per-node)"
OTHERWISE: Mapping[Level, str] = {
    "core": ON_THREADS,
    "cache": MORE,
    "socket": MORE,
    "node": MORE,
    "network": ON_NODES,
}
"""How ranks come to meet at each level, if the machine has it."""


def no_such_level(place: str, available: Sequence[str]) -> UsageError:
    return UsageError(
        f"no ranks meet at place={place}",
        f"the ranks started here meet at {together(available)}",
        f"use place={available[-1]}, or {OTHERWISE[level_from(place)]}",
        code="no-such-level",
        place=place,
        available=list(available),
    )


def too_few_nodes(ranks: int, nodes: int, layout: Layout) -> UsageError:
    return UsageError(
        f"{plural(ranks, 'rank')} on {plural(nodes, 'node')} do not fit",
        f"there {'is' if layout.nodes == 1 else 'are'} {plural(layout.nodes, 'node')} with "
        f"{plural(layout.ranks_per_node, 'rank')} each",
        "use fewer ranks, or start more (--nodes, --hosts, --ranks-per-node)",
        code="ranks-not-on-nodes",
        ranks=ranks,
        nodes=nodes,
        available_nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
    )
