# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Detours of cores in machine files, and noise traces: TOML files that contain nothing but [[detours]].

A machine file includes a trace with `trace = "FILE"`, relative to its own folder. The other keys of that
table, `nodes`, apply to all detours of the trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hockney.core.errors import UsageError, printable
from hockney.core.platform import Detours, Platform
from hockney.machines.descriptions.files import parse_toml, read_file, table_expected, unknown_key
from hockney.machines.descriptions.values import Place, text_value
from hockney.machines.simulated.variants import VARIANTS

TABLE = "detours"
TRACE = "trace"
GUIDE = "docs/studies/noise.md"
MAX_TRACE_BYTES = 64 << 20


def read_traces(raw: Mapping[str, Any], where: str, folder: Path) -> dict[str, str]:
    """Read the noise traces that a machine file and its variants include. `folder` is that of the machine
    file. Raises UsageError for a missing file."""
    names = (item[TRACE] for item in _items(raw) if isinstance(item.get(TRACE), str))
    return {name: read_file(folder / name, (), MAX_TRACE_BYTES) for name in dict.fromkeys(names)}


def include_traces(raw: dict[str, Any], traces: Mapping[str, str], place: Place) -> dict[str, Any]:
    """Replace the tables that name a trace by the detours of the trace."""
    tables = raw.get(TABLE)
    if not isinstance(tables, list):
        return raw
    included: list[Any] = []
    for k, table in enumerate(tables):
        if isinstance(table, dict) and TRACE in table:
            included += _included(table, traces, place.at(TABLE).item(k))
        else:
            included.append(table)
    return raw | {TABLE: included}


def _included(table: dict[str, Any], traces: Mapping[str, str], place: Place) -> list[Any]:
    name = text_value(table[TRACE], place.at(TRACE))
    for key in table:
        if key not in (TRACE, "nodes"):
            raise unknown_key(place.at(key).label, key, (TRACE, "nodes"))
    if name not in traces:
        raise UsageError(
            f"{place.at(TRACE).label} = '{printable(name)}' cannot be read here",
            "only a machine file on disk can name a trace",
            "copy the trace's [[detours]] into the description",
            code="trace-without-file",
            place=place.label,
        )
    shared = {key: value for key, value in table.items() if key != TRACE}
    return [item | shared for item in trace_tables(traces[name], name)]


def trace_tables(text: str, where: str) -> list[dict[str, Any]]:
    """Parse a noise trace. Its values are not checked."""
    raw = parse_toml(text, where, GUIDE)
    for key in raw:
        if key != TABLE:
            raise unknown_key(Place(where, key).label, key, (TABLE,))
    tables = raw.get(TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise table_expected(Place(where, TABLE).label, TABLE)
    return tables


def check_detours(platform: Platform, place: Place) -> None:
    """Raise UsageError for detours that are not in order, overlap, do not fit in their period, or are on
    nodes that do not exist."""
    nodes = sum(group.count for group in platform.nodes)
    for k, detours in enumerate(platform.detours):
        item = place.item(k)
        if len(detours.start_s) != len(detours.length_s):
            raise _bad_detours(
                item,
                f"{item.label}: start_s and length_s have different numbers of values",
                f"they have {len(detours.start_s)} and {len(detours.length_s)}",
            )
        end_s = 0.0
        for start_s, length_s in zip(detours.start_s, detours.length_s, strict=True):
            if start_s < end_s:
                raise _bad_detours(
                    item,
                    f"{item.label}: the detour at {start_s:g} s begins too early",
                    "the previous one has not ended",
                )
            end_s = start_s + length_s
        if not detours.length_s or end_s > detours.period_s or detours.share >= 1:
            raise _bad_detours(
                item,
                f"{item.label} does not fit in its period of {detours.period_s:g} s",
                "detours must end within the period and leave time for the program",
            )
        for node in detours.nodes:
            if node >= nodes:
                raise _bad_detours(
                    item, f"{item.label}.nodes contains {node}", f"the machine has the nodes 0 to {nodes - 1}"
                )


def _bad_detours(place: Place, what: str, why: str) -> UsageError:
    return UsageError(
        what, why, f"correct them; {GUIDE} has an example", code="bad-detours", place=place.label
    )


def trace_text(detours: Sequence[Detours], comments: Sequence[str] = ()) -> str:
    """Format a noise trace, which `trace_tables` parses; `comments` are its first lines."""
    return "".join(f"{line}\n" for line in _trace_lines(detours, comments))


def _trace_lines(detours: Sequence[Detours], comments: Sequence[str]) -> Iterator[str]:
    yield from (f"# {line}" for line in comments)
    for item in detours:
        yield ""
        yield f"[[{TABLE}]]"
        for field in msgspec.structs.fields(Detours):
            value = getattr(item, field.name)
            if field.required or value != field.default:
                yield f"{field.name} = {_number_text(value)}"


def _number_text(value: float | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_number_text, value))}]"
    return repr(value)


def _items(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    variants = raw.get(VARIANTS)
    tables = (raw, *(variants.values() if isinstance(variants, dict) else ()))
    for table in tables:
        items = table.get(TABLE) if isinstance(table, Mapping) else None
        yield from (item for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))
