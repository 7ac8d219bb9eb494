# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The report as text, without a browser."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from grain import EXPLORER, WIDGET, grain, over_serial
from hostile import hostile
from sample import sample

from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section, Table
from hockney.report import assets, data, figures, html_text, write
from hockney.report.render import render

EMPTY = Page("Nothing", "", (), (), (), (), ())
SMALL = Figure(
    "f",
    "F",
    Axis("size", "B"),
    Axis("time", "s"),
    (Series("=cmd", (1.0, 8.0), (1e-6, 2e-6), detail=("a", "b")),),
)


class Elements(HTMLParser):
    """Every element's name and attributes, the text of scripts, and all other text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, text):
        if self._inside == "script":
            self.scripts[-1] += text
        else:
            self.words.append(text)


@pytest.fixture(scope="module")
def text() -> str:
    return render(sample())


@pytest.fixture(scope="module")
def elements(text: str) -> Elements:
    return Elements(text)


def test_nothing_in_the_page_points_outside_it(elements):
    for _, attributes in elements.tags:
        for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (name, value)


def test_the_policy_allows_the_page_s_own_scripts_and_no_other(elements):
    (policy,) = [
        a["content"]
        for t, a in elements.tags
        if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy.split("style-src")[0] and "eval" not in policy
    figures, plotly, own = elements.scripts
    packed = gzip.decompress(base64.b64decode(plotly))
    for script in (own.encode(), packed):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'" in policy
    assert b"Plotly" in packed[:200] or b"plotly.js" in packed[:200]
    unpacked = json.loads(gzip.decompress(base64.b64decode(figures)))
    assert set(unpacked) == {"figures", "csv", "dark"}
    drawn = {a["data-csv"] for t, a in elements.tags if "data-csv" in a}
    assert drawn == set(unpacked["csv"]) == set(unpacked["figures"])
    assert unpacked["csv"]["figure-latency"] == data.figure_csv(sample().sections[0].figures[0])


def test_every_figure_has_a_still_picture_words_data_and_an_anchor(elements):
    drawn = [f for s in sample().sections for f in s.figures]
    described = [a["aria-label"] for t, a in elements.tags if a.get("class") == "still"]
    assert len(described) == len(drawn) == 12
    assert all(
        figure.title in label and " at " in label for figure, label in zip(drawn, described, strict=True)
    )
    downloads = [a["download"] for t, a in elements.tags if "download" in a]
    assert downloads == [f"{figure.name}.csv" for figure in drawn]
    anchors = {a["href"][1:] for t, a in elements.tags if t == "a" and a.get("href", "").startswith("#")}
    identities = [a["id"] for _, a in elements.tags if "id" in a]
    assert len(set(identities)) == len(identities), "an id stands for one element"
    assert anchors <= set(identities)


def test_the_page_says_everything_it_was_given(elements):
    shown = " ".join(" ".join(elements.words).split()).replace("\u00a0", " ")
    page = sample()
    wanted = [page.title, page.subtitle, *page.method, *(v for pair in page.environment for v in pair)]
    for section in page.sections:
        wanted += [section.title, *section.text, *(f.caption for f in section.figures)]
        wanted += [cell for table in section.tables for row in (table.columns, *table.rows) for cell in row]
        wanted += [w.touches for w in section.warnings]
    wanted += [html_text.to_sentence(w.text) for w in page.warnings] + [
        html_text.to_sentence(w.todo) for w in page.warnings
    ]
    for part in wanted:
        assert " ".join(part.split()) in shown, part


def test_the_same_page_gives_the_same_bytes(text):
    assert render(sample()) == text


def test_a_page_without_figures_carries_no_library():
    text = render(EMPTY)
    assert len(text) < 40_000
    assert len(Elements(text).scripts) == 1


def test_hostile_texts_stay_texts():
    elements = Elements(render(hostile()))
    assert {t for t, _ in elements.tags}.isdisjoint(
        {"iframe", "img", "object", "embed", "base", "form", "textarea"}
    )
    assert len(elements.scripts) == 8
    assert not [a for _, a in elements.tags for name in a if name.startswith("on")]
    figures, _, widgets, *own = elements.scripts
    assert not any("stolen" in script for script in own)
    (data,) = json.loads(widgets).values()
    assert data["machines"][0]["title"].isprintable() and data["machines"][0]["note"].isprintable()
    stray = {c for c in render(hostile()) if not c.isprintable() and c not in "\n\u00a0"}
    assert not stray, f"control characters reached the page: {stray}"
    json.loads(gzip.decompress(base64.b64decode(figures)))


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("2 ranks: 457 ns (95%: 366 ns to 571 ns).", ["457 ns"]),
        (
            "4 ranks with 10.0 us of work are 86.7% efficient; mpi takes 4.1 times as long",
            ["86.7%", "4.1 times"],
        ),
        ("Inconclusive: 95% intervals are up to 18.2 points wide.", []),
        ("Undecided: the interval does not show whether the times differ by 5%.", []),
        ("23 of 96 calls take more than 1.05 times as long as another way.", []),
        ("With a median error of 5.0%, at worst -35% (sample sort of 1000).", ["5.0%", "-35%"]),
        ("t = 0.112 + x/1950 below 46 B, 62.5 + x/11100 from 914 KiB.", []),
        ("They are 90% efficient from 188 us (166 us to 212 us) of work.", ["188 us"]),
        ("bcast 4 KiB takes 2.89 times as long as reduce 2 KiB + scatter 2 KiB.", ["2.89 times"]),
        ("It takes 1.18 times as long for 8 KiB (95%: 1.15 to 1.21).", ["1.18 times"]),
        ("From 23.5 KiB (95%: 20.5 KiB to 27.9 KiB) up to the peak.", ["23.5 KiB"]),
        ("Eager limit: 64 KiB is best here, 53% of the time over 512 B to 1 MiB.", ["64 KiB", "53%"]),
        ("A byte costs sigma = 0.0837 ns/B [0.00615, 0.161].", ["0.0837 ns/B [0.00615, 0.161]"]),
        ("A word at once takes 26.1 times as much as a combined one.", ["26.1 times"]),
    ],
)
def test_only_results_are_emphasised_with_their_sign(text, results):
    found = re.findall("<strong>(.*?)</strong>", html_text.emphasise_results(text))
    assert [each.replace("\u00a0", " ") for each in found] == results


def test_a_long_table_is_folded_and_a_repeated_title_is_not_seen_twice():
    rows = tuple((str(k), "x") for k in range(17))
    tables = (Table("a", "Costs", ("k", "v"), rows), Table("b", "Costs", ("k", "v"), rows[:3]))
    elements = Elements(render(Page("t", "", (), (), (Section("Costs", (), (), tables),), (), ())))
    assert [a.get("class") for t, a in elements.tags if t == "details"] == ["long"]
    assert [a.get("class") for t, a in elements.tags if t == "caption"] == ["unseen", "unseen"]


def test_json_in_a_script_cannot_end_it():
    value = {"a": "</script><!--&\u2028\u2029", "b": [1.5, None]}
    embedded = html_text.embedded_json(value)
    assert not re.search("[<>&\u2028\u2029]", embedded)
    assert json.loads(embedded) == value
    with pytest.raises(ValueError):
        html_text.embedded_json(float("nan"))


def test_quantities_keep_their_units_and_stand_out_in_the_headline():
    assert html_text.emphasise_results("0.41 us [0.40, 0.42] at 4 KiB, n2, 5 users") == (
        "<strong>0.41\u00a0us [0.40,\u00a00.42]</strong> at 4\u00a0KiB, n2, 5 users"
    )
    assert html_text.keep_units_together("<b> 9.6 GB/s") == "&lt;b&gt; 9.6\u00a0GB/s"
    assert html_text.to_sentence("noisy") == "Noisy."
    assert html_text.to_sentence("Why?") == "Why?"


def test_data_are_all_there_in_base_units_and_no_formula_for_a_spreadsheet():
    rows = list(csv.reader(io.StringIO(data.figure_csv(SMALL))))
    assert rows[0] == ["series", "kind", "x_B", "y_s", "low_s", "high_s", "detail"]
    assert rows[1] == ["'=cmd", "points", "1.0", "1e-06", "", "", "a"]
    columns, shown = data.figure_table(SMALL)
    assert columns == ("series", "size", "time", "from")
    assert shown[1] == ("=cmd", "8 B", "2.00 us", "b")


def test_two_sections_and_figures_of_one_name_have_two_anchors(tmp_path):
    page = Page("t", "", (), (), (Section("Same", (), (SMALL, SMALL)), Section("Same!")), (), ())
    identities = [a["id"] for _, a in Elements(render(page)).tags if "id" in a]
    assert {"same", "same-2", "figure-f", "figure-f-2"} <= set(identities)
    assert [p.name for p in figures(page, tmp_path, ("svg",))] == ["f.svg", "f-2.svg"]


def test_figures_are_written_for_papers(tmp_path):
    page = Page("t", "", (), (), (Section("s", (), (SMALL,)),), (), ())
    paths = figures(page, tmp_path / "new", ("svg", "png", "pdf"))
    assert [p.name for p in paths] == ["f.svg", "f.png", "f.pdf"]
    assert all(p.stat().st_size > 1000 for p in paths)


@pytest.mark.parametrize(
    ("count", "layout", "width"), [(1, "", 420), (2, "many", 420), (3, "multiples", 240)]
)
def test_small_figures_are_side_by_side_and_their_type_is_not_smaller(count, layout, width):
    base = sample()
    figures = tuple(replace(base.sections[0].figures[0], name=f"f{k}") for k in range(count))
    section = Section("Small", figures=figures, multiples=True)
    shown = render(replace(base, lead=None, sections=(section,)))
    assert f'class="{f"gallery {layout}".strip()}"' in shown
    assert shown.count(f'viewBox="0 0 {width} ') == count


def test_a_report_that_cannot_be_written_is_told_in_one_line(tmp_path):
    with pytest.raises(UsageError) as caught:
        write(EMPTY, tmp_path)
    assert caught.value.code == "folder-instead-of-file"
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem) as caught:
        write(EMPTY, tmp_path / "file" / "report.html")
    assert caught.value.code == "cannot-write-file"
    (tmp_path / "deep").mkdir()
    assert (
        write(EMPTY, tmp_path / "deep" / "report.html")
        .read_text(encoding="utf-8")
        .startswith("<!DOCTYPE html>")
    )


def test_a_missing_library_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvironmentProblem) as caught:
        assets.script_file(tmp_path)
    assert caught.value.code == "no-plotly"


def test_a_page_of_six_figures_of_lines_is_small_enough_to_send():
    """2 MB larger with the complete script of Plotly."""
    assert len(render(grain((over_serial(1), over_serial(10000)) * 3)).encode()) < 2_900_000


def test_the_explorer_s_table_has_the_models_numbers(golden):
    table = EXPLORER.fallback("explorer")
    golden("explorer_table.json", {"title": table.title, "columns": table.columns, "row": table.rows[0]})
    assert len(table.rows) == len(EXPLORER.machines)
    (bound,) = set(replace(EXPLORER, serial=(0.0, 1.0, 1.0)).fallback("explorer").rows[0][3:6])
    assert bound.endswith(" 25%"), "the most that 4 ranks reach with serial work only"
    with pytest.raises(ValueError):
        replace(EXPLORER, machines=())


def test_an_explorer_needs_no_library():
    text = render(Page("t", "", (), (), (Section("s", widget=WIDGET),), (), ()))
    elements = Elements(text)
    assert len(text) < 120_000 and len(elements.scripts) == 6
    (policy,) = [a["content"] for t, a in elements.tags if a.get("http-equiv")]
    assert policy.count("'sha256-") == 5
    assert json.loads(elements.scripts[0])["explorer"]["machines"][0]["pieces"] == [[0, 0.0015, 1.25e-06]]


def test_the_file_is_small_enough_to_send(text):
    assert len(text.encode()) < 4_000_000
