# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of studies: typed texts become values, lists and ranges."""

import pytest

from hockney.core.errors import UsageError
from hockney.core.parameters import Parameter, parse_parameters

WORK = Parameter("work", "real", "computation", unit="s", above=0.0, many=True, example="10us:10ms")
SERIAL = Parameter("serial", "real", "serial share", unit="share", high=1.0, many=True)
COUNT = Parameter("count", "integer", "how many", low=1, high=9, default="4")
SIZE = Parameter("size", "integer", "bytes", unit="B", many=True)
KIND = Parameter("kind", "choice", "which", choices=("ring", "tree"))
NOTE = Parameter("note", "text", "a note", many=True)
PLACE = Parameter("place", "path", "a file")


def test_times_are_listed_and_range_by_half_decades():
    assert WORK.value("1ms,10us,0.001") == (1e-5, 1e-3)
    assert WORK.value("20us:1ms") == (2e-5, 3e-5, 1e-4, 3e-4, 1e-3)
    assert SERIAL.value("0,1%,0.01,100%") == (0.0, 0.01, 1.0)
    assert SIZE.value("0:8,1KiB") == (0, 1, 2, 4, 8, 1024)
    assert (COUNT.value(), COUNT.value("5"), WORK.value()) == (4, 5, ())


@pytest.mark.parametrize(
    ("parameter", "text", "code"),
    [
        (WORK, "0", "value-out-of-range"),
        (WORK, "-1us", "negative-quantity"),
        (WORK, "1ms:1us", "not-a-range"),
        (WORK, "1:2:3", "not-a-range"),
        (WORK, "0:1ms", "range-from-zero"),
        (WORK, "", "not-a-quantity"),
        (WORK, ",", "not-a-quantity"),
        (WORK, "1kB", "unknown-unit"),
        (SERIAL, "0:1%", "range-of-shares"),
        (SERIAL, "2", "fraction-out-of-range"),
        (COUNT, "10", "value-out-of-range"),
        (COUNT, "1.5", "value-out-of-range"),
        (COUNT, "x", "not-a-number"),
        (KIND, "rign", "unknown-value"),
        (NOTE, "a,,b", "empty-list-element"),
        (PLACE, "", "empty-value"),
        (PLACE, "a\0b", "empty-value"),
        (Parameter("n", "integer", "", many=True), "1:2.5", "fractional-range"),
    ],
)
def test_what_is_no_value_is_refused(parameter, text, code):
    with pytest.raises(UsageError) as caught:
        parameter.value(text)
    assert caught.value.code == code and caught.value.what.startswith(f"{parameter.name}=")
    assert str(caught.value).isprintable()


def test_names_that_are_not_declared_are_refused():
    assert parse_parameters([WORK, COUNT], {"count": "3"}, "x") == {"count": 3}
    with pytest.raises(UsageError) as caught:
        parse_parameters([WORK, COUNT], {"wrok": "1ms"}, "granularity")
    assert (caught.value.code, caught.value.suggestion) == ("unknown-parameter", "work")
