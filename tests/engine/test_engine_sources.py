# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Features that the engine's sources must not use, so that the oldest supported compilers can compile
them."""

from __future__ import annotations

from pathlib import Path

ENGINE = Path(__file__).parents[2] / "engine"


def test_no_source_converts_numbers_with_from_chars():
    """For floating point it needs GCC 11; `strtod_l` is used instead."""
    sources = sorted(ENGINE.rglob("*.[ch]pp"))
    assert len(sources) > 100
    users = [
        path.relative_to(ENGINE)
        for path in sources
        for line in path.read_text("utf-8").splitlines()
        if ("from_chars" in line or "<charconv>" in line) and not line.lstrip().startswith("//")
    ]
    assert users == []
