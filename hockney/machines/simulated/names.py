# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines by name: one of hockney's own, or a file; other extents and variants as suffixes.

t3e    paragon-8x8    t3e+full-duplex    clusters/mine.toml+noisy
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hockney.core.errors import UsageError, printable
from hockney.core.platform import Platform
from hockney.machines.descriptions.files import ENDING, bundled_names, machine_text
from hockney.machines.simulated.read import parse, read
from hockney.machines.simulated.variants import Variant
from hockney.machines.simulated.variants import variants as _variants

PACKAGE = "hockney.machines.simulated"
_EXTENT = re.compile(r"(.+?)-(\d+(?:x\d+)+)")


def names() -> tuple[str, ...]:
    """The machines that come with hockney."""
    return bundled_names(PACKAGE)


def platform(name: str) -> Platform:
    """The machine with this name. Raises UsageError, or EnvironmentProblem for a file that cannot be read."""
    base, dims, wanted = _split(name)
    text, where = machine_text(base, PACKAGE, "simulated")
    return read(text, where, variants=wanted, dims=dims)


def variants(name: str) -> tuple[Variant, ...]:
    """The variants in the machine's file."""
    text, where = machine_text(_split(name)[0], PACKAGE, "simulated")
    return _variants(parse(text, where), where)


def _split(name: str) -> tuple[str, tuple[int, ...], Sequence[str]]:
    """The file or name, the extent, the variants. A path may contain + and - before its suffix."""
    if not name.strip():
        raise UsageError(
            "the name of the simulated machine is empty",
            "",
            f"available: {', '.join(names())}",
            code="no-machine-name",
        )
    end = name.rfind(ENDING) + len(ENDING) if ENDING in name else 0
    head, plus, rest = name[end:].partition("+")
    base, wanted = name[:end] + head, rest.split("+") if plus else []
    if len(set(wanted)) < len(wanted) or "" in wanted:
        raise UsageError(
            f"'{printable(name)}' has a variant that is empty or given twice",
            "",
            "write NAME+VARIANT, with each variant once",
            code="bad-variant-list",
        )
    match = _EXTENT.fullmatch(base)
    if match is None or base in names():
        return base, (), wanted
    dims = tuple(int(n) for n in match[2].split("x") if len(n) < 9)
    if len(dims) != match[2].count("x") + 1 or 0 in dims:
        raise UsageError(
            f"'{printable(match[2])}' is not an extent",
            "",
            "write numbers from 1, for example paragon-8x8",
            code="bad-extent",
        )
    return match[1], dims, wanted
