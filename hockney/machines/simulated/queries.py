# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Queries on a description: numbers by position, their origins, capacity for ranks."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hockney.core.errors import UsageError
from hockney.core.layout import Layout
from hockney.core.platform import Origin, Platform
from hockney.core.wording import plural

_DESCRIPTIVE = ("name", "title", "source", "origins", "notes", "poor_fit", "two_modes")
"""Keys for readers, which need no origin."""


def check_ranks(platform: Platform, ranks: int) -> None:
    """Raise UsageError if the machine has fewer cores than `ranks`."""
    if ranks <= platform.capacity:
        return
    larger = "x".join(map(str, _lengthened_dims(platform, ranks)))
    alternative = f", or a larger machine by adding -{larger} to its name" if larger else ""
    raise UsageError(
        f"{ranks} ranks are too many for {platform.name}",
        f"its {platform.network.shape} has room for {platform.capacity}",
        f"use at most {platform.capacity} ranks{alternative}",
        code="too-many-ranks",
        ranks=ranks,
        capacity=platform.capacity,
        larger=larger,
    )


def enlarged(platform: Platform, ranks: int) -> Platform:
    """Copy of the machine with at least `ranks` cores: a longer last axis (torus, mesh) or more nodes of the
    last kind. Raises UsageError for a fat tree or dragonfly, which cannot be enlarged."""
    network = platform.network
    if ranks <= platform.capacity:
        return platform
    if network.dims:
        factor = -(-ranks // platform.capacity)
        groups = tuple(msgspec.structs.replace(group, count=factor * group.count) for group in network.nodes)
        network = msgspec.structs.replace(network, dims=_lengthened_dims(platform, ranks), nodes=groups)
    elif network.nodes:
        *other_groups, last_group = network.nodes
        added_nodes = -(-(ranks - platform.capacity) // last_group.cores)
        last_group = msgspec.structs.replace(last_group, count=last_group.count + added_nodes)
        network = msgspec.structs.replace(network, nodes=(*other_groups, last_group))
    else:
        check_ranks(platform, ranks)
    return msgspec.structs.replace(platform, network=network)


def _lengthened_dims(platform: Platform, ranks: int) -> tuple[int, ...]:
    """Dimensions of a torus or mesh with room for `ranks`; () for other shapes."""
    dims = platform.network.dims
    return (*dims[:-1], dims[-1] * -(-ranks // platform.capacity)) if dims else ()


def layout(platform: Platform, nodes: int, ranks_per_node: int) -> Layout | None:
    """Layout with the requested number of nodes (0: the minimum that has all levels) and of ranks per node
    (0: one per core). None if neither is given, so that ranks fill the machine. Raises UsageError if the
    machine is too small."""
    if not nodes and not ranks_per_node:
        return None
    count, cores = sum(group.count for group in platform.nodes), min(group.cores for group in platform.nodes)
    if nodes > count or ranks_per_node > cores:
        option_text = f"--nodes {nodes}" if nodes > count else f"--ranks-per-node {ranks_per_node}"
        raise UsageError(
            f"{option_text} is more than {platform.name} has",
            f"it has {count} nodes with {plural(cores, 'core')} each",
            "use fewer",
            code="layout-beyond-machine",
            nodes=nodes,
            ranks_per_node=ranks_per_node,
        )
    return Layout(nodes or min(2, count), ranks_per_node or cores)


def places(platform: Platform) -> dict[str, object]:
    """Values of the description that differ from their defaults, by position such as
    "segments[0].latency_s"."""
    by_place: dict[str, object] = {}
    for field in msgspec.structs.fields(Platform):
        value = getattr(platform, field.name)
        if field.name not in _DESCRIPTIVE and (field.required or value != field.default):
            by_place.update(_child_places(field.name, value))
    return by_place


def _child_places(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(type(value)):
            child = getattr(value, field.name)
            if field.required or child != field.default:
                yield from _child_places(f"{place}.{field.name}", child)
    elif isinstance(value, dict):
        for key, child in value.items():
            yield f"{place}.{key}", child
    elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
        for k, child in enumerate(value):
            yield from _child_places(f"{place}[{k}]", child)
    else:
        yield place, value


def covers(key: str, place: str) -> bool:
    """Whether the key of an origin covers a position: it is equal or a prefix."""
    return place == key or place.startswith((f"{key}.", f"{key}["))


def origin_of(platform: Platform, place: str) -> Origin | None:
    """Most specific origin of the value at `place`."""
    origins = [origin for origin in platform.origins if covers(origin.key, place)]
    return max(origins, key=lambda origin: len(origin.key), default=None)


def passed_on(platform: Platform, key: str) -> tuple[Origin, ...]:
    """Origins of the part `key` for another description that reuses it. Fitted values remain fitted, and
    values without an origin are guesses."""
    own_origins = [
        origin for origin in platform.origins if covers(key, origin.key) or covers(origin.key, key)
    ]
    origins = [
        msgspec.structs.replace(
            origin,
            key=max(origin.key, key, key=len),
            source=f"{platform.name}: {origin.source}",
        )
        for origin in own_origins
    ]
    keys = [origin.key for origin in origins]
    unsourced_places = [place for place in places(platform) if covers(key, place)]
    if not all(any(covers(origin, place) for origin in keys) for place in unsourced_places):
        source = _source_unstated(platform.name)
        origins.append(Origin(key=key, status="guess", source=source))
    return tuple(origins)


def between_nodes_guessed(platform: Platform) -> str:
    """Reason why the cost of messages between nodes is a guess; "" if it is known. This applies to machines
    with several cores per node. Numbers without an origin are guesses."""
    if platform.nodes[0].cores == 1:
        return ""
    origins = [origin_of(platform, f"segments[{k}].latency_s") for k in range(len(platform.segments))]
    if any(origin is not None and origin.status != "guess" for origin in origins):
        return ""
    return next((origin.source for origin in origins if origin is not None), _source_unstated(platform.name))


def all_places(platform: Platform) -> frozenset[str]:
    """Positions of all fields, items and tables of the description, set or not."""
    return frozenset(_descend("", platform))


def _descend(place: str, value: object) -> Iterator[str]:
    yield place
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _descend(f"{place}.{name}".lstrip("."), getattr(value, name))
    elif isinstance(value, dict):
        for key in value:
            yield f"{place}.{key}"
    elif isinstance(value, tuple):
        for k, child in enumerate(value):
            yield from _descend(f"{place}[{k}]", child)


def _source_unstated(machine: str) -> str:
    return f"{machine} states no origin"
