# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Logs that are cut, shuffled or garbled give fewer numbers, but no other ones and no crash."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hockney.core.case import parse_canonical
from hockney.core.errors import HockneyError
from hockney.imports import assemble, read_log

LOGS = sorted((Path(__file__).parents[1] / "data" / "imports").glob("*.log"))
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def numbers(text: str) -> set[tuple[str, float]]:
    try:
        runs = assemble([read_log("log", text)], ranks=4)
    except HockneyError:
        return set()
    return {(r.case, round(r.times_s[0], 12)) for run in runs for r in run.run.records}


@QUICK
@given(st.sampled_from(LOGS), st.floats(0, 1))
def test_a_log_that_is_cut_has_no_other_numbers(path, share):
    text = path.read_text()
    assert numbers(text[: round(share * len(text))]) <= numbers(f"{text}\n")


@QUICK
@given(st.sampled_from(LOGS), st.data())
def test_a_line_of_noise_changes_nothing(path, data):
    lines = path.read_text().splitlines()
    place = data.draw(st.integers(0, len(lines)))
    noise = data.draw(
        st.sampled_from(["", "WARNING: there was an error", "[node1:123] mca: something", "\x00"])
    )
    assert numbers("\n".join([*lines[:place], noise, *lines[place:], ""])) == numbers("\n".join([*lines, ""]))


@QUICK
@given(
    st.lists(st.sampled_from([line for path in LOGS for line in path.read_text().splitlines()]), max_size=40)
)
def test_lines_in_any_order_do_not_crash(lines):
    """And each number comes from a line with numbers."""
    found = numbers("\n".join(lines))
    assert len(found) <= sum(any(character.isdigit() for character in line) for line in lines)
    for case, seconds in found:
        assert 0 < seconds < 1e6 and parse_canonical(case).line == case


@QUICK
@given(st.text(max_size=300), st.sampled_from(LOGS))
def test_any_text_is_read(text, path):
    """It gives no numbers, and takes none away from a log that follows."""
    assert numbers(text) == set()
    log = path.read_text()
    assert numbers(f"{text}\n{log}") == numbers(log)
