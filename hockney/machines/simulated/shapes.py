# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Keys of each network shape, and their conditions."""

from __future__ import annotations

import math

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
    """Raise UsageError if the network specifies its number of nodes with the keys of another shape, or not at
    all."""
    required_keys = KEYS[network.shape]
    for key, example in _EXAMPLES.items():
        is_given, label = bool(getattr(network, key)), place.at(key).label
        if key in required_keys and not is_given:
            raise UsageError(
                f"{label} is missing",
                f"it gives the number of nodes of a {network.shape}",
                f"add {example}",
                code="shape-needs-key",
                place=label,
            )
        if is_given and key not in required_keys:
            raise UsageError(
                f"{label} does not apply to a {network.shape}",
                f"its number of nodes is given by {', '.join(required_keys)}",
                "remove this key",
                code="key-of-another-shape",
                place=label,
            )
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
        label = place.at("dragonfly").label
        raise UsageError(
            f"{label} has {len(network.dragonfly)} numbers instead of 4",
            "groups, chassis per group, routers per chassis, nodes per router",
            f"use for example {_EXAMPLES['dragonfly']}",
            code="bad-dragonfly",
            place=label,
            count=len(network.dragonfly),
        )
    cores = sum(group.count * group.cores for group in network.nodes)
    extents = {"fat-tree": network.down, "dragonfly": network.dragonfly}.get(network.shape, network.dims)
    if max(cores, math.prod(extents)) > MOST:
        label = place.at(required_keys[0]).label
        raise UsageError(
            f"{label} gives too many nodes",
            f"the limit is {MOST}",
            code="too-many-nodes",
            place=label,
            limit=MOST,
        )
