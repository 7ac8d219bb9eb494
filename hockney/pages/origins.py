# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which of a described machine's numbers were printed, which were fitted, and which are guesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.platform import Platform
from hockney.core.wording import join_words
from hockney.machines import simulated

UNSAID = "not said"
"""The description does not state where a number comes from."""
SHORT = {"guess": "a guess", UNSAID: "of unknown origin"}


WHAT = {
    "latency": "latency",
    "byte-cost": "cost of a byte",
    "latency-on-node": "latency on a node",
    "byte-cost-on-node": "cost of a byte on a node",
    "network": "network",
    "node-count": "number of nodes",
}


@dataclass(frozen=True)
class Provenance:
    """`code` is one of WHAT, `what` its description; `status` printed, fitted, guess, or not stated; `source`
    as given."""

    code: str
    what: str
    status: str
    source: str


def provenance(platform: Platform) -> tuple[Provenance, ...]:
    """The origin of every number that determines the time of an exchange of messages between nodes, each
    source once."""
    rows = []
    for code, place in _places(platform):
        origin = simulated.origin_of(platform, place)
        status, source = (origin.status, origin.source) if origin else (UNSAID, "")
        rows.append(Provenance(code, WHAT[code], status, source))
    return tuple(dict.fromkeys(rows))


def in_short(platform: Platform) -> str:
    """ "latency fitted, cost of a byte and network printed, number of nodes a guess"."""
    statuses: dict[str, dict[str, None]] = {}
    for each in provenance(platform):
        statuses.setdefault(each.what, {})[SHORT.get(each.status, each.status)] = None
    alike: dict[str, list[str]] = {}
    for what, of_what in statuses.items():
        alike.setdefault(join_words(of_what), []).append(what)
    return ", ".join(f"{join_words(whats)} {status}" for status, whats in alike.items())


def _places(platform: Platform) -> Iterator[tuple[str, str]]:
    """Codes of WHAT, each with its key in the description."""
    network = platform.network
    for table in ("segments", "on_node"):
        yield from _messages(platform, table, "" if table == "segments" else "-on-node")
    if network.medium_message_s:
        yield "latency", "network.medium_message_s"
    if network.medium_s_per_byte:
        yield "byte-cost", "network.medium_s_per_byte"
    yield "network", "network.shape"
    yield "node-count", f"network.{_counted(platform)}"


def _messages(platform: Platform, table: str, where: str) -> Iterator[tuple[str, str]]:
    for k, segment in enumerate(getattr(platform, table)):
        if segment.one_way(0) > 0:
            yield f"latency{where}", f"{table}[{k}].latency_s"
    for k, segment in enumerate(getattr(platform, table)):
        for name in ("per_byte_s", "send_s_per_byte", "receive_s_per_byte"):
            if getattr(segment, name):
                yield f"byte-cost{where}", f"{table}[{k}].{name}"


def _counted(platform: Platform) -> str:
    shapes = {"fat-tree": "down", "dragonfly": "dragonfly", "torus": "dims", "mesh": "dims"}
    return shapes.get(platform.network.shape, "nodes")
