# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines: what is here, what can be simulated, what was printed."""

from __future__ import annotations

import csv
import json
import re

import pytest
from test_cli_errors import one_error

from hockney import reference, simulated

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
    assert re.search(r"^sim:t3e +Cray T3E.* 512 +512 +torus 8x8x8$", said.out, re.MULTILINE)
    found = json.loads(hockney("machines", "--json").out)
    assert {"kinds", "machine", "mpi", "simgrid", "simulated", "published"} == set(found)
    assert [each["kind"] for each in found["kinds"]] == ["real", "published", "simulated"], "none for tests"
    assert [each["name"] for each in found["published"]] == list(reference.machine_names())


def test_the_absence_of_simgrid_is_told_not_an_error(hockney, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("hockney.machine.simgrid.USUAL", ())
    done = hockney("machines")
    assert done.code == 0 and "sim:t3e" in done.out
    assert "hockney build --simgrid" in done.err


def test_a_papers_tables_are_shown(hockney):
    said = hockney("machines", "--show", "t3e")
    assert said.code == 0
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "Cray T3E-512 (t3e), published" in lines
    assert any("Performance of MPI on the CRAY T3E-512" in line for line in lines)
    assert "time of collectives, 8 B (us) P = 32 P = 64 P = 128 P = 256" in lines
    assert "gather 110.75 229.4 450 877" in lines
    assert "allreduce 163649 191593 223817 256235" in lines
    assert any(line.startswith("point-to-point pingpong 2 17 + x/50 us for x < 4096") for line in lines)
    assert "- the latency is 15 us in the text and 17 us in the formula" in lines
    assert any(re.match(r"network.dims \[8, 8, 8\] (printed|fitted|guess) .+", line) for line in lines)
    assert "(sim:t3e), simulated" in said.out


def test_a_paper_stands_for_all_its_machines(hockney):
    said = hockney("machines", "--show", "granularity")
    assert "(sun-ethernet), published" in said.out and "(ibm-sp), published" in said.out
    assert "no number is printed for it" in said.out
    assert said.out.count("How it was copied:") == 1
    assert "simulated" not in said.out


def test_a_description_is_shown_with_the_origin_of_every_number(hockney, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    said = hockney("machines", "--show", "mine.toml")
    assert said.code == 0 and "published" not in said.out
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "segments[0].latency_s 1ms fitted a survey (rows t3e/formula/pingpong)" in lines
    assert "network.nodes[0].count 2 not said" in lines
    assert "+slow slower to see segments" in lines
    varied = hockney("machines", "--show", "sim:mine.toml+slow")
    assert "2ms guess variant slow: to see" in " ".join(varied.out.split())


def test_what_is_shown_can_be_read_by_programs(hockney):
    found = json.loads(hockney("machines", "--show", "paragon", "--json").out)
    (paper,) = found["published"]
    assert {row["key"]: row["value"] for row in paper["rows"]}["paragon/bsp/g/8x8"] == 8.55
    assert found["simulated"]["name"] == "paragon"
    assert json.loads(hockney("machines", "--show", "annealing", "--json").out)["simulated"] is None


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--export", "t3e", "--show", "t3e"), "show-with-export"),
        (("--out", "x"), "out-without-export"),
    ],
)
def test_wrong_questions(hockney, words, code):
    done = hockney("machines", *words)
    assert done.error.code == code
    assert one_error(done, 2)


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("--show", "t3f"), "t3e"),
        (("--show", "granularty"), "granularity"),
        (("--show", "t3e+hardwar-barier"), "hardware-barrier"),
        (("--export", "paragn"), "paragon"),
    ],
)
def test_the_closest_name_is_suggested(hockney, words, suggestion):
    done = hockney("machines", *words)
    assert one_error(done, 2) and done.error.suggestion == suggestion


def test_a_machine_file_that_is_not_there_is_named(hockney):
    assert "nothing.toml" in one_error(hockney("machines", "--show", "nothing.toml"), 2)


def test_printed_numbers_are_a_run(hockney, tmp_path):
    said = hockney("machines", "--export", "t3e", "--out", "t3e")
    assert (said.code, said.out.strip()) == (0, "t3e")
    models = hockney("models", "t3e")
    assert models.code == 0
    assert re.search(r"hockney +pingpong .* t_0 +17.0 us", models.out)
    assert re.search(r"hockney +pingpong .* r_inf +308 MB/s", models.out)
    assert hockney("export", "t3e", "--csv", "t3e.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "t3e.csv").open()))
    assert {row["origin"] for row in rows} == {"published"}
    assert hockney("machines", "--export", "t3e", "--out", "t3e").code == 2, "not written over"


@pytest.mark.page
def test_the_page_of_printed_numbers_never_says_measured_here(hockney, tmp_path):
    assert hockney("machines", "--export", "switched-ethernet", "--out", "run").code == 0
    assert hockney("report", "run").code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    page = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "as published: R. Krishnamurthy" in text
    assert "These numbers were printed, not measured here" in text
    assert "nothing was run or verified here" in text
    assert "150 ms" in text and "The network behaves" in text.replace(
        "the network behaves", "The network behaves"
    )
    for claim in ("repetition was", "were measured in", "of payload were compared", "Median of", "launcher"):
        assert claim not in text


def test_an_exchange_has_its_figure(hockney, tmp_path):
    assert hockney("machines", "--export", "sun-ethernet", "--out", "run").code == 0
    assert hockney("report", "run", "--figures", "figures").code == 0
    assert (tmp_path / "figures" / "round_robin.svg").stat().st_size > 1000
    assert hockney("models", "run").code == 4, "no model of hockney's describes an exchange of neighbours"


def test_what_was_not_printed_cannot_be_exported(hockney):
    done = hockney("machines", "--export", "t3d", "--out", "run")
    assert (done.code, done.error.code) == (4, "no-printed-cases")


def test_printed_numbers_are_not_measured_again(hockney, monkeypatch):
    monkeypatch.delenv("HOCKNEY_MACHINE")
    assert hockney("machines", "--export", "paragon", "--out", "run").code == 0
    done = hockney("resume", "run")
    assert done.code == 2 and "published:paragon" in done.err
    done = hockney("run", "published")
    assert (done.code, done.error.code) == (2, "published-numbers")
