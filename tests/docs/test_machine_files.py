# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page on machine files: its example is valid, and it describes every key with its default."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from hockney.core import platform
from hockney.core.errors import UsageError
from hockney.core.platform import Network, NodeGroup, Noise, Origin, Platform, Segment
from hockney.core.units import (
    parse_bytes,
    parse_flops,
    parse_operations,
    parse_rate,
    parse_seconds,
    parse_seconds_per_byte,
)
from hockney.machines import simulated

PAGE = (Path(__file__).parents[2] / "docs" / "machine-files.md").read_text("utf-8")
EXAMPLE = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]


def with_interval(field: str) -> list[str]:
    """The row of the tables that describes a key."""
    return next((row for row in ROWS if f"`{field}`" in row[0]), [])


def test_the_example_is_a_machine():
    rack = simulated.read(EXAMPLE, "rack.toml")
    assert (rack.capacity, rack.network.up, rack.segment(20_000).latency_s) == (16, (1, 2), 2.5e-6)
    assert simulated.read(EXAMPLE, variants=["one-cable"]).network.up == (1, 1)
    assert simulated.origin_of(rack, "network.link").status == "printed"


def test_the_error_shown_is_the_one_given():
    shown = re.search(r"error: (rack\.toml: .*)", PAGE)[1]
    with pytest.raises(UsageError) as caught:
        simulated.read(EXAMPLE.replace('first = "16KiB"', "first = 0"), "rack.toml")
    assert str(caught.value) == shown


@pytest.mark.parametrize("kind", [Platform, Network, NodeGroup, Segment, Noise, Origin])
def test_every_key_is_told(kind):
    for field in msgspec.structs.fields(kind):
        assert re.search(rf"`(\[+)?{field.name}(\]+)?`", PAGE), (
            f"{kind.__name__}.{field.name} is not on the page"
        )


@pytest.mark.parametrize("kind", [Platform, Network, Segment])
def test_defaults_are_those_of_the_reader(kind):
    for field in msgspec.structs.fields(kind):
        row = with_interval(field.name)
        if not row:
            continue
        default = row[-1]
        assert (default == "required") == (field.required or field.default == ()) or default == "none"
        if field.default == 0 and field.name != "first":
            assert default == "0"
    assert with_interval("eager")[-1] == "64 KiB" and Platform.__struct_defaults__.count(65536) == 1
    assert (with_interval("nic")[-1], with_interval("link")[-1]) == ("1 TB/s", "1 TB/s")
    network = {field.name: field.default for field in msgspec.structs.fields(Network)}
    assert network["nic"] == network["link"] == 1e12 and network["shape"] == "switch"


def test_every_choice_is_told():
    choices = (
        *platform.SELECTABLE_COLLECTIVES,
        *platform.CALLED,
        *platform.RATED,
        "half",
        "full",
        "printed",
        "fitted",
        "guess",
    )
    for word in (*choices, "switch", "bus", "torus", "mesh", "fat-tree", "dragonfly"):
        assert f"`{word}`" in PAGE


def test_units_are_read_as_the_page_says():
    kinds = {
        "time": parse_seconds,
        "time per byte": parse_seconds_per_byte,
        "size": parse_bytes,
        "rate": parse_rate,
        "computing speed": parse_flops,
        "rate of operations": parse_operations,
    }
    found = re.findall(r"^\| ([a-z ]+) \| (.*) \| `([\d.e-]+)` \|$", PAGE, re.MULTILINE)
    assert [name for name, _, _ in found] == list(kinds)
    for name, texts, number in found:
        values = [kinds[name](text) for text in re.findall(r'`"([^"]+)"`', texts)]
        assert len(values) >= 1 and values[0] == pytest.approx(float(number))
