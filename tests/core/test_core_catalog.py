# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The catalog checks every parameter and fills in defaults; the golden one can be read."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.case import parse_canonical
from hockney.core.catalog import PING_PONG, decode_catalog
from hockney.core.errors import UsageError
from hockney.system.bundled import bundled_workloads

CATALOG = decode_catalog((Path(__file__).parents[2] / "contract/golden/catalog.json").read_bytes())


@pytest.mark.parametrize("workload", CATALOG.workloads, ids=lambda w: w.name)
def test_every_workload_has_a_case_by_its_defaults(workload):
    case = CATALOG.case(workload.name)
    assert parse_canonical(case.line) == case
    assert [name for name, _ in case.parameters] == sorted(p.name for p in workload.parameters)
    assert workload.help and workload.time and all(p.help for p in workload.parameters)
    assert {p.unit for p in workload.parameters} <= {"", "B", "s"}


def test_typed_units_become_plain_numbers():
    assert CATALOG.case("pingpong bytes=4KiB")["bytes"] == 4096
    assert CATALOG.case("prtt delay=5us")["delay"] == 5e-6
    assert CATALOG.case("barrier", ranks=5).ranks == 5 and CATALOG.case("barrier ranks=3", ranks=5).ranks == 3


def test_both_ranks_of_a_bidirectional_workload_send():
    pairs = CATALOG.with_role("point-to-point", "stream")
    assert {w.name for w in pairs if w.bidirectional} == {"pingpong_double", "stream_both"}
    assert {w.payload_bytes(CATALOG.case(f"{w.name} bytes=8")) for w in pairs if w.bidirectional} == {16}
    assert {w.payload_bytes(CATALOG.case(f"{w.name} bytes=8")) for w in pairs if not w.bidirectional} == {8}


def test_one_workload_is_the_ping_pong():
    assert [w.name for w in CATALOG.workloads if w.performs(*PING_PONG)] == ["pingpong"]


@pytest.mark.parametrize("shares", ["equal", "3:1", "2.5:1e-3", "uniform:0.2", "exponential:1"])
def test_a_text_in_one_of_its_forms_is_left_as_it_is(shares):
    case = CATALOG.case(f"granularity shares={shares}")
    assert case["shares"] == shares and parse_canonical(case.line) == case


@pytest.mark.parametrize(
    ("text", "code", "suggestion"),
    [
        ("pingpnog", "unknown-workload", "pingpong"),
        ("zzzzzzzz", "unknown-workload", ""),
        ("pingpong byte=1", "unknown-parameter", "bytes"),
        ("barrier root=" + "9" * 5000, "unknown-parameter", ""),
        ("pingpong buffers=cool", "unknown-value", "cold"),
        ("granularity shares=unifrm:0.2", "unknown-value", "uniform:S"),
        ("granularity shares=3", "unknown-value", ""),
    ],
)
def test_unknown_names(text, code, suggestion):
    with pytest.raises(UsageError) as caught:
        CATALOG.case(text)
    assert (caught.value.code, caught.value.suggestion) == (code, suggestion)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("pingpong bytes=1e300", "size-too-large"),
        ("pingpong ranks=1", "rank-count-not-supported"),
        ("pingpong ranks=3", "rank-count-not-supported"),
        ("barrier ranks=0", "not-a-rank-count"),
        ("barrier ranks=99999999999", "not-a-rank-count"),
        ("barrier ranks=" + "9" * 5000, "not-a-rank-count"),
        ("bcast root=" + "9" * 5000, "value-out-of-range"),
        ("bcast bytes=" + "9" * 5000, "negative-quantity"),
        ("prtt messages=0", "value-out-of-range"),
        ("prtt messages=2.5", "value-out-of-range"),
        ("prtt messages=nan", "value-out-of-range"),
        ("prtt messages=1e999", "value-out-of-range"),
        ("prtt delay=1d", "unknown-unit"),
        ("granularity work=0", "value-out-of-range"),
        ("granularity serial=1.5", "value-out-of-range"),
    ],
)
def test_values_that_no_parameter_takes(text, code):
    with raises_code(code):
        CATALOG.case(text)


WITH_GROUPS = msgspec.structs.replace(CATALOG, workloads=list(bundled_workloads().values()))


@pytest.mark.parametrize(
    ("text", "multiple_of"),
    [
        ("allreduce bytes=6", 8),
        ("reduce_scatter_block bytes=4", 8),
        ("overlap operation=iallreduce bytes=12", 8),
        ("partitioned bytes=10 partitions=4", 4),
        ("pingpong_datatype bytes=8 block=16", 16),
        ("h_relation packet=6", 4),
    ],
)
def test_a_value_that_is_no_multiple_is_an_error_before_anything_starts(text, multiple_of):
    with raises_code("not-a-multiple", multiple_of=multiple_of):
        WITH_GROUPS.case(text)


@pytest.mark.parametrize(
    "text",
    [
        "allreduce bytes=0",
        "allreduce bytes=24",
        "bcast bytes=6",
        "overlap operation=ibcast bytes=12",
        "partitioned bytes=10 partitions=5",
    ],
)
def test_other_values_need_not_be_multiples(text):
    assert WITH_GROUPS.case(text).bytes == int(text.partition("bytes=")[2].split()[0])


def test_the_rank_counts_of_a_workload_are_named():
    with pytest.raises(UsageError) as caught:
        CATALOG.case("pingpong ranks=3")
    assert caught.value.fields == {"ranks": 3, "low": 2, "high": 2}


@given(st.sampled_from([w.name for w in CATALOG.workloads]), st.text(max_size=12), st.text(max_size=12))
def test_no_parameter_breaks_it(workload, name, value):
    try:
        case = CATALOG.complete_case(workload, {name: value})
    except UsageError as error:
        assert str(error).isprintable()
    else:
        assert parse_canonical(case.line) == case
