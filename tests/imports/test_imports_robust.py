# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Logs that are cut, shuffled or garbled give fewer numbers, but no other ones and no crash."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney import import_logs
from hockney.core.case import parse_canonical
from hockney.core.errors import HockneyError
from hockney.imports import assemble, read_log

LOGS = sorted((Path(__file__).parents[1] / "data" / "imports").glob("*.log"))


def numbers(text: str) -> set[tuple[str, float]]:
    try:
        runs = assemble([read_log("log", text)], ranks=4)
    except HockneyError:
        return set()
    return {(r.case, round(r.times_s[0], 12)) for run in runs for r in run.run.records}


@given(st.sampled_from(LOGS), st.floats(0, 1))
def test_a_log_that_is_cut_has_no_other_numbers(path, share):
    text = path.read_text()
    assert numbers(text[: round(share * len(text))]) <= numbers(f"{text}\n")


@given(st.sampled_from(LOGS), st.data())
def test_a_line_of_noise_changes_nothing(path, data):
    lines = path.read_text().splitlines()
    place = data.draw(st.integers(0, len(lines)))
    noise = data.draw(
        st.sampled_from(["", "WARNING: there was an error", "[node1:123] mca: something", "\x00"])
    )
    assert numbers("\n".join([*lines[:place], noise, *lines[place:], ""])) == numbers("\n".join([*lines, ""]))


@given(
    st.lists(st.sampled_from([line for path in LOGS for line in path.read_text().splitlines()]), max_size=40)
)
def test_lines_in_any_order_do_not_crash(lines):
    """And each number comes from a line with numbers."""
    found = numbers("\n".join(lines))
    assert len(found) <= sum(any(character.isdigit() for character in line) for line in lines)
    for case, seconds in found:
        assert 0 < seconds < 1e6 and parse_canonical(case).line == case


@given(st.text(max_size=300), st.sampled_from(LOGS))
def test_any_text_is_read(text, path):
    """It gives no numbers, and takes none away from a log that follows."""
    assert numbers(text) == set()
    log = path.read_text()
    assert numbers(f"{text}\n{log}") == numbers(log)


OSU = "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n"
IMB = "#Benchmarking Allreduce\n"
HEADS = (
    "# OSU",
    "# OSU MPI",
    '# begin result "x"\n',
    "#Benchmarking x\n# Date",
    "mpirun osu_bw ",
    "algbw\n# size count",
)


@pytest.mark.parametrize("unit", [" ", "osu_a ", "a", "1 ", "-n ", "# ( ", "\x1b[0", "[1,1]", "a= ", ": b"])
@pytest.mark.parametrize("head", HEADS)
def test_long_lines_take_linear_time(head, unit):
    """Otherwise this takes minutes."""
    line = head + unit * (60_000 // len(unit)) + "\n"
    read_log("log", line * 5)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (OSU + "8 1.5\n", 1),
        (OSU + "8 1_0.5\n", 0),
        (OSU + "\uff18 1.5\n", 0),
        (OSU + "8 \u0663.5\n", 0),
        (OSU + f"8 {'9' * 5000}\n", 0),
        (OSU + f"{'9' * 5000} 1.5\n", 0),
        (f"{OSU}[ pairs: {'9' * 5000} ]\n8 1.5\n", 1),
        (f"{IMB}#processes = {'9' * 5000}\n#bytes #repetitions t_max[usec]\n8 10 1.5\n", 1),
        (f'# begin result "MPI_Bcast-x"\nnodes= {"9" * 5000} count= 1 4 6.6 0.1 54 3.1 6.6\n', 1),
        (f"mpirun -np {'9' * 5000} osu_allreduce\n{OSU}8 1.5\n", 1),
        (f"mpirun -np 200000 osu_allreduce\n{OSU}8 1.5\n", 0),
        (f"{OSU}{'8' * 70_000}\n8 1.5\n", 1),
    ],
    ids=range(12),
)
def test_only_numbers_as_programs_print_them_count(text, count):
    assert len(numbers(text)) == count


def test_a_case_is_not_there_more_often_than_a_run_has_launches():
    with pytest.raises(HockneyError) as refused:
        assemble([read_log("log", OSU + "8 1.5\n" * 10_001)], ranks=4)
    assert refused.value.code == "log-too-many-launches"


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8-sig", b""),
        ("utf-16", b""),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-16-be", b""),
        ("utf-16-le", b""),
        ("utf-32", b""),
        ("utf-32-le", b""),
    ],
)
def test_files_of_windows_are_read(tmp_path, encoding, mark):
    path = tmp_path / "log"
    path.write_bytes(mark + (OSU + "8 1.5\n").encode(encoding))
    (run,) = import_logs(path, ranks=4, out=tmp_path / "run")
    assert [record.times_s for record in run.reading.run.records] == [[1.5e-6]]


def test_a_name_that_is_too_long_is_an_error():
    with pytest.raises(HockneyError) as refused:
        import_logs("9" * 5000)
    assert refused.value.code == "file-not-readable"
