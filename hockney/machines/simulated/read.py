# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of machine files. Every error names the file and the key.

The struct classes of core/platform.py define the keys and which are required. This module defines the meaning
of values and checks their consistency.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

import msgspec

from hockney.core.errors import UsageError, unknown
from hockney.core.platform import (
    OPERATIONS_WITH_CALL_COSTS,
    RATED_KERNELS,
    SELECTABLE_COLLECTIVES,
    Broadcast,
    Detours,
    Fault,
    Libraries,
    Network,
    NodeGroup,
    Noise,
    Origin,
    Platform,
    Segment,
    Shape,
    Status,
)
from hockney.core.smpi_algorithms import check_algorithm
from hockney.core.units import MAX_SECONDS, parse_seconds
from hockney.machines.descriptions import files, values
from hockney.machines.descriptions.files import Read, table_expected, unknown_key
from hockney.machines.descriptions.values import Place, origin_of_nothing
from hockney.machines.simulated.detours import check_detours, include_traces
from hockney.machines.simulated.queries import all_places
from hockney.machines.simulated.shapes import check_network
from hockney.machines.simulated.variants import VARIANTS, lay_over, table_of, with_dims

T = TypeVar("T", bound=msgspec.Struct)
GUIDE = "docs/machine-files.md"
ORIGIN_EXAMPLE = "network.link or segments[0].latency_s"


def read(
    text: str,
    where: str = "machine file",
    *,
    variants: Iterable[str] = (),
    dims: tuple[int, ...] = (),
    traces: Mapping[str, str] | None = None,
) -> Platform:
    """Parse the description in `text`, with `variants` applied in order and the extent `dims`.

    `where` names the file in errors. `traces` are the texts of the noise traces that the file includes. All
    variants are read, so that mistakes in them are always found. Raises UsageError for an invalid
    description.
    """
    return _read(text, where, tuple(variants), dims, tuple((traces or {}).items()))


@functools.lru_cache(maxsize=64)
def _read(
    text: str,
    where: str,
    variants: tuple[str, ...],
    dims: tuple[int, ...],
    traces: tuple[tuple[str, str], ...],
) -> Platform:
    raw = include_traces(parse(text, where), dict(traces), Place(where, ""))
    variant_tables = table_of(raw, where)
    for name, table in variant_tables.items():
        raw[VARIANTS] |= {name: include_traces(table, dict(traces), Place(where, f"variants.{name}"))}
    base_platform = _platform({k: v for k, v in raw.items() if k != VARIANTS}, Place(where, ""))
    for name in variant_tables:
        _apply_variants(raw, base_platform, [name], where)
    varied = _apply_variants(raw, base_platform, variants, where)
    if not dims:
        return varied
    resized = with_dims(varied, dims, where)
    check_network(resized.network, Place(where, "network"))
    return resized


def parse(text: str, where: str) -> dict[str, Any]:
    """Parse a machine file as TOML."""
    return files.parse_toml(text, where, GUIDE)


def _apply_variants(
    raw: dict[str, Any], base_platform: Platform, names: Sequence[str], where: str
) -> Platform:
    """Apply the named variants to the base."""
    if not names:
        return base_platform
    variant_tables = table_of(raw, where)
    merged = {k: v for k, v in raw.items() if k != VARIANTS}
    for name in names:
        if name not in variant_tables:
            remedy = "" if variant_tables else "this machine has no variants"
            raise unknown(
                f"variant of {base_platform.name}", name, variant_tables, remedy, code="unknown-variant"
            )
        merged = lay_over(merged, name, variant_tables[name], where)
    return _platform(merged, Place(where, f"variants.{'+'.join(names)}"))


def _platform(raw: dict[str, Any], place: Place) -> Platform:
    platform = _struct(Platform, raw, place)
    check_network(platform.network, place.at("network"))
    for name in ("segments", "on_node"):
        _check_segments(getattr(platform, name), place.at(name), required=name == "segments")
    _check_processors(platform, place)
    _check_faults(platform, place.at("faults"))
    check_detours(platform, place.at("detours"))
    known_places = all_places(platform)
    for k, origin in enumerate(platform.origins):
        if origin.key not in known_places:
            key_place = place.at("origins").item(k).at("key")
            raise origin_of_nothing(key_place.label, origin.key, ORIGIN_EXAMPLE)
    return platform


def _check_segments(segments: tuple[Segment, ...], place: Place, *, required: bool) -> None:
    if not segments and required:
        raise UsageError(
            f"{place.label} is missing",
            "at least one segment must give the cost of a message",
            "add [[segments]] with first = 0",
            code="no-segments",
            place=place.label,
        )
    if segments and segments[0].first != 0:
        label = place.item(0).at("first").label
        raise UsageError(
            f"{label} = {segments[0].first}",
            "the first segment must start at 0 bytes",
            "set first = 0",
            code="first-segment-not-zero",
            place=label,
        )
    for k in range(1, len(segments)):
        previous_first, first = segments[k - 1].first, segments[k].first
        if first <= previous_first:
            raise _not_ascending(place.item(k).at("first").label, first, previous_first)


