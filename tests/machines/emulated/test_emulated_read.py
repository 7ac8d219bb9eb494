# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of emulated machines: their values, their mistakes, and those that come with hockney."""

from __future__ import annotations

import re

import msgspec
import pytest
from raising import raises_code

from hockney import measurement
from hockney.build.identity import source_folder
from hockney.core.errors import UsageError
from hockney.core.ethernet import (
    CHECK_SEQUENCE,
    INTERFRAME_GAP,
    MIN_FRAME,
    PREAMBLE,
    Ethernet,
    EthernetFault,
    EthernetOrigin,
)
from hockney.machines import emulated
from hockney.machines.emulated.description import (
    LEAST_MTU,
    LEAST_RATE,
    MOST_HOSTS,
    MOST_MTU,
    MOST_RATE,
    READERS,
)
from hockney.machines.emulated.namespaces import STEPS

OFFICE = """
name = "office"
title = "Twelve hosts"
source = "label of the switch"
hosts = 12
rate = "100Mbit/s"
medium = "switch"
mtu = 9000
delay_s = "5us"
send_buffer = "32KiB"
wait_s = "200us"
wait_shared_s = "10us"
trunk = "10Mbit/s"
notes = ["In the cellar."]

[[origins]]
key = "rate"
status = "printed"
source = "label"
"""
LEAST = 'name = "x"\ntitle = "X"\nhosts = 2\nrate = 1.25e6\nmedium = "bus"\n'


def changed(old: str, new: str, text: str = OFFICE) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def test_numbers_are_in_si_units():
    office = emulated.read(OFFICE)
    assert (office.name, office.hosts, office.rate, office.medium) == ("office", 12, 12.5e6, "switch")
    assert (office.mtu, office.delay_s, office.send_buffer) == (9000, 5e-6, 32768)
    assert (office.wait_s, office.wait_shared_s) == (200e-6, 10e-6)
    assert office.trunk == 1.25e6
    assert office.origins == (EthernetOrigin(key="rate", status="printed", source="label"),)


def test_the_least_a_file_needs():
    least = emulated.read(LEAST)
    assert (least.hosts, least.rate, least.mtu, least.delay_s) == (2, 1.25e6, 1500, 0.0)


@pytest.mark.parametrize("text", [OFFICE, LEAST])
def test_what_is_written_reads_back_equal(text):
    machine = emulated.read(text)
    assert emulated.read(emulated.write(machine)) == machine


def test_payload_rates_count_all_that_is_on_the_wire():
    """1538 octets for 1448 of payload, and on a bus 90 more for the acknowledgement of two."""
    bus = Ethernet(name="x", title="X", hosts=2, rate=1.25e6, medium="bus")
    assert bus.segment == 1448
    assert bus.wire_s(1448) == pytest.approx(1538 / 1.25e6)
    assert bus.wire_s(0) == pytest.approx(90 / 1.25e6)
    assert bus.payload_rate == pytest.approx(1.25e6 * 2896 / (2 * 1538 + 90))
    switch = msgspec.structs.replace(bus, medium="switch")
    assert switch.payload_rate == pytest.approx(1.25e6 * 1448 / 1538)
    two = msgspec.structs.replace(switch, trunk=0.25e6)
    assert two.payload_rate == pytest.approx(0.25e6 * 1448 / 1538)


