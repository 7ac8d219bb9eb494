# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Description files: bundled ones, by name, and the user's. Conversion of TOML tables to structures with a
field for each key, and formatting of numbers and text for TOML."""

from __future__ import annotations

import functools
import json
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown
from hockney.core.paths import expand_home, is_description_file
from hockney.machines.descriptions.values import Place

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENDING = ".toml"
MOST_BYTES = 1 << 20
"""A description has a few kB; a larger file is something else."""


@functools.cache
def bundled_names(package: str) -> tuple[str, ...]:
    """Names of the descriptions in the folder machines of `package`."""
    folder = files(package) / "machines"
    return tuple(sorted(p.name.removesuffix(ENDING) for p in folder.iterdir() if p.name.endswith(ENDING)))


def machine_text(name: str, package: str, kind: str) -> tuple[str, str]:
    """Text and display name of a machine file, either the user's or a bundled one of `package`, which
    contains machines of this `kind`. Raises UsageError for an unknown name, EnvironmentProblem for an
    unreadable file."""
    names = bundled_names(package)
    if is_description_file(name):
        return read_file(expand_home(Path(name)), names), name
    if name not in names:
        raise unknown(f"{kind} machine", name, names)
    return (files(package) / "machines" / (name + ENDING)).read_text("utf-8"), name + ENDING


def read_file(path: Path, names: Collection[str], max_bytes: int = MOST_BYTES) -> str:
    """Read a description file. `names` are the bundled machines, for suggestions. Raises UsageError or
    EnvironmentProblem."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(
                f"{printable(str(path))} is not a regular file",
                "",
                "give the path of a .toml file",
                code="not-a-file",
            )
        if status.st_size > max_bytes:
            raise UsageError(
                f"{printable(str(path))} is too large for a machine file",
                f"it has {status.st_size} bytes; the limit is {max_bytes}",
                "give another file",
                code="machine-file-too-large",
                size=status.st_size,
            )
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"there is no {'machine ' if names else ''}file {printable(str(path))}",
            "",
            f"check the path{'; built-in machines: ' if names else ''}{', '.join(names)}",
            code="no-machine-file",
            path=str(path),
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{printable(str(path))} is not a machine file",
            "it is not text in UTF-8",
            "give the path of a .toml file",
            code="machine-file-not-text",
        ) from error
    except ValueError as error:  # a NUL in the name
        raise UsageError(
            f"{printable(str(path))} is not a file name",
            printable(str(error)),
            "check the path",
            code="bad-file-name",
        ) from error
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot read {printable(str(path))}",
            (error.strerror or str(error)).lower(),
            "check its permissions",
            code="cannot-read-machine-file",
        ) from error


T = TypeVar("T", bound=msgspec.Struct)
Read = Callable[[Any, Place], Any]
Readers = Mapping[type, Mapping[str, Read]]
"""The meaning of the value of each key, by structure."""


def parse_toml(text: str, where: str, guide: str) -> dict[str, Any]:
    """Parse a file as TOML. `guide` is the document about such files."""
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
    problem = match[1][:1].lower() + match[1][1:]
    return problem, f"line {match[2]}, column {match[3]}" if match[2] else "end of file"


@functools.cache
def fields_of(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Fields of a structure, cached because msgspec evaluates their annotations on each call."""
    return msgspec.structs.fields(kind)


def read_structure(
    kind: type[T],
    raw: Any,
    place: Place,
    readers: Readers,
    other_keys: Iterable[str] = (),
    example: Callable[[str], str] = lambda name: f"{name} = ...",
) -> T:
    """Convert the table `raw` to a structure. `other_keys` are additional keys of the table, for
    suggestions. `example` shows how to write a missing key."""
    if not isinstance(raw, dict):
        raise table_expected(place.label, place.key)
    fields = fields_of(kind)
    names = tuple(field_.name for field_ in fields)
    for name in raw:
        if name not in names:
            raise unknown_key(place.at(name).label, name, (*names, *other_keys))
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


Units = tuple[tuple[str, int], ...]
"""Names with powers of ten."""

TIMES: Units = (("ns", -9), ("us", -6), ("ms", -3), ("s", 0))
RATES: Units = (("B/s", 0), ("kB/s", 3), ("MB/s", 6), ("GB/s", 9), ("TB/s", 12))
BITS: Units = (("bit/s", 0), ("kbit/s", 3), ("Mbit/s", 6), ("Gbit/s", 9), ("Tbit/s", 12))


def size_text(value: int) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value and value % (1 << power) == 0:
            return f'"{value >> power}{unit}"'
    return repr(value)


def scaled_text(value: float, units: Units) -> str:
    """Format a number in the largest unit for which it is at least 1. The digits are exact."""
    if value == 0:
        return "0"
    number = Decimal(repr(float(value)))
    unit, power = next(
        (candidate for candidate in reversed(units) if number >= Decimal(1).scaleb(candidate[1])), units[0]
    )
    scaled = number.scaleb(-power)
    digits = f"{scaled.normalize():f}"
    return f'"{digits if len(digits) < 25 else str(scaled)}{unit}"'


def list_text(items: Sequence[str]) -> str:
    """Format a list, on one line if it is short."""
    one_line = f"[{', '.join(items)}]"
    return one_line if len(one_line) < 90 else "[\n  " + ",\n  ".join(items) + ",\n]"


def quoted_text(text: str) -> str:
    """Format a TOML basic string. JSON's escapes are valid in TOML, except for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
