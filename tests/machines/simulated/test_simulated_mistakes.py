# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""However a machine file is damaged, it is read or rejected in one line."""

from __future__ import annotations

import random

import pytest
from test_simulated_read import RING

from hockney.core.errors import UsageError
from hockney.machines import simulated

VALUES = (
    "1", "-1", "0", "1.5", '"x"', '""', "true", "[]", "[1]", '["a"]', "{}", "{a = 1}", "[{}]", "[[1, 2]]",
    "inf", "nan", '"1us"', '"1MB/s"', "9999999999999999999999", '"\\u0000"', "'''\na\n'''", "[{count = 1}]",
    "1998-01-01", '"é"',
)  # fmt: skip
KEYS = (
    "network",
    "variants",
    "calls",
    "collectives",
    "noise",
    "origins",
    "notes",
    "on_node",
    "segments",
    "eager",
)


def spoiled(chance: random.Random) -> str:
    lines = RING.split("\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        kind = chance.choice(["value", "value", "value", "cut", "twice", "table", "letter", "key"])
        if kind == "value" and "=" in lines[at]:
            lines[at] = f"{lines[at].split('=')[0]}= {chance.choice(VALUES)}"
        elif kind == "cut":
            lines[at] = ""
        elif kind == "twice":
            lines.insert(chance.randrange(len(lines)), lines[at])
        elif kind == "table":
            lines[at] = lines[at][1:-1] if "[[" in lines[at] else f"[{lines[at]}]"
        elif kind == "letter" and lines[at]:
            place = chance.randrange(len(lines[at]))
            lines[at] = lines[at][:place] + chr(chance.randrange(1, 300)) + lines[at][place + 1 :]
        elif kind == "key":
            lines.insert(0, f"{chance.choice(KEYS)} = {chance.choice(VALUES)}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(5))
def test_a_spoiled_file_is_read_or_refused(seed):
    chance = random.Random(seed)
    refused = 0
    for _ in range(150):
        text = spoiled(chance)
        try:
            machine = simulated.read(text, "my.toml")
        except UsageError as error:
            line = str(error)
            assert line.startswith("my.toml") and line.isprintable() and len(line) < 400
            refused += 1
        else:
            assert simulated.read(simulated.write(machine)) == machine
    assert 50 < refused < 150
