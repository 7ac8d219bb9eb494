# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The origins of a described machine's numbers: printed, fitted, or guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.platform import Platform
from hockney.core.wording import join_words
from hockney.machines import simulated

UNSTATED = "not said"
"""The status of a number whose origin the description does not state."""
STATUS_PHRASES = {"guess": "a guess", UNSTATED: "of unknown origin"}


QUANTITIES = {
    "latency": "latency",
    "byte-cost": "cost of a byte",
    "latency-on-node": "latency on a node",
    "byte-cost-on-node": "cost of a byte on a node",
    "network": "network",
    "node-count": "number of nodes",
}


@dataclass(frozen=True)
class Provenance:
    """The origin of a number. `code` is a key of QUANTITIES and `what` its description; `status` is printed,
    fitted, guess, or UNSTATED; `source` is copied from the description."""

    code: str
    what: str
    status: str
    source: str


def provenance(platform: Platform) -> tuple[Provenance, ...]:
    """Return the origin of every number that determines the time of messages between nodes. Each source
    appears once."""
    rows = []
    for code, key in _quantity_keys(platform):
        origin = simulated.origin_of(platform, key)
        status, source = (origin.status, origin.source) if origin else (UNSTATED, "")
        rows.append(Provenance(code, QUANTITIES[code], status, source))
    return tuple(dict.fromkeys(rows))


def provenance_summary(platform: Platform) -> str:
    """Return a summary such as "latency fitted, cost of a byte and network printed, number of nodes a
    guess"."""
    statuses: dict[str, dict[str, None]] = {}
    for entry in provenance(platform):
        statuses.setdefault(entry.what, {})[STATUS_PHRASES.get(entry.status, entry.status)] = None
    by_statuses: dict[str, list[str]] = {}
    for quantity, quantity_statuses in statuses.items():
        by_statuses.setdefault(join_words(quantity_statuses), []).append(quantity)
    return ", ".join(f"{join_words(quantities)} {status}" for status, quantities in by_statuses.items())


def _quantity_keys(platform: Platform) -> Iterator[tuple[str, str]]:
    """Yield codes of QUANTITIES, each with its key in the machine's description."""
    network = platform.network
    for table in ("segments", "on_node"):
        yield from _message_keys(platform, table, "" if table == "segments" else "-on-node")
    if network.medium_message_s:
        yield "latency", "network.medium_message_s"
    if network.medium_s_per_byte:
        yield "byte-cost", "network.medium_s_per_byte"
    yield "network", "network.shape"
    yield "node-count", f"network.{_node_count_key(platform)}"


def _message_keys(platform: Platform, table: str, suffix: str) -> Iterator[tuple[str, str]]:
    for k, segment in enumerate(getattr(platform, table)):
        if segment.one_way(0) > 0:
            yield f"latency{suffix}", f"{table}[{k}].latency_s"
    for k, segment in enumerate(getattr(platform, table)):
        for name in ("per_byte_s", "send_s_per_byte", "receive_s_per_byte"):
            if getattr(segment, name):
                yield f"byte-cost{suffix}", f"{table}[{k}].{name}"


def _node_count_key(platform: Platform) -> str:
    shapes = {"fat-tree": "down", "dragonfly": "dragonfly", "torus": "dims", "mesh": "dims"}
    return shapes.get(platform.network.shape, "nodes")
