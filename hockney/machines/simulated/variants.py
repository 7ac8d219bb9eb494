# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Variants of a machine: the same file with some of its keys replaced.

    [variants.fast-barrier]
    title = "fast barrier"
    why = "..."
    hardware_barrier_s = "1us"

Tables are merged key by key, arrays and values replaced; origins and notes are added to the file's own.
Origins of keys that the variant changes no longer apply, nor do the node counts of another shape.
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
    """`keys` are the positions that it changes ("network.link")."""

    name: str
    title: str
    why: str
    keys: tuple[str, ...]


def variants(raw: dict[str, Any], where: str) -> tuple[Variant, ...]:
    """The variants of a parsed machine file, in order."""
    tables = table_of(raw, where).items()
    return tuple(Variant(name, own["title"], own["why"], tuple(_changed(own))) for name, own in tables)


def table_of(raw: dict[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """The variants' tables by name, each checked to have a title and a reason."""
    table = raw.get(VARIANTS, {})
    place = Place(where, VARIANTS)
    if not isinstance(table, dict):
        raise table_expected(place.label, "variants.NAME")
    for name, own in table.items():
        here = place.at(name)
        if not WORD.fullmatch(name):
            raise bad_name(place.label, name, "no-eager")
        if not isinstance(own, dict):
            raise table_expected(here.label, f"variants.{name}")
        for key in _OWN:
            if key not in own:
                raise UsageError(
                    f"{here.at(key).label} is missing",
                    "every variant has a title and a reason",
                    f'add {key} = "..."',
                    code="variant-incomplete",
                    place=here.at(key).label,
                )
            nonempty_text(own[key], here.at(key))
        for key in ("name", VARIANTS):
            if key in own:
                raise UsageError(
                    f"{here.at(key).label} is not allowed in a variant",
                    "it belongs to the whole file",
                    "remove it",
                    code="key-not-for-variants",
                    place=here.at(key).label,
                )
        if not _changed(own):
            raise UsageError(
                f"{here.label} changes nothing",
                "",
                "add a key that it changes, or remove it",
                code="variant-changes-nothing",
            )
    return table


def lay_over(raw: dict[str, Any], name: str, own: dict[str, Any], where: str) -> dict[str, Any]:
    """The file's tables with the variant's keys replaced."""
    keys = {k: v for k, v in own.items() if k not in (*_OWN, *_ADDED)}
    merged = _merge(_without_extent(raw, keys), keys)
    for key in ("name", "title"):
        if not isinstance(raw.get(key), str):
            raise key_missing(Place(where, key).label, f"{key} = ...")
    merged["name"] = f"{raw['name']}+{name}"
    merged["title"] = f"{raw['title']}, {own['title']}"
    changed = _changed(own)
    whole, part = Place(where, ""), Place(where, f"{VARIANTS}.{name}")
    kept = [each for each in _list(raw, "origins", whole) if not _within(each, changed)]
    added = _list(own, "origins", part)
    covered = [origin.get("key") for origin in added if isinstance(origin, dict)]
    uncovered = [key for key in changed if not any(_covers(each, key) for each in covered)]
    guesses = [
        {"key": key, "status": "guess", "source": f"variant {name}: {own['why']}"} for key in uncovered
    ]
    merged["origins"] = [*added, *guesses, *kept]
    merged["notes"] = [*_list(raw, "notes", whole), f"{name}: {own['why']}", *_list(own, "notes", part)]
    return merged


def with_dims(platform: Platform, dims: tuple[int, ...], where: str) -> Platform:
    """The same machine with another extent."""
    shape = platform.network.shape
    named = "x".join(map(str, dims))
    if shape not in ("torus", "mesh"):
        place = Place(where, "network.shape").label
        raise UsageError(
            f"{place} = {shape} does not take dimensions ({named})",
            "only a torus or mesh has dims",
            "remove the dimensions from the name",
            code="shape-without-extent",
            place=place,
        )
    base, plus, rest = platform.name.partition("+")
    origin = Origin(key="network.dims", status="guess", source=f"asked for by name: {named}")
    kept = tuple(each for each in platform.origins if each.key != "network.dims")
    return msgspec.structs.replace(
        platform,
        name=f"{base}-{named}{plus}{rest}",
        title=f"{platform.title}, {' x '.join(map(str, dims))} nodes",
        network=msgspec.structs.replace(platform.network, dims=dims),
        origins=(origin, *kept),
    )


def _without_extent(raw: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """The file without the node counts of its shape, if the variant has another shape."""
    network, over = raw.get("network"), keys.get("network")
    if not isinstance(network, dict) or not isinstance(over, dict):
        return raw
    if over.get("shape", network.get("shape")) == network.get("shape"):
        return raw
    counting = {key for each in KEYS.values() for key in each}
    return raw | {"network": {k: v for k, v in network.items() if k not in counting}}


def _merge(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(under.get(key), dict)
        merged[key] = _merge(under[key], value) if both else value
    return merged


def _changed(own: dict[str, Any]) -> list[str]:
    changed = []
    for key, value in own.items():
        if key in (*_OWN, *_ADDED):
            continue
        changed += [f"{key}.{below}" for below in value] if isinstance(value, dict) else [key]
    return changed


def _within(origin: Any, changed: list[str]) -> bool:
    return isinstance(origin, dict) and any(_covers(key, str(origin.get("key"))) for key in changed)


def _covers(prefix: Any, key: str) -> bool:
    return key == prefix or key.startswith((f"{prefix}.", f"{prefix}["))


def _list(table: dict[str, Any], key: str, place: Place) -> list[Any]:
    values = table.get(key, [])
    if not isinstance(values, list):
        raise list_expected(place.at(key).label, kind_of(values), key)
    return values
