# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors in descriptions of machines.

`place` is a file and a key in it, such as "my.toml: segments[1].first".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown

# files


def no_machine_file(path: str, available: Iterable[str]) -> UsageError:
    return UsageError(
        f"there is no machine file {printable(path)}",
        "",
        f"check the path; built-in machines: {', '.join(available)}",
        code="no-machine-file",
        path=path,
    )


def bad_file_name(path: str, reason: str) -> UsageError:
    return UsageError(
        f"{printable(path)} is not a file name", printable(reason), "check the path", code="bad-file-name"
    )


def not_a_file(path: str) -> UsageError:
    return UsageError(
        f"{printable(path)} is not a regular file", "", "give the path of a .toml file", code="not-a-file"
    )


def machine_file_too_large(path: str, size: int, limit: int) -> UsageError:
    return UsageError(
        f"{printable(path)} is too large for a machine file",
        f"it has {size} bytes; the limit is {limit}",
        "give another file",
        code="machine-file-too-large",
        size=size,
    )


def machine_file_not_text(path: str) -> UsageError:
    return UsageError(
        f"{printable(path)} is not a machine file",
        "it is not text in UTF-8",
        "give the path of a .toml file",
        code="machine-file-not-text",
    )


def cannot_read_machine_file(path: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read {printable(path)}", reason, "check its permissions", code="cannot-read-machine-file"
    )


def not_toml(file: str, position: str, message: str, guide: str) -> UsageError:
    """`position` is "line 1, column 2" or "end of file", "" if the parser gives none; `guide` is the document
    about such files."""
    return UsageError(
        f"{printable(file)} is not valid TOML",
        f"{position}: {message}" if position else message,
        f"{guide} has an example",
        code="not-toml",
        position=position,
    )


def toml_not_readable(file: str, reason: str) -> UsageError:
    """Numbers that are too large, or brackets that are nested too deeply."""
    return UsageError(f"{printable(file)} cannot be read as TOML", reason, code="toml-not-readable")


# values


def quantity_expected(place: str, kind: str, actual: str, example: str) -> UsageError:
    return UsageError(
        f"{place} is {actual}",
        f"a {kind} is expected",
        f"use for example {example}",
        code="quantity-expected",
        place=place,
    )


def number_without_unit_expected(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a number",
        "this value has no unit",
        "write the number without quotes",
        code="number-without-unit-expected",
    )


def whole_number_expected(place: str, kind: str, value: str, example: str) -> UsageError:
    return UsageError(
        f"{place} = {value} is not a {kind}",
        "a whole number is expected",
        f"use for example {example}",
        code="whole-number-expected",
        place=place,
    )


def outside_limits(
    place: str, value: str, kind: str, positive: bool, low: float, high: float, example: str
) -> UsageError:
    """A `positive` value has no other lower limit if `low` is 0."""
    limits = f"greater than 0 and at most {high:g}" if positive and not low else f"from {low:g} to {high:g}"
    return UsageError(
        f"{place} = {value} is out of range",
        f"a {kind} must be {limits}",
        f"use for example {example}",
        code="outside-limits",
        place=place,
        high=high,
    )


def text_expected(place: str, actual: str) -> UsageError:
    return UsageError(
        f"{place} is {actual}", "text is expected", "put it in quotes", code="text-expected", place=place
    )


def empty_text(place: str) -> UsageError:
    return UsageError(f"{place} is empty", "", "describe it in a few words", code="empty-text", place=place)


def bad_name(place: str, name: str, example: str) -> UsageError:
    return UsageError(
        f"{place} = '{printable(name)}' is not a valid name",
        "only lower-case letters, digits, '-', '_' and '.' are allowed",
        f"use for example {example}",
        code="bad-name",
        place=place,
    )


def unknown_choice(place: str, value: str, available: Collection[str]) -> UsageError:
    error = unknown("value", value, available, code="unknown-choice")
    remedy = f"did you mean '{error.suggestion}'?" if error.suggestion else ""
    return UsageError(
        f"{place} = '{printable(value)}' is unknown",
        f"expected one of {', '.join(available)}",
        remedy,
        code="unknown-choice",
        place=place,
        suggestion=error.suggestion,
    )


def list_expected(place: str, actual: str, table: str) -> UsageError:
    """`table` is the key of a table where a list of tables is expected; "" for other values."""
    remedy = f"write [[{table}]]" if table else "put it in [ ]"
    return UsageError(f"{place} is {actual}", "a list is expected", remedy, code="list-expected", place=place)


def table_expected(place: str, table: str) -> UsageError:
    return UsageError(f"{place} is not a table", "", f"write [{table}]", code="table-expected", place=place)


# keys


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


def origin_of_nothing(place: str, key: str, example: str) -> UsageError:
    return UsageError(
        f"{place} = '{printable(key)}' is not a key of this file",
        "an origin names the key whose source it gives",
        f"use for example {example}",
        code="origin-of-nothing",
        place=place,
    )
