# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""TOML, and the structures whose fields are the keys of its tables."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from hockney.core.errors import UsageError, printable, unknown
from hockney.machines.descriptions.values import Place

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T", bound=msgspec.Struct)
Read = Callable[[Any, Place], Any]
Readers = Mapping[type, Mapping[str, Read]]
"""The meaning of the value of each key, by structure."""


def parse_toml(text: str, where: str, guide: str) -> dict[str, Any]:
    """The file parsed as TOML; `guide` is the document about such files."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, position = _position(str(error))
        raise UsageError(
            f"{printable(where)} is not valid TOML",
            f"{position}: {message}" if position else message,
            f"{guide} has an example",
            code="not-toml",
            position=position,
        ) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise UsageError(
            f"{printable(where)} cannot be read as TOML", str(error), code="toml-not-readable"
        ) from error


def _position(message: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|(end of document))\)", message, re.DOTALL)
    if not match:
        return message, ""
    what = match[1][:1].lower() + match[1][1:]
    return what, f"line {match[2]}, column {match[3]}" if match[2] else "end of file"


@functools.cache
def fields_of(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a structure; msgspec evaluates their annotations each time it is asked."""
    return msgspec.structs.fields(kind)


def read_structure(
    kind: type[T],
    raw: Any,
    place: Place,
    readers: Readers,
    others: Iterable[str] = (),
    example: Callable[[str], str] = lambda name: f"{name} = ...",
) -> T:
    """`raw`, a table, as a structure. `others` are keys that it has besides, for suggestions; `example` shows
    how a missing key is written."""
    if not isinstance(raw, dict):
        raise table_expected(place.label, place.key)
    fields = fields_of(kind)
    names = tuple(f.name for f in fields)
    for name in raw:
        if name not in names:
            raise unknown_key(place.at(name).label, name, (*names, *others))
    for field in fields:
        if field.required and field.name not in raw:
            raise key_missing(place.at(field.name).label, example(field.name))
    return kind(**{name: readers[kind][name](value, place.at(name)) for name, value in raw.items()})


def table_expected(place: str, table: str) -> UsageError:
    return UsageError(f"{place} is not a table", "", f"write [{table}]", code="table-expected", place=place)


def unknown_key(place: str, name: str, available: Iterable[str]) -> UsageError:
    error = unknown("key", name, available, code="unknown-key")
    return UsageError(
        f"{place} is unknown",
        "a machine file has no such key there",
        error.remedy,
        code="unknown-key",
        place=place,
        suggestion=error.suggestion,
    )


def key_missing(place: str, example: str) -> UsageError:
    return UsageError(
        f"{place} is missing", "it has no default", f"add {example}", code="key-missing", place=place
    )
