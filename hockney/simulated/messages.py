# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about simulated machines and their files.

`place` is a file and a key in it, such as "my.toml: segments[1].first".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown

# machines by name


def unknown_simulated_machine(name: str, available: Iterable[str]) -> UsageError:
    return unknown("simulated machine", name, available, code="unknown-simulated-machine")


def no_machine_name(available: Iterable[str]) -> UsageError:
    names = ", ".join(available)
    return UsageError(
        "the name of the simulated machine is empty", "", f"available: {names}", code="no-machine-name"
    )


def unknown_variant(name: str, machine: str, available: Collection[str]) -> UsageError:
    remedy = "" if available else "this machine has no variants"
    return unknown(f"variant of {machine}", name, available, remedy, code="unknown-variant")


def bad_variant_list(name: str) -> UsageError:
    return UsageError(
        f"'{printable(name)}' has a variant that is empty or given twice",
        "",
        "write NAME+VARIANT, with each variant once",
        code="bad-variant-list",
    )


def bad_extent(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not an extent",
        "",
        "write numbers from 1, for example paragon-8x8",
        code="bad-extent",
    )


def shape_without_extent(place: str, shape: str, extent: str) -> UsageError:
    return UsageError(
        f"{place} = {shape} has no extent {extent}",
        "only a torus or mesh has dims",
        "remove the extent from the name",
        code="shape-without-extent",
        place=place,
    )


def too_many_ranks(machine: str, ranks: int, shape: str, capacity: int, larger: str) -> UsageError:
    """`larger` is the suffix of a name with enough cores; "" if the machine's extent cannot change."""
    other = f", or a larger machine by adding -{larger} to its name" if larger else ""
    return UsageError(
        f"{ranks} ranks are too many for {machine}",
        f"its {shape} has room for {capacity}",
        f"use at most {capacity} ranks{other}",
        code="too-many-ranks",
        ranks=ranks,
        capacity=capacity,
        larger=larger,
    )


# machine files


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


def not_toml(file: str, position: str, message: str) -> UsageError:
    """`position` is "line 1, column 2" or "end of file"; "" if the parser gives none."""
    return UsageError(
        f"{printable(file)} is not valid TOML",
        f"{position}: {message}" if position else message,
        "docs/machine-files.md has an example",
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
    place: str, value: str, kind: str, positive: bool, high: float, example: str
) -> UsageError:
    limits = f"greater than 0 and at most {high:g}" if positive else f"from 0 to {high:g}"
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


def no_segments(place: str) -> UsageError:
    return UsageError(
        f"{place} is missing",
        "at least one segment must give the cost of a message",
        "add [[segments]] with first = 0",
        code="no-segments",
        place=place,
    )


def first_segment_not_zero(place: str, first: int) -> UsageError:
    return UsageError(
        f"{place} = {first}",
        "the first segment must start at 0 bytes",
        "set first = 0",
        code="first-segment-not-zero",
        place=place,
    )


def not_ascending(place: str, value: int, before: int) -> UsageError:
    """Sizes of segments, or of the costs of a call."""
    return UsageError(
        f"{place} = {value} is not greater than the previous size, {before}",
        "sizes must be in ascending order",
        "sort them, with each size once",
        code="not-ascending",
        place=place,
        value=value,
        before=before,
    )


def processor_of_several_cores(place: str) -> UsageError:
    why, remedy = "which of several would do the work is not modelled", "give nodes one core, or remove it"
    return UsageError(f"{place} needs nodes of one core", why, remedy, code="several-cores", place=place)


def no_points(place: str) -> UsageError:
    expected, remedy = "pairs of bytes and seconds are expected", 'use for example [[1024, "200ns"]]'
    return UsageError(f"{place} is empty", expected, remedy, code="no-points", place=place)


def not_a_pair(place: str) -> UsageError:
    return UsageError(
        f"{place} is not a pair",
        "bytes and seconds are expected",
        'use for example [1024, "200ns"]',
        code="not-a-pair",
        place=place,
    )


def origin_of_nothing(place: str, key: str) -> UsageError:
    return UsageError(
        f"{place} = '{printable(key)}' is not a key of this file",
        "an origin names the key whose source it gives",
        "use for example network.link or segments[0].latency_s",
        code="origin-of-nothing",
        place=place,
    )


# networks


def shape_needs_key(place: str, shape: str, example: str) -> UsageError:
    return UsageError(
        f"{place} is missing",
        f"it gives the number of nodes of a {shape}",
        f"add {example}",
        code="shape-needs-key",
        place=place,
    )


def key_of_another_shape(place: str, shape: str, counted_by: Sequence[str]) -> UsageError:
    return UsageError(
        f"{place} does not apply to a {shape}",
        f"its number of nodes is given by {', '.join(counted_by)}",
        "remove this key",
        code="key-of-another-shape",
        place=place,
    )


def levels_differ(place: str, levels: Mapping[str, int]) -> UsageError:
    return UsageError(
        f"{place}: down, up and cables differ in their number of levels",
        ", ".join(f"{key} has {count}" for key, count in levels.items()),
        "give all three the same number of levels",
        code="levels-differ",
        place=place,
        levels=dict(levels),
    )


def bad_dragonfly(place: str, count: int, example: str) -> UsageError:
    return UsageError(
        f"{place} has {count} numbers instead of 4",
        "groups, chassis per group, routers per chassis, nodes per router",
        f"use for example {example}",
        code="bad-dragonfly",
        place=place,
        count=count,
    )


def too_many_nodes(place: str, limit: int) -> UsageError:
    return UsageError(
        f"{place} gives too many nodes",
        f"the limit is {limit}",
        code="too-many-nodes",
        place=place,
        limit=limit,
    )


# variants


def variant_incomplete(place: str, key: str) -> UsageError:
    return UsageError(
        f"{place} is missing",
        "every variant has a title and a reason",
        f'add {key} = "..."',
        code="variant-incomplete",
        place=place,
    )


def key_not_for_variants(place: str) -> UsageError:
    return UsageError(
        f"{place} is not allowed in a variant",
        "it belongs to the whole file",
        "remove it",
        code="key-not-for-variants",
        place=place,
    )


def variant_changes_nothing(place: str) -> UsageError:
    return UsageError(
        f"{place} changes nothing",
        "",
        "add a key that it changes, or remove it",
        code="variant-changes-nothing",
    )
