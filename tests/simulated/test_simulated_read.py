# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machine files: what they mean, and one clear line for whatever is wrong with them."""

from __future__ import annotations

import msgspec
import pytest

from hockney import simulated
from hockney.core import platform
from hockney.core.errors import UsageError
from hockney.core.platform import NodeGroup
from hockney.simulated.read import READERS

RING = """\
name = "ring"
title = "Eight in a ring"
eager = "4KiB"

[network]
shape = "torus"
dims = [8]
link = "10Mbit/s"
hop_s = "20ns"

[[segments]]
first = 0
latency_s = "10.5us"
per_byte_s = "1/(308MB/s)"

[[segments]]
first = "4KiB"
latency_s = 56e-6
per_byte_s = "20ns/B"
isend_s = "2us"

[[origins]]
key = "segments[0].latency_s"
status = "printed"
source = "page 1"

[variants.one-wire]
title = "on one wire"
why = "as if it were an Ethernet"
network.shape = "bus"
network.nodes = [{count = 2, cores = 4}]
flops = "600Mflop/s"
"""

SWITCH = """\
name = "pair"
title = "Two on a switch"
network = {shape = "switch", nodes = [{count = 2}]}
segments = [{latency_s = "1ms"}]
"""


def changed(old: str, new: str, text: str = RING) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def test_numbers_are_in_si_units():
    ring = simulated.read(RING)
    assert (ring.name, ring.eager, ring.capacity) == ("ring", 4096, 8)
    assert (ring.network.link, ring.network.hop_s) == (1.25e6, 20e-9)
    first, second = ring.segments
    assert (first.first, first.latency_s, first.per_byte_s) == (0, 10.5e-6, 1 / 308e6)
    assert (second.first, second.latency_s, second.per_byte_s) == (4096, 56e-6, 20e-9)
    assert (first.isend_s, second.isend_s) == (None, 2e-6)


def test_the_least_a_file_needs():
    pair = simulated.read(SWITCH)
    assert (pair.capacity, pair.segments[0].latency_s, pair.collectives) == (2, 1e-3, {})


def test_a_variant_lies_over_the_file():
    ring = simulated.read(RING, variants=["one-wire"])
    assert (ring.name, ring.title) == ("ring+one-wire", "Eight in a ring, on one wire")
    assert (ring.network.shape, ring.network.dims, ring.network.nodes) == (
        "bus",
        (),
        (NodeGroup(count=2, cores=4),),
    )
    assert (ring.network.link, ring.flops) == (1.25e6, 6e8), "the rest of the table stays"
    said = {origin.key: origin.status for origin in ring.origins}
    assert said == {
        "network.shape": "guess",
        "network.nodes": "guess",
        "flops": "guess",
        "segments[0].latency_s": "printed",
    }
    assert any("as if it were an Ethernet" in note for note in ring.notes)


def test_origins_of_what_a_variant_changes_are_its_own():
    more = """
segments = [{latency_s = "1us"}]
origins = [{key = "segments", status = "fitted", source = "row 2", rows = ["a/b"]}]
"""
    ring = simulated.read(RING + more, variants=["one-wire"])
    assert [o.source for o in ring.origins if o.key.startswith("segments")] == ["row 2"]
    assert simulated.origin_of(ring, "segments[0].latency_s").status == "fitted"
    assert simulated.origin_of(simulated.read(RING), "segments[0].latency_s").status == "printed"
    assert simulated.origin_of(ring, "eager") is None


def test_another_extent_is_a_guess():
    ring = simulated.read(RING, dims=(2, 3))
    assert (ring.name, ring.capacity, ring.network.dims) == ("ring-2x3", 6, (2, 3))
    assert simulated.origin_of(ring, "network.dims").status == "guess"
    with pytest.raises(UsageError, match="only a torus or mesh has dims"):
        simulated.read(SWITCH, dims=(2, 3))


def test_more_ranks_than_cores_are_refused():
    ring = simulated.read(RING)
    simulated.check_ranks(ring, 8)
    with pytest.raises(UsageError, match=r"9 ranks are too many for ring .*room for 8.*-16"):
        simulated.check_ranks(ring, 9)
    with pytest.raises(UsageError, match="ask for at most 2"):
        simulated.check_ranks(simulated.read(SWITCH), 3)


