# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The keys of each shape of network, and the conditions among them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.core.errors import UsageError
from hockney.core.platform import Network
from hockney.machines.descriptions.values import MOST, Place

KEYS = {
    "switch": ("nodes",),
    "bus": ("nodes",),
    "torus": ("dims",),
    "mesh": ("dims",),
    "fat-tree": ("down", "up", "cables"),
    "dragonfly": ("dragonfly",),
}
"""The keys that give the number of nodes of a shape."""

_EXAMPLES = {
    "nodes": "nodes = [{count = 4}]",
    "dims": "dims = [8, 8]",
    "down": "down = [4, 4]",
    "up": "up = [1, 2]",
    "cables": "cables = [1, 1]",
    "dragonfly": "dragonfly = [2, 2, 2, 4]",
}


def check_network(network: Network, place: Place) -> None:
    """Raises UsageError for a network that specifies its number of nodes like another shape, or not at
    all."""
    wanted = KEYS[network.shape]
    for key, example in _EXAMPLES.items():
        given = bool(getattr(network, key))
        if key in wanted and not given:
            raise _shape_needs_key(place.at(key).label, network.shape, example)
        if given and key not in wanted:
            raise _key_of_another_shape(place.at(key).label, network.shape, wanted)
    levels = {key: len(getattr(network, key)) for key in ("down", "up", "cables")}
    if len(set(levels.values())) > 1:
        raise UsageError(
            f"{place.label}: down, up and cables differ in their number of levels",
            ", ".join(f"{key} has {count}" for key, count in levels.items()),
            "give all three the same number of levels",
            code="levels-differ",
            place=place.label,
            levels=dict(levels),
        )
    if network.shape == "dragonfly" and len(network.dragonfly) != 4:
        count, example = len(network.dragonfly), _EXAMPLES["dragonfly"]
        raise _bad_dragonfly(place.at("dragonfly").label, count, example)
    cores = sum(group.count * group.cores for group in network.nodes)
    extents = {"fat-tree": network.down, "dragonfly": network.dragonfly}.get(network.shape, network.dims)
    if max(cores, math.prod(extents)) > MOST:
        raise _too_many_nodes(place.at(wanted[0]).label, MOST)


def _shape_needs_key(place: str, shape: str, example: str) -> UsageError:
    return UsageError(
        f"{place} is missing",
        f"it gives the number of nodes of a {shape}",
        f"add {example}",
        code="shape-needs-key",
        place=place,
    )


def _key_of_another_shape(place: str, shape: str, counted_by: Sequence[str]) -> UsageError:
    return UsageError(
        f"{place} does not apply to a {shape}",
        f"its number of nodes is given by {', '.join(counted_by)}",
        "remove this key",
        code="key-of-another-shape",
        place=place,
    )


def _bad_dragonfly(place: str, count: int, example: str) -> UsageError:
    return UsageError(
        f"{place} has {count} numbers instead of 4",
        "groups, chassis per group, routers per chassis, nodes per router",
        f"use for example {example}",
        code="bad-dragonfly",
        place=place,
        count=count,
    )


def _too_many_nodes(place: str, limit: int) -> UsageError:
    return UsageError(
        f"{place} gives too many nodes",
        f"the limit is {limit}",
        code="too-many-nodes",
        place=place,
        limit=limit,
    )
