# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines by name: a bundled one or a file, with an extent and variants as suffixes.

t3e    paragon-8x8    t3e+full-duplex    clusters/mine.toml+noisy
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import UsageError, printable
from hockney.core.paths import expand_home
from hockney.core.platform import Platform
from hockney.machines.descriptions.files import ENDING, bundled_names, machine_text
from hockney.machines.simulated.detours import read_traces
from hockney.machines.simulated.read import parse, read
from hockney.machines.simulated.variants import Variant
from hockney.machines.simulated.variants import variants as _variants

PACKAGE = "hockney.machines.simulated"
_EXTENT = re.compile(r"(.+?)-(\d+(?:x\d+)+)")


def names() -> tuple[str, ...]:
    """Names of the bundled machines."""
    return bundled_names(PACKAGE)


def platform(name: str) -> Platform:
    """Description of a machine by name. Raises UsageError for an unknown name, EnvironmentProblem for an
    unreadable file."""
    base, dims, variant_names = _split(name)
    text, where = machine_text(base, PACKAGE, "simulated")
    folder = expand_home(Path(base)).parent if base.endswith(ENDING) else Path()
    traces = read_traces(parse(text, where), where, folder)
    return read(text, where, variants=variant_names, dims=dims, traces=traces)


def variants(name: str) -> tuple[Variant, ...]:
    """Variants in the machine's file."""
    text, where = machine_text(_split(name)[0], PACKAGE, "simulated")
    return _variants(parse(text, where), where)


def _split(name: str) -> tuple[str, tuple[int, ...], Sequence[str]]:
    """Split a name into the file or base name, the extent and the variants. A path may contain + and - before
    its suffix."""
    if not name.strip():
        raise UsageError(
            "the name of the simulated machine is empty",
            "",
            f"available: {', '.join(names())}",
            code="no-machine-name",
        )
    suffix_end = name.rfind(ENDING) + len(ENDING) if ENDING in name else 0
    extent_text, separator, variants_text = name[suffix_end:].partition("+")
    base, variant_names = name[:suffix_end] + extent_text, variants_text.split("+") if separator else []
    if len(set(variant_names)) < len(variant_names) or "" in variant_names:
        raise UsageError(
            f"'{printable(name)}' has a variant that is empty or given twice",
            "",
            "write NAME+VARIANT, with each variant once",
            code="bad-variant-list",
        )
    match = _EXTENT.fullmatch(base)
    if match is None or base in names():
        return base, (), variant_names
    dims = tuple(int(number) for number in match[2].split("x") if len(number) < 9)
    if len(dims) != match[2].count("x") + 1 or 0 in dims:
        raise UsageError(
            f"'{printable(match[2])}' is not an extent",
            "",
            "write numbers from 1, for example paragon-8x8",
            code="bad-extent",
        )
    return match[1], dims, variant_names
