# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pages that describe files and programs: their examples are valid, and every key has its default."""

from __future__ import annotations

import re
from pathlib import Path

import console
import msgspec
import pytest

from hockney import reference
from hockney.core import platform
from hockney.core.errors import UsageError
from hockney.core.ethernet import Ethernet, EthernetFault, EthernetOrigin
from hockney.core.platform import Network, NodeGroup, Noise, Origin, Platform, Segment
from hockney.core.units import (
    parse_bytes,
    parse_flops,
    parse_operations,
    parse_rate,
    parse_seconds,
    parse_seconds_per_byte,
)
from hockney.machines import emulated, simulated
from hockney.models.programs.description import COLLECTIVES, PHASE_KEYS, PROGRAM_KEYS
from hockney.models.programs.formulas import FUNCTIONS
from hockney.models.programs.patterns import CALL_MODES, PATTERNS
from hockney.reference.papers import COLUMNS, UNITS

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
        *platform.OPERATIONS_WITH_CALL_COSTS,
        *platform.RATED_KERNELS,
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


EMULATED_PAGE = (Path(__file__).parents[2] / "docs" / "emulated.md").read_text("utf-8")
EMULATED_EXAMPLE = re.search(r"```toml\n(.*?)```", EMULATED_PAGE, re.DOTALL)[1]
EMULATED_ROWS = [line for line in EMULATED_PAGE.splitlines() if line.startswith("| `")]


def test_the_example_is_an_emulated_machine():
    office = emulated.read(EMULATED_EXAMPLE, "office.toml")
    assert (office.name, office.hosts, office.rate, office.medium) == ("office", 12, 12.5e6, "switch")


@pytest.mark.parametrize("field", msgspec.structs.fields(Ethernet), ids=lambda field: field.name)
def test_every_key_is_described_with_its_default(field):
    name = f"[[{field.name}]]" if field.name in ("origins", "faults") else field.name
    (row,) = (row for row in EMULATED_ROWS if f"`{name}`" in row.split("|")[1])
    if field.name in emulated.NUMBERS and not field.required:
        shown = emulated.value_text(field.name, field.default)
        assert shown in row.split("|")[2], row


@pytest.mark.parametrize(("table", "kind"), [("origins", EthernetOrigin), ("faults", EthernetFault)])
def test_every_key_of_a_table_is_described(table, kind):
    (row,) = (row for row in EMULATED_ROWS if f"`[[{table}]]`" in row)
    for field in msgspec.structs.fields(kind):
        assert f"`{field.name}`" in row


@pytest.mark.parametrize("medium", ["bus", "switch"])
def test_payload_rates_are_those_of_the_wire(medium):
    machine = Ethernet(name="x", title="X", hosts=2, rate=1.25e6, medium=medium)
    assert f"{machine.payload_rate / 1e6:.3f} MB/s on a {medium}" in EMULATED_PAGE


ROOT = Path(__file__).parents[2]
PROGRAMS_PAGE = (ROOT / "docs" / "programs.md").read_text("utf-8")


def test_the_example_is_the_file():
    example = re.search(r"```toml\n(.*?)```", PROGRAMS_PAGE, re.DOTALL)[1]
    assert example == (ROOT / "examples" / "programs" / "jacobi.toml").read_text("utf-8")


def test_the_output_is_that_of_the_command(hockney, monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "programs")
    monkeypatch.setenv("COLUMNS", "110")
    (step,) = console.steps(PROGRAMS_PAGE)
    done = hockney(*step.command.split()[1:])
    assert done.code == 0 and console.matches(step.expected, done.out, 0.001)


@pytest.mark.parametrize(
    "key",
    sorted(
        {*PROGRAM_KEYS, *PHASE_KEYS, *COLLECTIVES, *FUNCTIONS, *PATTERNS}
        | {key for pattern in PATTERNS.values() for key in pattern.KEYS}
    ),
)
def test_every_key_is_described(key):
    assert re.search(rf"`\[*{key}\]*`", PROGRAMS_PAGE)


def test_every_way_of_calling_is_described():
    assert all(f'`"{name}"`' in PROGRAMS_PAGE for name in CALL_MODES)


PUBLISHED_PAGE = (Path(__file__).parents[2] / "docs" / "published.md").read_text("utf-8")


def test_every_column_and_unit_is_told():
    told = re.findall(r"^\| `(\w+)` \| ", PUBLISHED_PAGE.split("## The file of numbers")[1], re.MULTILINE)
    assert tuple(told) == COLUMNS
    units = re.search(r"^\| `unit` \| (.*) \| \|$", PUBLISHED_PAGE, re.MULTILINE)[1]
    assert set(re.sub(r" \([^)]*\)", "", units).split(", ")) == set(UNITS)
    quantities = re.search(r"^\| `quantity` \| (.*) \| \|$", PUBLISHED_PAGE, re.MULTILINE)[1].split(", ")
    used = {row.quantity for name in reference.names() for row in reference.published(name).rows}
    assert used == set(quantities)


def test_every_paper_and_machine_is_told():
    for name in reference.names():
        row = re.search(rf"^\| `{name}` \(.*$", PUBLISHED_PAGE, re.MULTILINE)[0]
        for about in reference.published(name).machines:
            assert f"`{about.name}`" in row
