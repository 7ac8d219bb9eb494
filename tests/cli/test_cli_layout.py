# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables, prose and warnings on stdout: they fit the terminal, lose no data, and are lines in a pipe."""

from __future__ import annotations

import io
import re

import pytest

from hockney.cli.output import terminal
from hockney.cli.output.results import COMMON_CODES, MAX_WARNINGS, print_caveats, print_fits
from hockney.cli.output.tables import columns_of, fit_columns, text_table, total
from hockney.core.fit import Estimate, Fit
from hockney.draw.page import Caveat, Table
from hockney.pages.format import interval, quantity

ANSI = re.compile(r"\x1b\[[\d;]*m")
PROSE = "what is measured takes more words than any terminal has columns, " * 3


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def columns(monkeypatch):
    """columns(80) is the width of stdout; columns(None) a pipe without COLUMNS."""

    def of(width: int | None) -> None:
        monkeypatch.delenv("COLUMNS", raising=False)
        if width is not None:
            monkeypatch.setenv("COLUMNS", str(width))

    return of


def times(*seconds: float) -> Table:
    rows = tuple(
        (f"case{k}", quantity(s, "s"), interval(Estimate(s, 0.9 * s, 1.1 * s), "s"))
        for k, s in enumerate(seconds)
    )
    return Table("times", "", ("case", "typical", "95% interval"), rows, numeric=(1, 2))


def words(text: str) -> list[str]:
    return sorted(text.split())


def test_a_column_of_times_has_its_unit_once(columns):
    columns(None)
    text = text_table(times(218e-9, 10.8e-6, 1.03e-3))
    head, *rows = text.splitlines()
    assert head.count("(us)") == 2 and "us" not in "".join(rows)
    assert [float(row.split()[1]) for row in rows] == [0.218, 10.8, 1030]
    points = {row.index("0.218") + 1 for row in rows if "0.218" in row} | {rows[1].index("10.8") + 2}
    assert len(points) == 1, "decimal points stand below each other"


def test_columns_of_one_dimension_share_the_unit(columns):
    columns(None)
    rows = tuple((str(s), quantity(s, "s"), quantity(900 * s, "s")) for s in (500e-9, 800e-9))
    head = text_table(Table("t", "", ("case", "min", "max"), rows, numeric=(1, 2))).splitlines()[0]
    assert re.findall(r"\((\w+)\)", head) == ["us", "us"]


def test_units_that_do_not_go_together_stay_in_the_cells(columns):
    columns(None)
    rows = (("r", quantity(5e9, "B/s")), ("t", quantity(450e-9, "s")))
    text = text_table(Table("t", "", ("of", "value"), rows, numeric=(1,)))
    assert "5.00 GB/s" in text and "450 ns" in text


def test_times_too_far_apart_for_one_unit_keep_theirs(columns):
    columns(None)
    text = text_table(times(1e-9, 3000.0))
    assert "1.00 ns" in text and "50m00s" in text


def test_what_all_rows_share_is_said_once_above(columns):
    columns(None)
    rows = tuple((f"case{k}", "2", "linear", "450 ns", "hot") for k in range(4))
    heads = ("case", "ranks", "order", "time", "buffers")
    text = text_table(Table("t", "", heads, rows, numeric=(1, 3), parameters=(1, 2)))
    above, table = text.split("\n\n")
    assert "ranks = 2" in above and "order = linear" in above
    assert table.splitlines()[0].split() == ["case", "time", "buffers"], "results stay in the rows"
    alone = text_table(Table("t", "", ("case", "order"), rows=(("case0", "linear"),), parameters=(1,)))
    assert "linear" in alone.splitlines()[1], "of one row nothing is shared"


def test_equal_results_stay_in_their_rows(hockney):
    """Where only messages matter, every number of ranks takes the same part of the time."""
    said = hockney("predict", "--work", "0.1us", "--message", "1MiB", "--machine", "t3e", "--ranks", "2,4,8")
    tables = [part.splitlines()[0].split() for part in said.out.split("\n\n") if part.startswith("ranks")]
    assert tables[0][-3:] == ["speed-up", "efficiency", "communication"]
    assert "break-even" in tables[1]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_tables_fit_and_lose_no_word(columns, width):
    rows = tuple((f"name{k}", f"value{k}", "printed" if k % 2 else "guess", f"{k} {PROSE}") for k in range(3))
    table = Table("t", "", ("key", "value", "origin", "from"), rows)
    columns(None)
    whole = text_table(table)
    assert len(whole.splitlines()) == 1 + len(rows), "a pipe has one line a row"
    columns(width)
    text = text_table(table)
    assert max(map(len, text.splitlines())) <= width
    assert set(words(whole)) <= set(words(text))


def test_more_numbers_than_fit_are_continued_with_the_keys_repeated(columns):
    heads = ("workload", "bytes", *(f"P = {1 << k}" for k in range(14)))
    rows = tuple(("bcast", str(b), *(str(1000 * b + k) for k in range(14))) for b in (8, 64))
    table = Table("grid", "", heads, rows, numeric=tuple(range(1, 16)))
    columns(80)
    text = text_table(table, keys=2)
    assert max(map(len, text.splitlines())) <= 80
    parts = text.split("\n\n")
    assert len(parts) > 1 and all(part.count("bcast") == 2 for part in parts)
    assert {word for row in rows for word in row} <= set(words(text))


