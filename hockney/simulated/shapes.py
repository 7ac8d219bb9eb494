# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which keys each shape of network has, and what must agree among them."""

from __future__ import annotations

import math

from hockney.core.platform import Network
from hockney.simulated.values import MOST, Place

KEYS = {
    "switch": ("nodes",),
    "bus": ("nodes",),
    "torus": ("dims",),
    "mesh": ("dims",),
    "fat-tree": ("down", "up", "cables"),
    "dragonfly": ("dragonfly",),
}
"""The keys that count the nodes of a shape."""

_EXAMPLES = {
    "nodes": "nodes = [{count = 4}]",
    "dims": "dims = [8, 8]",
    "down": "down = [4, 4]",
    "up": "up = [1, 2]",
    "cables": "cables = [1, 1]",
    "dragonfly": "dragonfly = [2, 2, 2, 4]",
}


def check_network(network: Network, place: Place) -> None:
    """Raises UsageError for a network that counts its nodes in another shape's way, or not at all."""
    wanted = KEYS[network.shape]
    for key, example in _EXAMPLES.items():
        given = bool(getattr(network, key))
        if key in wanted and not given:
            place.at(key).fail("is missing", f"a {network.shape} counts its nodes by it", f"add {example}")
        if given and key not in wanted:
            place.at(key).fail(
                f"is not for a {network.shape}",
                f"its nodes are counted by {', '.join(wanted)}",
                f"remove {key}",
            )
    levels = {key: len(getattr(network, key)) for key in ("down", "up", "cables")}
    if len(set(levels.values())) > 1:
        said = ", ".join(f"{key} has {count}" for key, count in levels.items())
        place.at("down").fail("has not as many levels as up and cables", said, "give each as many numbers")
    if network.shape == "dragonfly" and len(network.dragonfly) != 4:
        place.at("dragonfly").fail(
            f"has {len(network.dragonfly)} numbers",
            "groups, chassis a group, routers a chassis, nodes a router are wanted",
            f"for example {_EXAMPLES['dragonfly']}",
        )
    cores = sum(group.count * group.cores for group in network.nodes)
    extents = {"fat-tree": network.down, "dragonfly": network.dragonfly}.get(network.shape, network.dims)
    if max(cores, math.prod(extents)) > MOST:
        place.at(wanted[0]).fail("counts too many nodes", f"{MOST} are the most", "ask for less")
