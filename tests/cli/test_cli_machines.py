# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines and hockney doctor."""

from __future__ import annotations

import csv
import json
import re
from html import unescape

import pytest
from golden_files import folder
from real_mpi import engine_for, mpi_named

from hockney import api, reference
from hockney.discovery.cpu import processors
from hockney.machines import simulated

MINE = """
name = "mine"
title = "My own two"
network = {shape = "switch", nodes = [{count = 2}]}
segments = [{latency_s = "1ms"}]
origins = [{key = "segments", status = "fitted", source = "a survey", rows = ["t3e/formula/pingpong"]}]
[variants.slow]
title = "slower"
why = "to see"
segments = [{latency_s = "2ms"}]
"""


def test_all_machines_are_listed(hockney):
    said = hockney("machines")
    assert said.code == 0
    for name in simulated.names():
        assert re.search(rf"^sim:{name} ", said.out, re.MULTILINE)
    for name in reference.machine_names():
        assert re.search(rf"^{name} ", said.out, re.MULTILINE)
    found = json.loads(hockney("machines", "--json").out)
    (t3e,) = [each for each in found["simulated"] if each["name"] == "sim:t3e"]
    assert (t3e["nodes"], t3e["cores"], t3e["network"]) == (512, 512, "torus 8x8x8")
    assert re.search(r"^sim:t3e .* 512 +512 +torus 8x8x8$", said.out, re.MULTILINE)
    assert {"kinds", "machine", "mpi", "simgrid", "simulated", "emulated", "published"} == set(found)
    kinds = [each["kind"] for each in found["kinds"]]
    assert kinds == ["real", "emulated", "published", "simulated"], "none for tests"
    assert [each["name"] for each in found["published"]] == list(reference.machine_names())


