# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of programs for tests: the examples, small, and one with all that a description can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hockney.machines.descriptions.files import parse_toml

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "programs").glob("*.toml"))
SMALL = {"n": 24, "tasks": 20, "chunks": 3}
"""Sizes of the examples that compute little."""
EVERYTHING: dict[str, Any] = {
    "iterations": 30,
    "grid": "2d",
    "sizes": {"n": 20},
    "phase": [
        {
            "name": "sums",
            "work": "n * 2us / ranks",
            "noise": 0.2,
            "serial": 0.05,
            "allreduce": "8 * n",
            "along": "x",
        },
        {
            "neighbors": "ring",
            "bytes": "8 * n",
            "calls": "sendrecv",
            "every": 5,
            "work": "20us",
            "overlap": True,
        },
        {"neighbors": "line", "bytes": 64, "calls": "ordered"},
        {"name": "torus", "neighbors": "torus", "corners": True, "block": ["n", 3], "bytes": 8},
        {"bcast": 4096, "algorithm": "binomial"},
        {"barrier": True},
        {"messages": [["rank", "(rank + 1) % ranks", "100"], ["0", "ranks - 1", "12"]]},
        {"reduce": 12, "times": 2},
        {"pipeline": "x", "chunks": 3, "bytes": 40, "work": "6us", "ways": 2},
        {"tasks": 9, "work": "5us", "noise": 0.5, "to": 0, "from": 8},
        {"alltoall": "8 * n / ranks"},
    ],
}


def small_examples() -> dict[str, dict[str, Any]]:
    """The tables of each example by its name, with small sizes."""
    made = {}
    for file in EXAMPLES:
        raw = parse_toml(file.read_text("utf-8"), str(file), "docs/programs.md")
        sizes = {name: SMALL.get(name, value) for name, value in raw["sizes"].items()}
        made[file.stem] = {**raw, "sizes": sizes}
    return made


def every_program() -> dict[str, dict[str, Any]]:
    return {**small_examples(), "everything": EVERYTHING}