def _check_processors(platform: Platform, place: Place) -> None:
    """Check processor overheads: messages within a node have none, and between nodes they require nodes with
    one core."""
    has_multicore_nodes = any(group.cores > 1 for group in platform.nodes)
    for name in ("segments", "on_node"):
        for k, segment in enumerate(getattr(platform, name)):
            for key in ("processor_s", "processor_s_per_byte"):
                label = place.at(name).item(k).at(key).label
                if getattr(segment, key) and name == "on_node":
                    raise unknown_key(label, key, _ON_NODE)
                if getattr(segment, key) and has_multicore_nodes:
                    raise UsageError(
                        f"{label} needs nodes of one core",
                        "which of several would do the work is not modelled",
                        "give nodes one core, or remove it",
                        code="several-cores",
                        place=label,
                    )


def _check_faults(platform: Platform, place: Place) -> None:
    """Check that every fault concerns one node, two different ones, or the nodes below an uplink, and that
    they exist."""
    count = sum(group.count for group in platform.nodes)
    for k, fault in enumerate(platform.faults):
        label = place.item(k).at("uplink" if fault.uplink else "nodes").label
        nodes = fault.nodes or fault.uplink
        is_path = len(fault.nodes) in (1, 2) and not fault.uplink
        is_uplink = bool(fault.uplink) and not fault.nodes and len(nodes) < count
        if len(set(nodes)) < len(nodes) or not (is_path or is_uplink):
            raise UsageError(
                f"{label} is neither a node, nor two nodes, nor the nodes below a switch",
                "a fault concerns one node, the path between two nodes, or the uplink of some of the nodes",
                "use for example nodes = [3], nodes = [2, 5] or uplink = [0, 1, 2, 3]",
                code="fault-not-one-or-two-nodes",
                place=label,
            )
        if max(nodes) >= count:
            raise UsageError(
                f"{label}: node {max(nodes)} does not exist",
                f"nodes are numbered from 0 to {count - 1}",
                "use a number in this range",
                code="fault-beyond-nodes",
                place=label,
            )


def _struct(kind: type[T], raw: Any, place: Place) -> T:
    return files.read_structure(kind, raw, place, READERS, (VARIANTS,) if kind is Platform else (), _example)


def _example(name: str) -> str:
    tables = {"network": "[network] with its shape", "segments": "[[segments]] with first = 0"}
    return tables.get(name, f"{name} = ...")


def _by_operation(names: tuple[str, ...], one: Callable[[str, Any, Place], Any]) -> Read:
    """Reader of a table with keys among `names`."""

    def read(raw: Any, place: Place) -> dict[str, Any]:
        if not isinstance(raw, dict):
            raise table_expected(place.label, place.key)
        for name in raw:
            if name not in names:
                raise unknown_key(place.at(name).label, name, names)
        return {name: one(name, value, place.at(name)) for name, value in raw.items()}

    return read


def _algorithm(operation: str, raw: Any, place: Place) -> str:
    name = values.text_value(raw, place)
    try:
        check_algorithm(operation, name)
    except UsageError as error:
        raise error.with_context(place.label) from error
    return name


@dataclass(frozen=True)
class _Pairs:
    """Reads pairs of these quantities, in ascending order of the first one."""

    first: values.Quantity
    second: values.Quantity
    what: str
    example: str
    sorted_by: str = "size"

    def read(self, raw: Any, place: Place) -> tuple[tuple[int, float], ...]:
        pairs = values.list_of(self._pair)(raw, place)
        if not pairs:
            raise UsageError(
                f"{place.label} is empty",
                f"pairs of {self.what} are expected",
                f"use for example [{self.example}]",
                code="no-points",
                place=place.label,
            )
        for k in range(1, len(pairs)):
            if pairs[k][0] <= pairs[k - 1][0]:
                raise _not_ascending(place.item(k).label, pairs[k][0], pairs[k - 1][0], self.sorted_by)
        return pairs

    def _pair(self, raw: Any, place: Place) -> tuple[int, float]:
        if not isinstance(raw, list) or len(raw) != 2:
            raise UsageError(
                f"{place.label} is not a pair",
                f"{self.what} are expected",
                f"use for example {self.example}",
                code="not-a-pair",
                place=place.label,
            )
        return int(self.first.read(raw[0], place.item(0))), self.second.read(raw[1], place.item(1))


_CALL_COSTS = _Pairs(values.BYTES, values.SECONDS, "bytes and seconds", '[1024, "200ns"]')
_MEMORY_RATES = _Pairs(
    values.COUNT, values.RATE, "numbers of busy cores and rates", '[1, "12GB/s"]', "number"
)


