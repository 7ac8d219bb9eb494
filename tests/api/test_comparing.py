# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney.compare for programs, and its page, on runs of the fake machine."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import hockney
from hockney.draw.figure import Figure

CASES = ("bcast bytes=64,1KiB,16KiB ranks=2,4", "reduce bytes=64,1KiB ranks=2", "barrier")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("sides")
    for name, machine in {"a": "fake:seed=1", "b": "fake:seed=2;slow=bcast bytes=1024:1.5"}.items():
        hockney.run(CASES, budget=10, launches=6, machine=machine, seed=1, out=place / name)
    return place


@pytest.fixture(scope="module")
def compared(folder) -> hockney.Comparison:
    return hockney.compare(folder / "a", folder / "b")


def test_it_has_typed_results(compared):
    assert compared.verdict == "slower" and compared.tolerance == 0.05
    assert [(c.case.workload, c.size, c.state) for c in compared.changes] == [("bcast", 1024, "slower")] * 2
    change = compared.changes[0]
    assert change.ratio.low < 1.5 < change.ratio.high and change.launches == (6, 6)
    assert change.b.value / change.a.value == pytest.approx(change.ratio.value)
    assert {each.workload: each.state for each in compared.operations} == {
        "bcast": "slower",
        "reduce": "same",
        "barrier": "same",
    }
    assert compared.only_a == compared.only_b == compared.differences == ()


def test_runs_paths_and_lists_are_sides(folder, compared):
    a, b = hockney.open(folder / "a"), hockney.open(folder / "b")
    for sides in (
        (a, b),
        (str(folder / "a"), b),
        ([a], [str(folder / "b")]),
        ((folder / "a",), b),
        (a, [b, b]),
    ):
        assert hockney.compare(*sides).document["cases"] == compared.document["cases"]


def test_wrong_arguments(folder):
    a, b = folder / "a", folder / "b"
    for sides, more, code in (
        ((a, b), {"cost": "best"}, "unknown-cost-word"),
        ((a, b), {"tolerance": 2}, "fraction-out-of-range"),
        ((a, []), {}, "side-without-runs"),
    ):
        with pytest.raises(hockney.UsageError) as refused:
            hockney.compare(*sides, **more)
        assert refused.value.code == code


def test_its_table(compared):
    rows = compared.table()
    columns = rows.columns
    assert rows.count == len(compared.cases) == 9
    assert columns["verdict"].count("slower") == 2 and columns["ratio"][0] > 0
    assert set(columns) >= {
        "workload",
        "bytes",
        "ranks",
        "a_s",
        "b_low_s",
        "ratio_high",
        "p_same",
        "a_launches",
    }


def test_a_notebook_shows_it(compared, folder):
    html = compared._repr_html_()
    assert html.count("<table>") == 2 and "slower" in html, "operations, and the biggest changes"
    assert repr(compared).endswith(": slower>")
    assert len(repr(compared.operations)) < 1000, "without all cases, which have all repetitions"
    same = hockney.compare(folder / "a", folder / "b", tolerance="60%")._repr_html_()
    assert same.count("<table>") == 1, "no table without rows"


def test_its_figures_are_plotlys(compared):
    from plotly.graph_objects import Figure as PlotlyFigure

    assert compared.figure_names[:3] == ("changes", "ratio-bcast", "ratio-reduce")
    assert all(isinstance(compared.figure(name), PlotlyFigure) for name in compared.figure_names)
    drawn = compared.figure()
    assert drawn.to_dict() == compared.figure("changes").to_dict()
    with pytest.raises(hockney.UsageError) as unknown:
        compared.figure("changess")
    assert (unknown.value.code, unknown.value.suggestion) == ("unknown-figure", "changes")
    unchanged = next(case for case in compared.cases if case.state == "same")
    shown = compared.distribution(unchanged)
    assert {trace.name for trace in shown.data} == {"A", "launches of A", "B", "launches of B"}


def test_it_can_be_copied_and_sent_to_another_process(compared):
    """Also after its page was drawn, which caches what is derived."""
    assert compared.page and hash(compared) == hash(compared)
    for copied in (pickle.loads(pickle.dumps(compared)), copy.deepcopy(compared)):
        assert copied.document == compared.document and copied.figure_names == compared.figure_names


def test_the_page_has_the_answer_what_differs_and_every_operation(compared):
    page = compared.page
    assert isinstance(page.lead, Figure) and page.lead.name == "changes"
    sections = {section.title: section for section in page.sections}
    assert list(sections)[:3] == ["What differs", "Operations", "Biggest changes"]
    over_size = {figure.name: figure for figure in sections["Ratio over size"].figures}
    assert list(over_size) == ["ratio-bcast", "ratio-reduce"], "a barrier has no size"
    bands = [series for series in over_size["ratio-bcast"].series if series.kind == "line"]
    assert [series.name for series in bands] == ["within 5%", "2 ranks", "4 ranks"]
    assert all(low < 1 / 1.04 for low in bands[0].low)
    (peak,) = [k for k, y in enumerate(bands[1].y) if y > 1.4]
    assert bands[1].x[peak] == 1024
    shown = sections["Distributions"]
    assert shown.closed and len(shown.figures) == 2
    a, launches_of_a, b, _ = shown.figures[0].series
    assert len(launches_of_a.x) == 6 and list(a.y) == sorted(a.y) and b.x[30] > 1.3 * a.x[30]


def test_older_engines_had_fewer_parameters(folder, tmp_path):
    """A case without a parameter is the same as one with its default."""
    import shutil

    from resealed import reseal

    old = shutil.copytree(folder / "a", tmp_path / "old")
    for name in ("records.jsonl", "plan.txt"):
        path = old / name
        path.write_text(path.read_text().replace(" root=0", ""))
    catalog = old / "catalog.json"
    import json

    entries = json.loads(catalog.read_text())
    for entry in entries["workloads"]:
        entry["parameters"] = [each for each in entry["parameters"] if each["name"] != "root"]
    catalog.write_text(json.dumps(entries))
    reseal(old)
    compared = hockney.compare(old, folder / "b")
    assert len(compared.cases) == 9 and not compared.only_a and not compared.only_b
    assert [caveat.code for caveat in compared.caveats] == ["workload-redefined"]