def test_the_absence_of_simgrid_is_told_not_an_error(hockney, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("hockney.discovery.simgrid.USUAL", ())
    done = hockney("machines")
    assert done.code == 0 and "sim:t3e" in done.out
    assert "--simgrid" in done.err and json.loads(hockney("machines", "--json").out)["simgrid"] == []


def test_a_papers_tables_are_shown(hockney, monkeypatch):
    monkeypatch.delenv("COLUMNS")  # one line each
    said = hockney("machines", "--show", "t3e")
    assert said.code == 0
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    paper = reference.paper_of("t3e")
    (formula,) = [each for each in paper.formulas if each.key == "t3e/formula/pingpong"][:1]
    assert paper.citation in lines and any(formula.printed in line for line in lines)
    assert {f"- {' '.join(each.split())}" for each in paper.inconsistencies} <= set(lines)
    assert any(line.endswith("(us) P = 32 P = 64 P = 128 P = 256") for line in lines)
    assert "gather 110.75 229.4 450 877" in lines
    assert "allreduce 163649 191593 223817 256235" in lines
    assert any(line.startswith("network.dims [8, 8, 8] guess ") for line in lines)
    assert "sim:t3e" in said.out


def test_a_paper_stands_for_all_its_machines(hockney, golden):
    golden("published_shown.txt", hockney("machines", "--show", "granularity").out)
    found = json.loads(hockney("machines", "--show", "granularity", "--json").out)
    assert [paper["machines"][0]["name"] for paper in found["published"]] == ["sun-ethernet", "ibm-sp"]
    assert [len(paper["rows"]) > 0 for paper in found["published"]] == [True, False]
    assert found["simulated"] is None


def test_a_description_is_shown_with_the_origin_of_every_number(hockney, tmp_path, golden):
    (tmp_path / "mine.toml").write_text(MINE)
    shown = [hockney("machines", "--show", name) for name in ("mine.toml", "sim:mine.toml+slow")]
    assert [said.code for said in shown] == [0, 0]
    golden("machine_shown.txt", "\n".join(said.out for said in shown), folder(tmp_path))
    found = json.loads(hockney("machines", "--show", "sim:mine.toml+slow", "--json").out)
    assert found["published"] == [] and found["simulated"]["segments"][0]["latency_s"] == 2e-3
    origins = {origin["key"]: origin["status"] for origin in found["simulated"]["origins"]}
    assert origins["segments"] == "guess"


def test_printed_numbers_are_a_run(hockney, tmp_path, golden):
    said = hockney("machines", "--export", "t3e", "--out", "t3e")
    assert (said.code, said.out.strip()) == (0, "t3e")
    models = hockney("models", "t3e")
    assert models.code == 0
    golden("models_of_printed_numbers.txt", models.out)
    fits = json.loads(hockney("models", "t3e", "--json").out)["fits"]
    (fit,) = [fit for fit in fits if fit["model"] == "hockney" and fit["subject"].startswith("pingpong ")]
    found = {each["symbol"]: each["estimate"]["value"] for each in fit["parameters"]}
    assert (found["t_0"], found["r_inf"]) == pytest.approx((17e-6, 308e6), rel=2e-3)
    assert hockney("export", "t3e", "--csv", "t3e.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "t3e.csv").open()))
    assert {row["origin"] for row in rows} == {"published"}
    assert hockney("machines", "--export", "t3e", "--out", "t3e").code == 2, "not written over"


@pytest.mark.page
def test_the_page_of_printed_numbers_never_says_measured_here(hockney, tmp_path, golden):
    assert hockney("machines", "--export", "switched-ethernet", "--out", "run").code == 0
    assert hockney("report", "run").code == 0
    page = api.load(tmp_path / "run").page
    assert [caveat.code for caveat in page.warnings] == ["published"]
    figures = [figure for section in page.sections for figure in section.figures]
    tables = [table for section in page.sections for table in section.tables]
    texts = [text for section in page.sections for text in (section.title, *section.text)]
    texts += [text for each in (*figures, *tables) for text in (each.title, each.caption)]
    texts = [page.title, page.subtitle, *page.headline, *texts, *page.method]
    golden("page_of_printed_numbers.txt", "\n".join(text for text in texts if text))
    html = (tmp_path / "run" / "report.html").read_text()
    shown = " ".join(unescape(re.sub(r"<[^>]+>", "", html)).replace("\u00a0", " ").split())
    assert all(" ".join(text.split()) in shown for text in (*page.method, page.warnings[0].touches))
    notes = [value for name, value in page.environment if name == "note"]
    assert set(reference.paper_of("switched-ethernet").inconsistencies) <= set(notes)
    assert "launcher" not in dict(page.environment)


def test_printed_numbers_are_not_measured_again(hockney, monkeypatch):
    monkeypatch.delenv("HOCKNEY_MACHINE")
    assert hockney("machines", "--export", "paragon", "--out", "run").code == 0
    done = hockney("resume", "run")
    assert done.code == 2 and "published:paragon" in done.err
    done = hockney("run", "published")
    assert (done.code, done.error.code) == (2, "published-numbers")


SERIES = {
    "case",
    "cpus",
    "typical_s",
    "fast_s",
    "slow_s",
    "spread",
    "visits",
    "watched_s",
    "preempted",
    "correlation_s",
    "modes",
}


@pytest.mark.slow
@pytest.mark.mpi
def test_the_noise_of_this_machine(hockney, monkeypatch):
    """1 and 2 ranks. A machine too busy for more than a few visits reports that."""
    mpi = mpi_named("openmpi")
    engine_for(mpi)
    monkeypatch.delenv("HOCKNEY_MACHINE")
    said = hockney("doctor", "--mpi", mpi.prefix, "--noise", "1", "--json")
    assert said.code == 0, said.out
    findings = json.loads(said.out)
    found = [finding for finding in findings if finding["subject"] == "noise"]
    codes = [finding["code"] for finding in found]
    of_load = {"machine-quiet", "machine-busy", "load-low", "load-high", "load-unknown"}
    assert len([f for f in findings if f["code"] in of_load]) == 1, "the load is reported once"
    if processors().cores.usable < 2:
        assert codes == ["noise-not-measured"]
        return
    if codes == ["noise-too-few-visits"]:
        return
    times = [f["numbers"] for f in found if f["code"] in ("noise-low", "noise-high")]
    assert times and all(numbers.keys() == SERIES for numbers in times)
    assert all(0 < n["fast_s"] <= n["slow_s"] and n["visits"] >= 40 for n in times)
    assert {n["case"].split()[0] for n in times} <= {"compute", "pingpong"}
    (interference,) = (f["numbers"] for f in found if f["code"] in ("machine-quiet", "machine-busy"))
    assert interference.keys() == {"seconds", "preempted", "outside_cores", "steal"}
    assert 0 <= interference["preempted"] <= 1 and interference["seconds"] >= 1
    for finding in found:
        if finding["code"].startswith("precision-"):
            assert finding["numbers"]["precision"].keys() == {"30", "60", "300"}


def test_the_noise_can_be_left_out(hockney):
    codes = [finding["code"] for finding in json.loads(hockney("doctor", "--no-noise", "--json").out)]
    assert codes == ["fake-machine"]
    codes = [finding["code"] for finding in json.loads(hockney("doctor", "--json").out)]
    assert codes == ["fake-machine", "noise-not-measured"]