def test_headings_are_wrapped_before_numbers_are():
    table = Table("t", "", ("case", "a heading of words"), (("x", "12345678"),), numeric=(1,))
    laid = fit_columns(columns_of(table), 16)
    assert total(laid) <= 16 and laid[1].width >= 8


def test_prose_is_wrapped_between_words(columns):
    columns(80)
    text = terminal.wrap_text(PROSE + "/a/path/" + "x" * 90, terminal.width(), hang="  ")
    lines = text.splitlines()
    assert words(text) == words(PROSE + "/a/path/" + "x" * 90)
    assert all(len(line) <= 80 for line in lines[:-1]) and lines[1].startswith("  ")
    columns(None)
    assert terminal.wrap_text(PROSE, terminal.width()) == " ".join(PROSE.split())


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)],
)
def test_colours_are_for_terminals_that_want_them(monkeypatch, environ, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    painted = terminal.apply_colour("poor", "poor", FakeTerminal())
    assert (painted != "poor") == coloured and ANSI.sub("", painted) == "poor"
    assert terminal.apply_colour("poor", "poor", io.StringIO()) == "poor", "a pipe has no colours"


VERBS = (
    ("models", "runs/first"),
    ("doctor",),
    ("verify", "runs/first"),
    ("plan",),
    ("run", "--list"),
    ("machines",),
    ("machines", "--show", "t3e"),
    ("machines", "--show", "sun-ethernet"),
    ("predict", "--work", "100us", "--message", "40kB", "--serial", "1%", "--ranks", "2,4,8"),
    pytest.param(("calibrate", "runs/first", "--check", "-q"), marks=[pytest.mark.simgrid, pytest.mark.slow]),
)


@pytest.mark.parametrize("words", VERBS, ids=lambda words: "-".join(words[:2]))
def test_every_verb_fits_80_columns(hockney, surveyed, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    out = hockney(*words).out
    assert out and [line for line in out.splitlines() if len(line) > 80] == []


def test_paths_are_never_broken(hockney, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    folder = "a folder with words in its name/" * 3 + "r"
    said = hockney("run", "barrier", "--launches", "3", "--out", folder, "-q")
    assert f"report: {folder}/report.html" in said.out.splitlines()
    assert hockney("report", folder).out == f"{folder}/report.html\n"


def test_models_say_each_verdict_once(hockney, surveyed):
    said = hockney("models", surveyed).out
    verdicts = re.findall(r": (?:good|fair|poor|refused)$", said, flags=re.MULTILINE)
    fits = [line for line in said.splitlines() if line and not line.startswith(" ")]
    assert len(verdicts) == len(fits) > 3


@pytest.mark.parametrize("verdict", ["good", "fair", "poor", "refused"])
def test_a_verdict_that_makes_numbers_doubtful_has_its_reason(capsys, verdict):
    """Also where those of other verdicts are not printed."""
    print_fits(
        [Fit(model="loggp", line="prtt ranks=2", parameters=[], verdict=verdict, why="WHY")], reasons=False
    )
    assert ("WHY" in capsys.readouterr().out) == (verdict in ("poor", "refused"))


def test_rows_come_as_typed_and_what_they_share_stands_above(hockney):
    said = hockney("run", "pingpong bytes=8,64 buffers=hot", "barrier", "allreduce bytes=8", "-q")
    above, table, *_ = said.out.split("\n\n")
    assert [line.split()[0] for line in table.splitlines() if line.split()[0] in above] == [
        "pingpong", "pingpong", "barrier", "allreduce",
    ]  # fmt: skip
    assert "buffers=hot" in above and "buffers" not in table
    assert "pingpong buffers=hot ranks=2" in above.splitlines()


def made(*codes: str) -> list[Caveat]:
    return [
        Caveat(code, f"{code} it is (a detail): more", f"{code} numbers", f"mend {code}") for code in codes
    ]


@pytest.mark.parametrize(
    ("codes", "whole"),
    [
        (["load"], ["load"]),
        (["virtual"], ["virtual"]),
        (["load", "virtual", "failures"], ["load", "virtual", "failures"]),
        (["load", "virtual", "precision"], ["load"]),
        (["virtual", "a", "b", "precision", "c", "d"], ["a", "b"]),
        (["a", "b", "c", "d"], ["a", "b"]),
        ([], []),
    ],
)
def test_at_most_three_are_printed_and_none_is_lost(capsys, codes, whole):
    print_caveats(made(*codes))
    text = " ".join(capsys.readouterr().out.split())
    assert text.count("warning: ") == len(whole) + (len(whole) < len(codes)) <= MAX_WARNINGS
    for code in codes:
        assert f"{code} it is" in text
        assert (f"mend {code}" in text.casefold()) == (code in whole)
    assert {"virtual", "precision"} <= {*COMMON_CODES}
