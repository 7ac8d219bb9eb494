# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Output of an engine that ends in the middle of a line, or of something that is not an engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.case import parse_canonical
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launcher import LaunchCommand, LaunchFailed, LaunchOptions
from hockney.launch.reading import EngineReader, line_not_understood
from hockney.process import Scratch

LINES = (Path(__file__).parents[2] / "contract/golden/records.jsonl").read_text().splitlines()
START = '{"kind":"start","case":"pingpong buffers=hot bytes=8 ranks=2","position":0}'
CASE = parse_canonical("pingpong buffers=hot bytes=8 ranks=2")
OPTIONS = LaunchOptions("T", 0, 60.0)


def died(ranks: int, case: str, code: int, tail: tuple[str, ...]) -> LaunchFailed:
    return LaunchFailed("died", code="rank-died", reason="died", job_exit=code, case=case)


def read(folder: Path, *lines: str, end: str = "", code: int = 0) -> list[object]:
    """The result of a program that prints these lines, then `end` without a newline, and exits with
    `code`."""
    command = LaunchCommand(("sh", "-c", f"cat out; exit {code}"))
    out = Scratch(folder / "s", {"out": "".join(f"{line}\n" for line in lines) + end}, inside=True)
    reader = EngineReader(command, HangDetector(OPTIONS, 1, 2), [CASE], out, died)
    return list(reader.lines())


@given(cut=st.integers(8, len(LINES[1]) - 1))
def test_a_line_that_a_kill_cut_off_is_a_death(tmp_path_factory, cut):
    """With the case that caused it, and without blaming a wrong engine."""
    with pytest.raises(LaunchFailed) as caught:
        read(tmp_path_factory.mktemp("r"), LINES[0], START, end=LINES[1][:cut], code=137)
    assert (caught.value.code, caught.value.job_exit) == ("rank-died", 137)
    assert caught.value.case == CASE.line


def test_a_line_that_is_none_of_an_engines_is_named(tmp_path):
    wrong = line_not_understood("").code
    deep = '{"kind":"launch","ranks":' + "[" * 100_000
    wrongs = (LINES[0], '{"kind":"nonsense"}', START), (LINES[0], deep, START)
    for lines, end in (*((lines, "") for lines in wrongs), ((LINES[0],), '{"kind":"rec')):
        with raises_code(wrong):
            read(tmp_path, *lines, end=end)
