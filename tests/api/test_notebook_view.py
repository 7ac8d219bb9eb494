# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs and predictions in the cells of a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import hockney
from hockney.api.notebook.views import MAX_ROWS
from hockney.draw.page import Caveat, Table
from hockney.report import notebook

HOSTILE = "<script>alert(1)</script> & \"'\x1b[31m\u202e"


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_run_shows_its_cases_and_what_to_doubt(run):
    html = run._repr_html_()
    tags = Tags(html)
    assert not tags.open
    assert sum(tag == "tr" for tag, _ in tags.seen) == 1 + MAX_ROWS < len(run.summaries)
    assert sum(tag == "li" for tag, _ in tags.seen) == len(run.caveats)
    heads = re.findall("<th [^>]*>([^<]*)<", html)
    assert re.findall("<tr><td [^>]*>([^<]*)<", html) == ["pingpong"] * MAX_ROWS
    assert heads[0] == "workload" and {"bytes", "buffers", "ranks", "typical"} <= set(heads)
    assert len(html) < 20_000


def test_parameters_that_all_cases_share_are_said_once(tmp_path):
    run = hockney.run("pingpong bytes=8,64", machine="fake", seed=1, budget=1, out=tmp_path / "r")
    heads = re.findall("<th [^>]*>([^<]*)<", run._repr_html_())
    assert heads[:2] == ["workload", "bytes"] and "buffers=hot ranks=2" not in heads
    assert "buffers=hot" in run._repr_html_()


def test_a_run_that_cannot_be_read_says_why(tmp_path):
    run = hockney.run("barrier", machine="fake", seed=1, budget=1, out=tmp_path / "r")
    (tmp_path / "r" / "machine.json").write_text("{}")
    assert "machine.json" in hockney.open(tmp_path / "r")._repr_html_()
    assert str(run.path) in repr(run)


def test_every_text_is_shown_and_none_obeyed():
    caveat = Caveat("code", HOSTILE, HOSTILE, HOSTILE)
    table = Table("t", HOSTILE, (HOSTILE, "b"), ((HOSTILE, HOSTILE),), numeric=(1,))
    html = notebook.summary([HOSTILE], [caveat], [table], [HOSTILE])
    tags = Tags(html)
    assert {tag for tag, _ in tags.seen} == {
        "div",
        "p",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert all(set(attributes) <= {"style"} for _, attributes in tags.seen)
    assert html.count("&lt;script&gt;") == 8 and html.replace("\n", "").isprintable()


def test_figures_are_plotlys(run):
    from plotly.graph_objects import Figure

    assert len(set(run.figure_names)) == len(run.figure_names) > 2
    assert len(run.figure_names) == sum(len(section.figures) for section in run.page.sections)
    for name in run.figure_names:
        figure = run.figure(name)
        assert isinstance(figure, Figure) and figure.data and figure.layout.title.text
    [name] = [n for n in run.figure_names if n.startswith("time-pingpong") and "hot" in n]
    drawn = run.figure(name)
    legend = [trace.name for trace in drawn.data if trace.showlegend]
    assert len(legend) == len(set(legend)) == 2 and drawn.layout.showlegend
    points = next(trace for trace in drawn.data if trace.mode == "markers")
    typical = [s.typical.value for s in run.summaries if s.case.startswith("pingpong buffers=hot")]
    assert sorted(points.y) == pytest.approx(sorted(typical))
    with pytest.raises(hockney.UsageError) as unknown:
        run.figure(name[:-1])
    assert (unknown.value.code, unknown.value.suggestion) == ("unknown-figure", name)
