# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machine files: their meaning, and one clear line for every mistake."""

from __future__ import annotations

import re

import msgspec
import pytest
from raising import raises_code

from hockney.core import platform
from hockney.core.errors import UsageError
from hockney.core.platform import NodeGroup
from hockney.machines import simulated
from hockney.machines.simulated.read import READERS

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
why = "a-reason"
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
    statuses = {origin.key: origin.status for origin in ring.origins}
    assert statuses == {
        "network.shape": "guess",
        "network.nodes": "guess",
        "flops": "guess",
        "segments[0].latency_s": "printed",
    }
    assert any("a-reason" in note for note in ring.notes)


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
    with raises_code("shape-without-extent"):
        simulated.read(SWITCH, dims=(2, 3))


def test_more_ranks_than_cores_are_refused():
    ring = simulated.read(RING)
    simulated.check_ranks(ring, 8)
    for machine, ranks, capacity, larger in ((ring, 9, 8, "16"), (simulated.read(SWITCH), 3, 2, "")):
        with pytest.raises(UsageError) as caught:
            simulated.check_ranks(machine, ranks)
        assert caught.value.code == "too-many-ranks"
        assert caught.value.fields == {"ranks": ranks, "capacity": capacity, "larger": larger}


NEW = "\n[network]"
WRONG = {
    "unknown key": (changed("eager =", "eagre ="), "eagre", "unknown-key", "eager"),
    "unknown key below": (changed("hop_s", "hops"), "network.hops", "unknown-key", "hop_s"),
    "unknown key in a list": (
        changed("isend_s", "isned_s"),
        "segments[1].isned_s",
        "unknown-key",
        "isend_s",
    ),
    "no network": (
        'name = "m"\ntitle = "M"\nsegments = [{latency_s = 1}]',
        "network",
        "key-missing",
    ),
    "no segments": (RING.split("[[segments]]")[0], "segments", "key-missing"),
    "empty segments": (
        'segments = []\nname = "m"\ntitle = "M"\n[network]\nnodes = [{count = 1}]',
        "segments",
        "no-segments",
    ),
    "no latency": (changed('latency_s = "10.5us"\n', ""), "segments[0].latency_s", "key-missing"),
    "not from 0": (changed("first = 0", "first = 8"), "segments[0].first", "first-segment-not-zero"),
    "unordered": (changed('first = "4KiB"', "first = 0"), "segments[1].first", "not-ascending"),
    "negative": (changed("56e-6", "-56e-6"), "segments[1].latency_s", "outside-limits"),
    "negative text": (changed("10.5us", "-10.5us"), "segments[0].latency_s", "negative-quantity"),
    "negative processor": (
        changed("isend_s = ", 'processor_s = "-1us"\nisend_s = '),
        "segments[1].processor_s",
        "negative-quantity",
    ),
    "processor of a size": (
        changed("isend_s = ", 'processor_s = "1KiB"\nisend_s = '),
        "segments[1].processor_s",
        "unknown-unit",
    ),
    "processor within a node": (
        RING + '[[on_node]]\nlatency_s = "1us"\nprocessor_s = "1us"\n',
        "on_node[0].processor_s",
        "unknown-key",
    ),
    "processor of two cores": (
        SWITCH.replace("count = 2", "count = 1, cores = 2").replace(
            '"1ms"', '"1ms", processor_s_per_byte = "1ns/B"'
        ),
        "segments[0].processor_s_per_byte",
        "several-cores",
    ),
    "not a number": (changed("56e-6", "nan"), "segments[1].latency_s", "outside-limits"),
    "endless": (changed("56e-6", "inf"), "segments[1].latency_s", "outside-limits"),
    "digits": (changed("56e-6", "9" * 400), "segments[1].latency_s", "outside-limits"),
    "half a byte": (changed('"4KiB"\n\n', "40.5\n\n"), "eager", "whole-number-expected"),
    "zero rate": (changed("10Mbit/s", "0MB/s"), "network.link", "zero-quantity"),
    "zero plain rate": (changed('"10Mbit/s"', "0"), "network.link", "outside-limits"),
    "unit": (changed('20ns"', '20furlong"'), "network.hop_s", "unknown-unit"),
    "no unit": (changed("20ns/B", "20ns"), "segments[1].per_byte_s", "quantity-without-divisor"),
    "type": (changed('"20ns"', "true"), "network.hop_s", "quantity-expected"),
    "date": (changed('"20ns"', "1998-01-01"), "network.hop_s", "quantity-expected"),
    "text": (changed('"Eight in a ring"', "8"), "title", "text-expected"),
    "empty text": (changed('"Eight in a ring"', '" "'), "title", "empty-text"),
    "name": (changed('"ring"', '"Ring one"'), "name", "bad-name"),
    "a table for a list": (
        changed("[[segments]]\nfirst = 0", "[segments]\nfirst = 0").split("[[seg")[0],
        "segments",
        "list-expected",
    ),
    "a number for a table": (
        'name = "m"\ntitle = "M"\nnetwork = 8\nsegments = []',
        "network",
        "table-expected",
    ),
    "shape": (changed('"torus"', '"tours"'), "network.shape", "unknown-choice", "torus"),
    "duplex": (changed('hop_s = "20ns"', 'duplex = "hafl"'), "network.duplex", "unknown-choice", "half"),
    "no dims": (changed("dims = [8]\n", ""), "network.dims", "shape-needs-key"),
    "no dims in it": (changed("dims = [8]", "dims = []"), "network.dims", "shape-needs-key"),
    "dims of 0": (changed("dims = [8]", "dims = [8, 0]"), "network.dims[1]", "outside-limits"),
    "dims in quotes": (
        changed("dims = [8]", 'dims = ["8"]'),
        "network.dims[0]",
        "number-without-unit-expected",
    ),
    "too many": (changed("dims = [8]", "dims = [4000, 4000]"), "network.dims", "too-many-nodes"),
    "nodes for a torus": (
        changed("dims = [8]", "dims = [8]\nnodes = [{count = 8}]"),
        "network.nodes",
        "key-of-another-shape",
    ),
    "levels": (
        changed(
            'shape = "torus"\ndims = [8]', 'shape = "fat-tree"\ndown = [4, 4]\nup = [1]\ncables = [1, 1]'
        ),
        "network",
        "levels-differ",
    ),
    "no cables": (
        changed('shape = "torus"\ndims = [8]', 'shape = "fat-tree"\ndown = [4]\nup = [1]'),
        "network.cables",
        "shape-needs-key",
    ),
    "dragonfly": (
        changed('shape = "torus"\ndims = [8]', 'shape = "dragonfly"\ndragonfly = [4, 2]'),
        "network.dragonfly",
        "bad-dragonfly",
    ),
    "switch without nodes": (
        changed('shape = "torus"\ndims = [8]', 'shape = "switch"'),
        "network.nodes",
        "shape-needs-key",
    ),
    "operation": (
        changed(NEW, '\n[collectives]\nalltoal = "basic_linear"\n[network]'),
        "collectives.alltoal",
        "unknown-key",
        "alltoall",
    ),
    "algorithm": (
        changed(NEW, '\n[collectives]\nbarrier = "ompi_brck --cfg=x"\n[network]'),
        "collectives.barrier",
        "unknown-algorithm",
        "ompi_bruck",
    ),
    "calls of nothing": (
        changed(NEW, "\n[calls]\nsend = []\n[network]"),
        "calls.send",
        "unknown-key",
    ),
    "empty calls": (changed(NEW, "\n[calls]\nscan = []\n[network]"), "calls.scan", "no-points"),
    "no pair": (changed(NEW, "\n[calls]\nscan = [[8]]\n[network]"), "calls.scan[0]", "not-a-pair"),
    "unordered calls": (
        changed(NEW, "\n[calls]\nscan = [[8, 1], [8, 2]]\n[network]"),
        "calls.scan[1]",
        "not-ascending",
    ),
    "memory of two cores": (SWITCH + "memory = [[2, 1e9]]\n", "memory[0]", "no-rate-of-one-core"),
    "unordered memory": (SWITCH + "memory = [[1, 2], [1, 2]]\n", "memory[1]", "not-ascending"),
    "status": (changed('"printed"', '"prnted"'), "origins[0].status", "unknown-choice", "printed"),
    "origin of nothing": (
        changed('key = "segments[0].latency_s"', 'key = "segments[7]"'),
        "origins[0].key",
        "origin-of-nothing",
    ),
    "no quotes": (changed('"ring"', "ring"), "", "not-toml"),
    "cut off": (RING[:6], "", "not-toml"),
    "a key twice": (changed('title = "Eight in a ring"', 'name = "b"'), "", "not-toml"),
    "deep": ("a = " + "[" * 100_000, "", "toml-not-readable"),
    "long number": ("a = " + "1" * 5000, "", "toml-not-readable"),
    "variant key": (changed("flops", "flop"), "variants.one-wire.flop", "unknown-key", "flops"),
    "rate of nothing": (SWITCH + "rates = {cgg = 3}\n", "rates.cgg", "unknown-key", "cg"),
    "rate in another unit": (SWITCH + 'rates = {cg = "3Mflop/s"}\n', "rates.cg", "unknown-unit"),
    "rate of zero": (SWITCH + "rates = {cg = 0}\n", "rates.cg", "outside-limits"),
    "rates as a number": (SWITCH + "rates = 3\n", "rates", "table-expected"),
    "variant number": (changed("600Mflop", "0Mflop"), "variants.one-wire.flops", "zero-quantity"),
    "variant without a reason": (
        changed('why = "a-reason"\n', ""),
        "variants.one-wire.why",
        "variant-incomplete",
    ),
    "variant of nothing": (
        RING.split('network.shape = "bus"')[0],
        "variants.one-wire",
        "variant-changes-nothing",
    ),
    "variant with a name": (
        changed("why = ", 'name = "x"\nwhy = '),
        "variants.one-wire.name",
        "key-not-for-variants",
    ),
    "variant's name": (changed("variants.one-wire", 'variants."A b"'), "variants", "bad-name"),
    "variants": ("variants = 3\n" + SWITCH, "variants", "table-expected"),
    "variant as a number": ("variants = {a = 3}\n" + SWITCH, "variants.a", "table-expected"),
    "notes as text": (
        changed("flops", 'notes = "x"\nflops'),
        "variants.one-wire.notes",
        "list-expected",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_mistake_has_its_place_and_code(name):
    text, place, code, *suggestion = WRONG[name]
    with pytest.raises(UsageError) as caught:
        simulated.read(text, "my.toml")
    error = caught.value
    assert (error.code, error.suggestion) == (code, "".join(suggestion))
    assert re.match(rf"my\.toml{': ' if place else ''}{re.escape(place)}(:| )", error.what)
    assert len(str(error)) < 280 and "\n" not in str(error)


def test_where_toml_ends_is_known():
    with pytest.raises(UsageError) as caught:
        simulated.read(changed('"ring"', "ring"), "my.toml")
    assert caught.value.fields["position"].startswith("line 1, column")


def test_readers_know_every_field():
    for kind, readers in READERS.items():
        assert set(readers) == {field.name for field in msgspec.structs.fields(kind)}, kind
    described = {
        kind
        for kind in vars(platform).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct
    }
    assert set(READERS) == described


def test_places_are_the_values_that_are_not_default():
    places = simulated.places(simulated.read(RING))
    assert places["network.link"] == 1.25e6 and places["segments[1].isend_s"] == 2e-6
    assert "segments[0].isend_s" not in places and "network.nic" not in places and "title" not in places
