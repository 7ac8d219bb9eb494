# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Variants of a machine: its description with some keys replaced.

    [variants.fast-barrier]
    title = "fast barrier"
    why = "..."
    hardware_barrier_s = "1us"

Tables are merged key by key, arrays and values are replaced, origins and notes are added. Origins of changed
keys are removed, and so are node counts of another shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from hockney.core.errors import UsageError
from hockney.core.platform import Origin, Platform
from hockney.machines.descriptions.files import key_missing, table_expected
from hockney.machines.descriptions.values import WORD, Place, bad_name, kind_of, list_expected, nonempty_text
from hockney.machines.simulated.shapes import KEYS

VARIANTS = "variants"
_OWN = ("title", "why")
_ADDED = ("origins", "notes")


@dataclass(frozen=True)
class Variant:
    """A variant. `keys` are the positions that it changes ("network.link")."""

    name: str
    title: str
    why: str
    keys: tuple[str, ...]


def variants(raw: dict[str, Any], where: str) -> tuple[Variant, ...]:
    """Variants of a parsed machine file, in order."""
    tables = table_of(raw, where).items()
    return tuple(
        Variant(name, keys_of_variant["title"], keys_of_variant["why"], tuple(_changed_keys(keys_of_variant)))
        for name, keys_of_variant in tables
    )


def table_of(raw: dict[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """Tables of the variants by name. Each must have a title and a reason."""
    table = raw.get(VARIANTS, {})
    place = Place(where, VARIANTS)
    if not isinstance(table, dict):
        raise table_expected(place.label, "variants.NAME")
    for name, keys_of_variant in table.items():
        variant_place = place.at(name)
        if not WORD.fullmatch(name):
            raise bad_name(place.label, name, "no-eager")
        if not isinstance(keys_of_variant, dict):
            raise table_expected(variant_place.label, f"variants.{name}")
        for key in _OWN:
            if key not in keys_of_variant:
                raise UsageError(
                    f"{variant_place.at(key).label} is missing",
                    "every variant has a title and a reason",
                    f'add {key} = "..."',
                    code="variant-incomplete",
                    place=variant_place.at(key).label,
                )
            nonempty_text(keys_of_variant[key], variant_place.at(key))
        for key in ("name", VARIANTS):
            if key in keys_of_variant:
                raise UsageError(
                    f"{variant_place.at(key).label} is not allowed in a variant",
                    "it belongs to the whole file",
                    "remove it",
                    code="key-not-for-variants",
                    place=variant_place.at(key).label,
                )
        if not _changed_keys(keys_of_variant):
            raise UsageError(
                f"{variant_place.label} changes nothing",
                "",
                "add a key that it changes, or remove it",
                code="variant-changes-nothing",
            )
    return table


def lay_over(raw: dict[str, Any], name: str, variant_table: dict[str, Any], where: str) -> dict[str, Any]:
    """Replace the variant's keys in the file's tables."""
    keys = {k: v for k, v in variant_table.items() if k not in (*_OWN, *_ADDED)}
    merged = _merge(_without_extent(raw, keys), keys)
    for key in ("name", "title"):
        if not isinstance(raw.get(key), str):
            raise key_missing(Place(where, key).label, f"{key} = ...")
    merged["name"] = f"{raw['name']}+{name}"
    merged["title"] = f"{raw['title']}, {variant_table['title']}"
    changed_keys = _changed_keys(variant_table)
    root, variant_place = Place(where, ""), Place(where, f"{VARIANTS}.{name}")
    kept_origins = [
        origin_ for origin_ in _list(raw, "origins", root) if not _is_within(origin_, changed_keys)
    ]
    added = _list(variant_table, "origins", variant_place)
    covered_keys = [origin.get("key") for origin in added if isinstance(origin, dict)]
    uncovered_keys = [
        key for key in changed_keys if not any(_covers(origin_, key) for origin_ in covered_keys)
    ]
    guesses = [
        {"key": key, "status": "guess", "source": f"variant {name}: {variant_table['why']}"}
        for key in uncovered_keys
    ]
    merged["origins"] = [*added, *guesses, *kept_origins]
    merged["notes"] = [
        *_list(raw, "notes", root),
        f"{name}: {variant_table['why']}",
        *_list(variant_table, "notes", variant_place),
    ]
    return merged


def with_dims(platform: Platform, dims: tuple[int, ...], where: str) -> Platform:
    """Copy of the machine with another extent."""
    shape = platform.network.shape
    dims_text = "x".join(map(str, dims))
    if shape not in ("torus", "mesh"):
        place = Place(where, "network.shape").label
        raise UsageError(
            f"{place} = {shape} does not take dimensions ({dims_text})",
            "only a torus or mesh has dims",
            "remove the dimensions from the name",
            code="shape-without-extent",
            place=place,
        )
    base, separator, variant_text = platform.name.partition("+")
    origin = Origin(key="network.dims", status="guess", source=f"asked for by name: {dims_text}")
    kept_origins = tuple(
        other_origin for other_origin in platform.origins if other_origin.key != "network.dims"
    )
    return msgspec.structs.replace(
        platform,
        name=f"{base}-{dims_text}{separator}{variant_text}",
        title=f"{platform.title}, {' x '.join(map(str, dims))} nodes",
        network=msgspec.structs.replace(platform.network, dims=dims),
        origins=(origin, *kept_origins),
    )


def _without_extent(raw: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """Copy of the file without the node counts of its shape, if the variant has another shape."""
    network, override = raw.get("network"), keys.get("network")
    if not isinstance(network, dict) or not isinstance(override, dict):
        return raw
    if override.get("shape", network.get("shape")) == network.get("shape"):
        return raw
    count_keys = {key for shape_keys in KEYS.values() for key in shape_keys}
    return raw | {"network": {k: v for k, v in network.items() if k not in count_keys}}


def _merge(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in override.items():
        are_tables = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merge(base[key], value) if are_tables else value
    return merged


def _changed_keys(variant_table: dict[str, Any]) -> list[str]:
    changed_keys = []
    for key, value in variant_table.items():
        if key in (*_OWN, *_ADDED):
            continue
        changed_keys += [f"{key}.{subkey}" for subkey in value] if isinstance(value, dict) else [key]
    return changed_keys


def _is_within(origin: Any, changed_keys: list[str]) -> bool:
    return isinstance(origin, dict) and any(_covers(key, str(origin.get("key"))) for key in changed_keys)


def _covers(prefix: Any, key: str) -> bool:
    return key == prefix or key.startswith((f"{prefix}.", f"{prefix}["))


def _list(table: dict[str, Any], key: str, place: Place) -> list[Any]:
    values = table.get(key, [])
    if not isinstance(values, list):
        raise list_expected(place.at(key).label, kind_of(values), key)
    return values
