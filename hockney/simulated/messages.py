# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about simulated machines and their files.

`place` is a file and a key in it, such as "my.toml: segments[1].first".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.wording import plural

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


def layout_beyond_machine(
    machine: str, nodes: int, ranks_per_node: int, count: int, cores: int
) -> UsageError:
    """0 nodes or ranks were not given; the machine has `count` nodes with `cores` cores each."""
    given = f"--nodes {nodes}" if nodes > count else f"--ranks-per-node {ranks_per_node}"
    return UsageError(
        f"{given} is too much for {machine}",
        f"it has {count} nodes with {plural(cores, 'core')} each",
        "use fewer",
        code="layout-beyond-machine",
        nodes=nodes,
        ranks_per_node=ranks_per_node,
    )


# keys


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


def source_passed_on(machine: str, source: str) -> str:
    return f"{machine}: {source}"


def source_unstated(machine: str) -> str:
    return f"{machine} states no origin"
