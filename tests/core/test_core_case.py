# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A case is its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.case import Case, format_value, parse_canonical, split_case
from hockney.core.errors import UsageError

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
WORDS = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(
    lambda w: w not in ("inf", "nan", "infinity")
)
VALUES = st.one_of(st.integers(0, 2**60), st.floats(1e-12, 1e12), WORDS)


@given(
    NAMES, st.dictionaries(NAMES.filter(lambda n: n != "ranks"), VALUES, max_size=4), st.integers(1, 10**6)
)
def test_a_line_is_read_back_to_the_same_case(workload, parameters, ranks):
    case = Case(workload, tuple(sorted(parameters.items())), ranks)
    assert parse_canonical(case.line) == case
    assert parse_canonical(case.line).line == case.line
    assert hash(parse_canonical(case.line)) == hash(case)


def test_the_line_is_canonical():
    case = Case.of("allreduce", 2, sync="window", bytes=1024, buffers="hot")
    assert case.line == str(case) == "allreduce buffers=hot bytes=1024 ranks=2 sync=window"
    assert case["bytes"] == 1024
    assert format_value(2.0) == "2" and format_value(5e-6) == "5e-06"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("", "not-a-case"),
        ("  ", "not-a-case"),
        ("Ping", "not-a-case"),
        ("1p", "not-a-case"),
        ("p b", "not-a-parameter"),
        ("p =1", "not-a-parameter"),
        ("p a=", "not-a-parameter"),
        ("p A=1", "not-a-parameter"),
        ("p a", "not-a-parameter"),
        ("p ä=1", "not-a-parameter"),
        ("p a=1 a=2", "parameter-given-twice"),
    ],
)
def test_what_is_no_case_is_refused(bad, code):
    with raises_code(code):
        split_case(bad)


@pytest.mark.parametrize(
    "bad", ["p", "p ranks=0", "p ranks=x", "p ranks=1.5", "p ranks=-2", "p ranks=" + "9" * 5000]
)
def test_a_canonical_line_names_its_ranks(bad):
    with raises_code("case-without-ranks"):
        parse_canonical(bad)


@pytest.mark.parametrize("space", ["\r\n", "\n", "\t", "  ", "\u2028", "\x85"])
def test_a_canonical_line_has_single_spaces(space):
    """Others would reach tables and files through records."""
    for line in (f"{space}pingpong bytes=8 ranks=2", f"pingpong{space}bytes=8 ranks=2"):
        with raises_code("not-a-case"):
            parse_canonical(line)


def test_a_number_that_is_none():
    with raises_code("parameter-without-number", name="bytes"):
        Case.of("pingpong", 2, bytes="many").number("bytes")


@given(st.text(max_size=40))
def test_any_text_is_a_case_or_a_usage_error(text):
    try:
        name, raw = split_case(text)
    except UsageError as error:
        assert str(error).isprintable()
    else:
        assert name and all(raw.values())
