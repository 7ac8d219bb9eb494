# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page on emulated machines: its example is valid, it describes every key with its default, and its rates
are those of the wire."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from hockney.core.ethernet import Ethernet, EthernetOrigin
from hockney.machines import emulated

PAGE = (Path(__file__).parents[2] / "docs" / "emulated.md").read_text("utf-8")
EXAMPLE = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


def test_the_example_is_a_machine():
    office = emulated.read(EXAMPLE, "office.toml")
    assert (office.name, office.hosts, office.rate, office.medium) == ("office", 12, 12.5e6, "switch")


@pytest.mark.parametrize("field", msgspec.structs.fields(Ethernet), ids=lambda field: field.name)
def test_every_key_is_described_with_its_default(field):
    name = f"[[{field.name}]]" if field.name == "origins" else field.name
    (row,) = (row for row in ROWS if f"`{name}`" in row.split("|")[1])
    if field.name in emulated.NUMBERS and not field.required:
        shown = emulated.value_text(field.name, field.default)
        assert shown in row.split("|")[2], row


def test_every_key_of_an_origin_is_described():
    (row,) = (row for row in ROWS if "`[[origins]]`" in row)
    for field in msgspec.structs.fields(EthernetOrigin):
        assert f"`{field.name}`" in row


@pytest.mark.parametrize("medium", ["bus", "switch"])
def test_payload_rates_are_those_of_the_wire(medium):
    machine = Ethernet(name="x", title="X", hosts=2, rate=1.25e6, medium=medium)
    assert f"{machine.payload_rate / 1e6:.3f} MB/s on a {medium}" in PAGE