NEW = "\n[network]"
WRONG = {
    "unknown key": (changed("eager =", "eagre ="), "eagre is unknown", "Did you mean 'eager'"),
    "unknown key below": (changed("hop_s", "hops"), "network.hops is unknown", "Did you mean 'hop_s'"),
    "unknown key in a list": (
        changed("isend_s", "isned_s"),
        r"segments\[1\].isned_s is unknown",
        "Did you mean 'isend_s'",
    ),
    "no network": (
        'name = "m"\ntitle = "M"\nsegments = [{latency_s = 1}]',
        "network is missing",
        r"\[network\]",
    ),
    "no segments": (
        RING.split("[[segments]]")[0],
        "segments is missing",
        r"add \[\[segments\]\] with first = 0",
    ),
    "empty segments": (
        'segments = []\nname = "m"\ntitle = "M"\n[network]\nnodes = [{count = 1}]',
        "segments is missing",
        "",
    ),
    "no latency": (
        changed('latency_s = "10.5us"\n', ""),
        r"segments\[0\].latency_s is missing",
        "add latency_s",
    ),
    "not from 0": (changed("first = 0", "first = 8"), r"segments\[0\].first = 8", "start with first = 0"),
    "unordered": (
        changed('first = "4KiB"', "first = 0"),
        r"segments\[1\].first = 0 is not above 0",
        "each first once",
    ),
    "negative": (changed("56e-6", "-56e-6"), r"segments\[1\].latency_s = -5.6e-05 is out of range", "10.5us"),
    "negative text": (
        changed("10.5us", "-10.5us"),
        r"segments\[0\].latency_s: '-10.5us' is out of range",
        "",
    ),
    "not a number": (changed("56e-6", "nan"), "not a number is out of range", ""),
    "endless": (changed("56e-6", "inf"), "inf is out of range", ""),
    "digits": (changed("56e-6", "9" * 400), "more than 20 digits is out of range", ""),
    "half a byte": (changed('"4KiB"\n\n', "40.5\n\n"), "eager = 40.5 is no size", "whole number"),
    "zero rate": (changed("10Mbit/s", "0MB/s"), "network.link: '0MB/s' is out of range", "above zero"),
    "zero plain rate": (changed('"10Mbit/s"', "0"), "network.link = 0 is out of range", "308MB/s"),
    "unit": (changed('20ns"', '20furlong"'), "network.hop_s: unknown unit 'furlong'", "use ns, us"),
    "no unit": (
        changed("20ns/B", "20ns"),
        r"segments\[1\].per_byte_s: '20ns' is not a time for each byte",
        "",
    ),
    "type": (changed('"20ns"', "true"), "network.hop_s is true or false", "a time is wanted"),
    "date": (changed('"20ns"', "1998-01-01"), "network.hop_s is a date", "a time is wanted"),
    "text": (changed('"Eight in a ring"', "8"), "title is a number", "quotes"),
    "empty text": (changed('"Eight in a ring"', '" "'), "title is empty", ""),
    "name": (changed('"ring"', '"Ring one"'), "name = 'Ring one' is no name", "small letters"),
    "a table for a list": (
        changed("[[segments]]\nfirst = 0", "[segments]\nfirst = 0").split("[[seg")[0],
        "segments is a table",
        r"write \[\[segments\]\]",
    ),
    "a number for a table": (
        'name = "m"\ntitle = "M"\nnetwork = 8\nsegments = []',
        "network is not a table",
        "",
    ),
    "shape": (changed('"torus"', '"tours"'), "network.shape = 'tours' is unknown", "Did you mean 'torus'"),
    "duplex": (changed('hop_s = "20ns"', 'duplex = "hafl"'), "network.duplex", "Did you mean 'half'"),
    "no dims": (changed("dims = [8]\n", ""), "network.dims is missing", "a torus counts its nodes by it"),
    "no dims in it": (changed("dims = [8]", "dims = []"), "network.dims is missing", ""),
    "dims of 0": (changed("dims = [8]", "dims = [8, 0]"), r"network.dims\[1\] = 0 is out of range", ""),
    "dims in quotes": (changed("dims = [8]", 'dims = ["8"]'), r"network.dims\[0\]: '8' is not a number", ""),
    "too many": (changed("dims = [8]", "dims = [4000, 4000]"), "network.dims counts too many", "10000000"),
    "nodes for a torus": (
        changed("dims = [8]", "dims = [8]\nnodes = [{count = 8}]"),
        "network.nodes is not for a torus",
        "remove nodes",
    ),
    "levels": (
        changed(
            'shape = "torus"\ndims = [8]', 'shape = "fat-tree"\ndown = [4, 4]\nup = [1]\ncables = [1, 1]'
        ),
        "network.down has not as many levels",
        "up has 1",
    ),
    "no cables": (
        changed('shape = "torus"\ndims = [8]', 'shape = "fat-tree"\ndown = [4]\nup = [1]'),
        "cables is missing",
        "",
    ),
    "dragonfly": (
        changed('shape = "torus"\ndims = [8]', 'shape = "dragonfly"\ndragonfly = [4, 2]'),
        "has 2 numbers",
        "groups",
    ),
    "switch without nodes": (
        changed('shape = "torus"\ndims = [8]', 'shape = "switch"'),
        "network.nodes is missing",
        "count = 4",
    ),
    "operation": (
        changed(NEW, '\n[collectives]\nalltoal = "basic_linear"\n[network]'),
        "collectives.alltoal is unknown",
        "Did you mean 'alltoall'",
    ),
    "algorithm": (
        changed(NEW, '\n[collectives]\nbarrier = "ompi_brck --cfg=x"\n[network]'),
        "collectives.barrier: unknown algorithm for barrier",
        "Did you mean 'ompi_bruck'",
    ),
    "calls of nothing": (changed(NEW, "\n[calls]\nsend = []\n[network]"), "calls.send is unknown", ""),
    "empty calls": (changed(NEW, "\n[calls]\nscan = []\n[network]"), "calls.scan is empty", ""),
    "no pair": (changed(NEW, "\n[calls]\nscan = [[8]]\n[network]"), r"calls.scan\[0\] is no pair", ""),
    "unordered calls": (
        changed(NEW, "\n[calls]\nscan = [[8, 1], [8, 2]]\n[network]"),
        r"calls.scan\[1\] is not above 8 bytes",
        "each size once",
    ),
    "status": (changed('"printed"', '"prnted"'), r"origins\[0\].status = 'prnted'", "Did you mean 'printed'"),
    "origin of nothing": (
        changed('key = "segments[0].latency_s"', 'key = "segments[7]"'),
        r"segments\[7\]' is nothing in this file",
        "",
    ),
    "no quotes": (changed('"ring"', "ring"), "line 1, column", "is not TOML"),
    "cut off": (RING[:6], "its end is not TOML|line 1, column", ""),
    "a key twice": (changed('title = "Eight in a ring"', 'name = "b"'), "is not TOML", "overwrite"),
    "deep": ("a = " + "[" * 100_000, "is not TOML", ""),
    "long number": ("a = " + "1" * 5000, "is not TOML", ""),
    "variant key": (changed("flops", "flop"), "variants.one-wire.flop is unknown", "Did you mean 'flops'"),
    "variant number": (changed("600Mflop", "0Mflop"), "variants.one-wire.flops: '0Mflop/s' is out", ""),
    "variant without a reason": (
        changed('why = "as if it were an Ethernet"\n', ""),
        "variants.one-wire.why is missing",
        "",
    ),
    "variant of nothing": (RING.split('network.shape = "bus"')[0], "one-wire changes nothing", ""),
    "variant with a name": (
        changed("why = ", 'name = "x"\nwhy = '),
        "variants.one-wire.name is not for a variant",
        "",
    ),
    "variant's name": (changed("variants.one-wire", 'variants."A b"'), "variants.A b is no name", ""),
    "variants": ("variants = 3\n" + SWITCH, "variants is not a table", ""),
    "variant as a number": ("variants = {a = 3}\n" + SWITCH, "variants.a is not a table", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_mistake_is_one_clear_line(name):
    text, first, second = WRONG[name]
    with pytest.raises(UsageError, match=first) as caught:
        simulated.read(text, "my.toml")
    line = str(caught.value)
    assert line.startswith("my.toml") and len(line) < 250 and "\n" not in line
    assert caught.match(second)


def test_readers_know_every_field():
    for kind, readers in READERS.items():
        assert set(readers) == {field.name for field in msgspec.structs.fields(kind)}, kind
    described = {
        each
        for each in vars(platform).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and each is not msgspec.Struct
    }
    assert set(READERS) == described


def test_places_are_the_values_that_are_not_default():
    found = simulated.places(simulated.read(RING))
    assert found["network.link"] == 1.25e6 and found["segments[1].isend_s"] == 2e-6
    assert "segments[0].isend_s" not in found and "network.nic" not in found and "title" not in found
