# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Queries on a description: its numbers by position, their origins, whether ranks fit."""

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
    """Raises UsageError if the machine has fewer cores than `ranks`."""
    if ranks <= platform.capacity:
        return
    larger = "x".join(map(str, _longer(platform, ranks)))
    other = f", or a larger machine by adding -{larger} to its name" if larger else ""
    raise UsageError(
        f"{ranks} ranks are too many for {platform.name}",
        f"its {platform.network.shape} has room for {platform.capacity}",
        f"use at most {platform.capacity} ranks{other}",
        code="too-many-ranks",
        ranks=ranks,
        capacity=platform.capacity,
        larger=larger,
    )


def enlarged(platform: Platform, ranks: int) -> Platform:
    """The machine grown to at least `ranks` cores: longer last axis (torus, mesh) or more nodes of the last
    kind. Raises UsageError for a fat tree or dragonfly, which cannot simply grow."""
    network = platform.network
    if ranks <= platform.capacity:
        return platform
    if network.dims:
        times = -(-ranks // platform.capacity)
        groups = tuple(msgspec.structs.replace(each, count=times * each.count) for each in network.nodes)
        network = msgspec.structs.replace(network, dims=_longer(platform, ranks), nodes=groups)
    elif network.nodes:
        *others, last = network.nodes
        more = -(-(ranks - platform.capacity) // last.cores)
        last = msgspec.structs.replace(last, count=last.count + more)
        network = msgspec.structs.replace(network, nodes=(*others, last))
    else:
        check_ranks(platform, ranks)
    return msgspec.structs.replace(platform, network=network)


def _longer(platform: Platform, ranks: int) -> tuple[int, ...]:
    """The dims of a torus or mesh with room for `ranks`; () for other shapes."""
    dims = platform.network.dims
    return (*dims[:-1], dims[-1] * -(-ranks // platform.capacity)) if dims else ()


def layout(platform: Platform, nodes: int, ranks_per_node: int) -> Layout | None:
    """The user's choice of nodes and of ranks on each. 0 nodes: as few as show all levels; 0 ranks: one on
    each core. None if neither is given: ranks fill the machine. Raises UsageError for more than it has."""
    if not nodes and not ranks_per_node:
        return None
    count, cores = sum(group.count for group in platform.nodes), min(group.cores for group in platform.nodes)
    if nodes > count or ranks_per_node > cores:
        given = f"--nodes {nodes}" if nodes > count else f"--ranks-per-node {ranks_per_node}"
        raise UsageError(
            f"{given} is more than {platform.name} has",
            f"it has {count} nodes with {plural(cores, 'core')} each",
            "use fewer",
            code="layout-beyond-machine",
            nodes=nodes,
            ranks_per_node=ranks_per_node,
        )
    return Layout(nodes or min(2, count), ranks_per_node or cores)


def places(platform: Platform) -> dict[str, object]:
    """Every value of the description that differs from its default, by position: "segments[0].latency_s"."""
    by_place: dict[str, object] = {}
    for field in msgspec.structs.fields(Platform):
        value = getattr(platform, field.name)
        if field.name not in _DESCRIPTIVE and (field.required or value != field.default):
            by_place.update(_below(field.name, value))
    return by_place


def _below(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(type(value)):
            below = getattr(value, field.name)
            if field.required or below != field.default:
                yield from _below(f"{place}.{field.name}", below)
    elif isinstance(value, dict):
        for key, below in value.items():
            yield f"{place}.{key}", below
    elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
        for k, below in enumerate(value):
            yield from _below(f"{place}[{k}]", below)
    else:
        yield place, value


def covers(key: str, place: str) -> bool:
    """Whether an origin's key covers a position: the same, or a prefix of it."""
    return place == key or place.startswith((f"{key}.", f"{key}["))


def origin_of(platform: Platform, place: str) -> Origin | None:
    """The most specific origin of the value at `place`."""
    origins = [each for each in platform.origins if covers(each.key, place)]
    return max(origins, key=lambda each: len(each.key), default=None)


def passed_on(platform: Platform, key: str) -> tuple[Origin, ...]:
    """The origins of the part `key`, for another description that takes it from this one: what is fitted
    there is not fitted better here, and what has no origin is a guess."""
    own_origins = [each for each in platform.origins if covers(key, each.key) or covers(each.key, key)]
    origins = [
        msgspec.structs.replace(
            each,
            key=max(each.key, key, key=len),
            source=f"{platform.name}: {each.source}",
        )
        for each in own_origins
    ]
    keys = [each.key for each in origins]
    lacking = [place for place in places(platform) if covers(key, place)]
    if not all(any(covers(each, place) for each in keys) for place in lacking):
        source = _source_unstated(platform.name)
        origins.append(Origin(key=key, status="guess", source=source))
    return tuple(origins)


def between_nodes_guessed(platform: Platform) -> str:
    """Why the cost of messages between nodes is a guess, if the machine has nodes with several cores and it
    was neither measured nor printed: numbers without an origin are guesses. Empty if it is known."""
    if platform.nodes[0].cores == 1:
        return ""
    origins = [origin_of(platform, f"segments[{k}].latency_s") for k in range(len(platform.segments))]
    if any(each is not None and each.status != "guess" for each in origins):
        return ""
    return next((each.source for each in origins if each is not None), _source_unstated(platform.name))


def all_places(platform: Platform) -> frozenset[str]:
    """All fields, items and tables of the description, given or not."""
    return frozenset(_everything("", platform))


def _everything(place: str, value: object) -> Iterator[str]:
    yield place
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _everything(f"{place}.{name}".lstrip("."), getattr(value, name))
    elif isinstance(value, dict):
        for key in value:
            yield f"{place}.{key}"
    elif isinstance(value, tuple):
        for k, below in enumerate(value):
            yield from _everything(f"{place}[{k}]", below)


def _source_unstated(machine: str) -> str:
    return f"{machine} states no origin"
