# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of studies: their values, lists by kind, and rejected input."""

from pathlib import Path

import pytest

from hockney.core.errors import UsageError
from hockney.core.parameters import StudyParameter, list_values, parse_parameters
from hockney.core.units import parse_sizes

WORK = StudyParameter("work", "real", "", unit="s", above=0, many=True)
PART = StudyParameter("part", "real", "", unit="share", many=True)
SIZE = StudyParameter("size", "integer", "", unit="B", default="4KiB", low=1, high=1 << 20)
COUNT = StudyParameter("count", "integer", "", low=1, high=10)
WAY = StudyParameter("way", "choice", "", choices=("near", "far"), default="near", many=True)
RUN = StudyParameter("run", "path", "")
SHAPE = StudyParameter("shape", "text", "", many=True)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (WORK, None, ()),
        (WORK, "1ms", (1e-3,)),
        (WORK, "3ms,1ms,1ms", (1e-3, 3e-3)),
        (WORK, "1ms:10ms", (1e-3, 3e-3, 1e-2)),
        (PART, "1%,0,0.01", (0.0, 0.01)),
        (SIZE, None, 4096),
        (SIZE, "8", 8),
        (COUNT, None, None),
        (COUNT, "10", 10),
        (WAY, None, ("near",)),
        (WAY, "far,near", ("far", "near")),
        (RUN, None, None),
        (RUN, "a b", Path("a b")),
        (SHAPE, "3:1,equal", ("3:1", "equal")),
    ],
)
def test_values(parameter, text, value):
    assert parameter.value(text) == value


@pytest.mark.parametrize(
    ("parameter", "text", "code"),
    [
        (WORK, "", "not-a-quantity"),
        (WORK, "0", "value-out-of-range"),
        (WORK, "1ms,", "not-a-quantity"),
        (WORK, "10ms:1ms", "not-a-range"),
        (WORK, "1ms:2ms:3ms", "not-a-range"),
        (WORK, "0:1ms", "range-from-zero"),
        (PART, "0:1%", "range-of-shares"),
        (PART, "101%", "fraction-out-of-range"),
        (SIZE, "0", "value-out-of-range"),
        (SIZE, "1GiB", "value-out-of-range"),
        (SIZE, "8,16", "not-a-quantity"),
        (COUNT, "2.5", "value-out-of-range"),
        (COUNT, "inf", "not-a-number"),
        (COUNT, "nan", "not-a-number"),
        (COUNT, "11", "value-out-of-range"),
        (COUNT, "x", "not-a-number"),
        (COUNT, "1_0", "not-a-number"),
        (WAY, "fra", "unknown-value"),
        (WAY, "near,", "empty-list-element"),
        (RUN, "", "empty-value"),
        (RUN, "a\0b", "empty-value"),
        (SHAPE, "a,,b", "empty-list-element"),
    ],
)
def test_what_is_refused_names_the_parameter(parameter, text, code):
    with pytest.raises(UsageError) as caught:
        parameter.value(text)
    assert caught.value.what.startswith(f"{parameter.name}=") and caught.value.code == code


def test_unknown_names_are_refused_with_the_nearest_one():
    with pytest.raises(UsageError) as caught:
        parse_parameters((WORK, COUNT), {"wrok": "1ms"}, "a study")
    assert (caught.value.code, caught.value.suggestion) == ("unknown-parameter", "work")
    assert parse_parameters((WORK, COUNT), {"count": "3"}, "a study") == {"count": 3}


@pytest.mark.parametrize("text", ["0,8,4KiB", "0:4MiB", "1:7,64", "8"])
def test_lists_of_sizes_are_those_of_the_options(text):
    assert tuple(int(SIZE_ANY.value(size)) for size in list_values("integer", "B", text)) == parse_sizes(text)


SIZE_ANY = StudyParameter("size", "integer", "", unit="B")


def test_lists_of_times_and_shares():
    assert WORK.value("20us:1ms") == (2e-5, 3e-5, 1e-4, 3e-4, 1e-3)
    assert WORK.value("1ms,10us,0.001") == (1e-5, 1e-3)
    assert PART.value("0,1%,0.01,100%") == (0.0, 0.01, 1.0)