def _memory_rates(raw: Any, place: Place) -> tuple[tuple[int, float], ...]:
    pairs = _MEMORY_RATES.read(raw, place)
    if pairs[0][0] != 1:
        raise UsageError(
            f"{place.item(0).label} is not the rate of one core",
            "slowdowns are relative to a core alone on its node",
            'begin for example with [1, "12GB/s"]',
            code="no-rate-of-one-core",
            place=place.item(0).label,
        )
    return pairs


def _exactly_one(kind: type[T]) -> Read:
    return lambda raw, place: _struct(kind, raw, place)


_TEXTS = values.list_of(values.text_value)
_COUNTS = values.list_of(values.COUNT.read)


def _readers(kind: type[msgspec.Struct], **others: Read) -> dict[str, Read]:
    """Readers of the keys. Times are recognised by their names."""
    fields = (field.name for field in msgspec.structs.fields(kind))
    return {name: others[name] if name in others else _time(name).read for name in fields}


def _time(name: str) -> values.Quantity:
    if name.endswith(("per_byte", "per_byte_s")):
        return values.PER_BYTE
    assert name.endswith("_s"), name
    return values.SECONDS


NODE = values.Quantity("node", values.no_text, "3", values.MOST, whole=True)
SLOWDOWN = values.Quantity("slowdown", values.no_text, "1.1", 1e6, low=1.0)
LOSS = values.Quantity("share of lost messages", values.no_text, "0.001", 0.99)
_PERIOD = values.Quantity("period", parse_seconds, '"10ms"', MAX_SECONDS, positive=True)

READERS: dict[type, dict[str, Read]] = {
    Segment: _readers(Segment, first=values.BYTES.read),
    NodeGroup: _readers(NodeGroup, count=values.COUNT.read, cores=values.COUNT.read),
    Libraries: _readers(Libraries),
    Noise: _readers(
        Noise, relative=values.FRACTION.read, per_launch=values.FRACTION.read, seed=values.SEED.read
    ),
    Fault: _readers(
        Fault,
        nodes=values.list_of(NODE.read),
        uplink=values.list_of(NODE.read),
        slowdown=SLOWDOWN.read,
        loss=LOSS.read,
    ),
    Detours: _readers(
        Detours,
        period_s=_PERIOD.read,
        length_s=values.one_or_list_of(values.SECONDS.read),
        start_s=values.one_or_list_of(values.SECONDS.read),
        nodes=values.list_of(values.INDEX.read),
        first_rank=values.INDEX.read,
        rank_step=values.COUNT.read,
    ),
    Origin: _readers(
        Origin,
        key=values.nonempty_text,
        status=values.choice_of(get_args(Status)),
        source=values.nonempty_text,
        rows=_TEXTS,
    ),
    Network: _readers(
        Network,
        **dict.fromkeys(("dims", "down", "up", "cables", "dragonfly"), _COUNTS),
        shape=values.choice_of(get_args(Shape)),
        nodes=values.list_of(_exactly_one(NodeGroup)),
        nic=values.RATE.read,
        duplex=values.choice_of(("full", "half")),
        link=values.RATE.read,
        broadcast=values.choice_of(get_args(Broadcast)),
    ),
    Platform: _readers(
        Platform,
        name=values.machine_name,
        title=values.nonempty_text,
        source=values.text_value,
        network=_exactly_one(Network),
        eager=values.BYTES.read,
        segments=values.list_of(_exactly_one(Segment)),
        on_node=values.list_of(_exactly_one(Segment)),
        collectives=_by_operation(SELECTABLE_COLLECTIVES, _algorithm),
        flops=values.FLOPS.read,
        rates=_by_operation(RATED_KERNELS, lambda _, raw, place: values.OPERATIONS.read(raw, place)),
        barrier_cluster=values.COUNT.read,
        calls=_by_operation(OPERATIONS_WITH_CALL_COSTS, lambda _, raw, place: _CALL_COSTS.read(raw, place)),
        memory=_memory_rates,
        libraries=_exactly_one(Libraries),
        noise=_exactly_one(Noise),
        faults=values.list_of(_exactly_one(Fault)),
        detours=values.list_of(_exactly_one(Detours)),
        origins=values.list_of(_exactly_one(Origin)),
        notes=_TEXTS,
        poor_fit=values.text_value,
        two_modes=values.text_value,
    ),
}
_ON_NODE = tuple(name for name in READERS[Segment] if not name.startswith("processor_"))


def _not_ascending(place: str, value: int, previous: int, what: str = "size") -> UsageError:
    """Error for sizes that do not ascend, in segments or in the costs of a call, or of other numbers."""
    return UsageError(
        f"{place} = {value} is not greater than the previous {what}, {previous}",
        f"{what}s must be in ascending order",
        f"sort them, with each {what} once",
        code="not-ascending",
        place=place,
        value=value,
        before=previous,
    )
