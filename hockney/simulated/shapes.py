# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The keys of each shape of network, and the conditions among them."""

from __future__ import annotations

import math

from hockney.core.platform import Network
from hockney.description.values import MOST, Place
from hockney.simulated import messages

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
            raise messages.shape_needs_key(place.at(key).named, network.shape, example)
        if given and key not in wanted:
            raise messages.key_of_another_shape(place.at(key).named, network.shape, wanted)
    levels = {key: len(getattr(network, key)) for key in ("down", "up", "cables")}
    if len(set(levels.values())) > 1:
        raise messages.levels_differ(place.named, levels)
    if network.shape == "dragonfly" and len(network.dragonfly) != 4:
        count, example = len(network.dragonfly), _EXAMPLES["dragonfly"]
        raise messages.bad_dragonfly(place.at("dragonfly").named, count, example)
    cores = sum(group.count * group.cores for group in network.nodes)
    extents = {"fat-tree": network.down, "dragonfly": network.dragonfly}.get(network.shape, network.dims)
    if max(cores, math.prod(extents)) > MOST:
        raise messages.too_many_nodes(place.at(wanted[0]).named, MOST)