WRONG: dict[str, tuple[str, ...]] = {
    "not TOML": (changed('"office"', "office"), "", "not-toml"),
    "unknown key": (changed("hosts =", "host ="), "host", "unknown-key", "hosts"),
    "unknown key of an origin": (changed("key =", "keys ="), "origins[0].keys", "unknown-key", "key"),
    "no hosts": (changed("hosts = 12\n", ""), "hosts", "key-missing"),
    "no rate": (changed('rate = "100Mbit/s"\n', ""), "rate", "key-missing"),
    "no medium": (changed('medium = "switch"\n', ""), "medium", "key-missing"),
    "hosts as text": (changed("hosts = 12", 'hosts = "12"'), "hosts", "number-without-unit-expected"),
    "half a host": (changed("hosts = 12", "hosts = 1.5"), "hosts", "whole-number-expected"),
    "no host": (changed("hosts = 12", "hosts = 0"), "hosts", "outside-limits"),
    "too many hosts": (changed("hosts = 12", "hosts = 251"), "hosts", "outside-limits"),
    "rate without unit": (changed("100Mbit/s", "100"), "rate", "quantity-without-divisor"),
    "no rate at all": (changed('"100Mbit/s"', "0"), "rate", "outside-limits"),
    "medium": (changed('"switch"', '"hub"'), "medium", "unknown-choice"),
    "small packets": (changed("mtu = 9000", "mtu = 100"), "mtu", "outside-limits"),
    "low rate": (changed('"100Mbit/s"', '"999bit/s"'), "rate", "outside-limits"),
    "large packets": (changed("mtu = 9000", "mtu = 9001"), "mtu", "outside-limits"),
    "delay of a size": (changed('"5us"', '"5B"'), "delay_s", "unknown-unit"),
    "long sleep": (changed('"200us"', '"2s"'), "wait_s", "outside-limits"),
    "name": (changed('"office"', '"My Office"'), "name", "bad-name"),
    "trunk of a bus": (LEAST + 'trunk = "1Mbit/s"\n', "trunk", "trunk-without-switches"),
    "empty title": (changed('"Twelve hosts"', '""'), "title", "empty-text"),
    "notes as text": (changed('["In the cellar."]', '"x"'), "notes", "list-expected"),
    "origin of nothing": (changed('key = "rate"', 'key = "speed"'), "origins[0].key", "origin-of-nothing"),
    "origin's status": (changed('"printed"', '"fitted"'), "origins[0].status", "unknown-choice"),
    "origins as a number": (LEAST + "origins = 3\n", "origins", "list-expected"),
    "origin as a number": (LEAST + "origins = [3]\n", "origins[0]", "table-expected"),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_mistake_has_its_place_and_code(name):
    text, place, code, *suggestion = WRONG[name]
    with pytest.raises(UsageError) as caught:
        emulated.read(text, "my.toml")
    error = caught.value
    assert (error.code, error.suggestion) == (code, "".join(suggestion))
    assert re.match(rf"my\.toml{': ' if place else ''}{re.escape(place)}(:| )", error.what)
    assert "\n" not in str(error)


def test_the_range_of_a_value_has_its_lower_limit():
    with pytest.raises(UsageError) as caught:
        emulated.read(changed("mtu = 9000", "mtu = 100"))
    assert "from 576 to 9000" in str(caught.value)


OUTSIDE = {
    "hosts": 251,
    "rate": -1.0,
    "mtu": 100,
    "delay_s": -1e-6,
    "send_buffer": -1,
    "wait_s": 2.0,
    "name": "A/b",
}


@pytest.mark.parametrize("key", OUTSIDE)
def test_the_description_in_a_run_has_the_same_limits(key):
    """The run may come from elsewhere."""
    stored = msgspec.structs.replace(emulated.read(OFFICE), **{key: OUTSIDE[key]})
    with pytest.raises(UsageError) as caught:
        measurement.prepare("lan:office.toml", ethernet=stored)
    assert caught.value.what.startswith(f"machine.json: {key}")


def test_the_engine_has_the_same_wire():
    """C++ and Python count the octets of a frame alike."""
    source = (source_folder() / "emulated" / "medium.cpp").read_text()
    octets = dict(re.findall(r"constexpr std::size_t (\w+) = (\d+);", source))
    assert {name: int(value) for name, value in octets.items()} == {
        "before_frame": PREAMBLE,
        "check_sequence": CHECK_SEQUENCE,
        "smallest_frame": MIN_FRAME,
        "between_frames": INTERFRAME_GAP,
    }


def test_limits_are_within_those_of_the_program():
    source = (source_folder() / "emulated" / "ethernet.cpp").read_text()
    header = (source_folder() / "emulated" / "medium.hpp").read_text()
    assert "slowest = 1e3;" in header and LEAST_RATE * 8 == 1e3
    assert "fastest = 1e12;" in source and MOST_RATE * 8 == 1e12
    assert f"max_hosts = {MOST_HOSTS};" in source
    smallest, largest = map(int, re.search(r"packet = (\d+), \w+ = (\d+);", source).groups())
    assert smallest <= LEAST_MTU and largest >= MOST_MTU


def test_every_step_that_can_fail_has_a_message():
    """The words in engine/emulated; the end of a host has the reason in its name."""
    steps: set[str] = set()
    for path in (source_folder() / "emulated").glob("*.cpp"):
        text = re.sub(r"\s+", " ", path.read_text())
        steps |= set(re.findall(r'(?:require|write_file)\([^;]*, "([^"]+)"\);', text))
        steps |= set(re.findall(r'(?:\bany|\bkernel|index_of|\.send)\([^;"]*"([^"]+)"\)', text))
        steps |= set(re.findall(r'Problem\("([^"]+)",', text))
        steps |= set(re.findall(r'"hockney-ethernet-agent: ([^:"]+): ', text))
    assert steps == set(STEPS)


def test_readers_know_every_field():
    assert set(READERS) == {Ethernet, EthernetFault, EthernetOrigin}
    for kind, readers in READERS.items():
        assert set(readers) == {field.name for field in msgspec.structs.fields(kind)}, kind


@pytest.mark.parametrize("name", emulated.names())
def test_every_number_of_hockneys_own_machines_has_an_origin(name):
    machine = emulated.ethernet(name)
    assert machine.name == name and machine.source
    numbers = {name for name in emulated.NUMBERS if name != "trunk" or machine.trunk}
    assert {origin.key for origin in machine.origins} == numbers
    assert emulated.read(emulated.write(machine)) == machine


def test_machines_are_named_or_files(tmp_path):
    path = tmp_path / "office.toml"
    path.write_text(OFFICE)
    assert emulated.ethernet(str(path)).name == "office"
    for name, code in (
        ("sun-ethernt", "unknown-emulated-machine"),
        ("", "no-emulated-machine-name"),
        (str(tmp_path / "none.toml"), "no-machine-file"),
        (f"{tmp_path}/", "not-a-file"),
    ):
        with raises_code(code):
            emulated.ethernet(name)
