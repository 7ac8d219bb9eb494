# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of the parameters of bulk synchronous models, in a world that has known ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fake_study import planned, studied

from hockney import studies
from hockney.draw.page import Page
from hockney.studies import Evidence
from hockney.suites.bsp.fakes.bsp import FakeBsp
from hockney.suites.bsp.studies.bsp_parameters.columns import answer
from hockney.suites.bsp.studies.bsp_parameters.headline import headline
from hockney.suites.bsp.studies.bsp_parameters.results import ParameterResults

STUDY = studies.find_study("bsp-parameters")
TRUE = FakeBsp()


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return studied(tmp_path_factory.mktemp("bsp") / "r", STUDY, launches=4, ranks=(2, 4))


def test_the_parameters_of_the_world_are_found(evidence: Evidence):
    run = ParameterResults.of(evidence)
    assert run.ranks == (2, 4)
    for ranks in run.ranks:
        expected = {
            "g": TRUE.packet_s + 4 * TRUE.byte_s,
            "L": TRUE.empty_s + 2 * (ranks - 1) * TRUE.startup_s,
            "sigma": TRUE.block_byte_s,
            "l": TRUE.block_s,
            "o": TRUE.packet_s,
            "G": TRUE.byte_s,
        }
        for symbol, value in expected.items():
            assert run.estimate(symbol, ranks).value == pytest.approx(value, rel=0.05), symbol
        factor = run.combining_gain(ranks)
        assert factor.value == pytest.approx(TRUE.naive_s / expected["g"], rel=0.05)
        assert factor.low < factor.value < factor.high
        assert run.synchronisation(ranks).summary.typical.value == pytest.approx(TRUE.empty_s, rel=0.05)


def test_rates_are_operations_over_time(evidence: Evidence):
    rates = {each["case"]: each for each in answer(evidence)["rates"]}
    assert {each["operation"] for each in rates.values()} == set(TRUE.operation_s)
    for each in rates.values():
        assert each["low"] <= each["value"] <= each["high"]
        assert each["value"] == pytest.approx(1 / TRUE.operation_s[each["operation"]], rel=0.05)


def test_the_answer_has_every_parameter_once(evidence: Evidence):
    found = answer(evidence)["parameters"]
    keys = [(each["ranks"], each["symbol"]) for each in found]
    assert len(keys) == len(set(keys)) == 12
    assert all(each["low"] <= each["value"] <= each["high"] for each in found)


@pytest.mark.parametrize(("model", "place"), [("bsp", 0), ("bpram", 2)])
def test_a_headline_from_a_poor_fit_gives_the_reason(evidence: Evidence, model: str, place: int):
    why = "the model is off by 97% in the median"
    fits = [
        msgspec.structs.replace(fit, verdict="poor", why=why)
        if fit.model == model and "method=mpi" not in fit.line
        else fit
        for fit in evidence.fits.fits
    ]
    poor = replace(evidence, fits=msgspec.structs.replace(evidence.fits, fits=fits))
    found = headline(ParameterResults.of(poor))
    assert [why in text for text in found] == [k == place for k in range(3)]


def test_the_page_has_this_machine_next_to_the_papers(evidence: Evidence):
    page: Page = STUDY.page(evidence)
    assert page.headline == headline(ParameterResults.of(evidence)) and len(page.headline) == 3
    tables = {table.name: table for section in page.sections for table in section.tables}
    paper = {row[0]: row for row in tables["bsp-paper"].rows}
    assert list(paper) == ["2", "4", "8", "16", "32", "36", "64", "100"]
    assert paper["8"][2] == "6.50 us" and paper["8"][1] == "" and paper["4"][1] and not paper["4"][2]
    assert paper["100"][2] == "" and paper["100"][8] == "1.30 ms", "BSP was not measured on 100"
    assert {s.name for s in page.lead.series} >= {"2 ranks", "2 ranks, fitted", "4 ranks"}


def test_the_plan_has_wide_ranges_and_few_words_one_by_one(evidence: Evidence):
    cases = [m.case for m in evidence.of("h_relation", ranks=2)]
    hs = {
        method: {c["h"] for c in cases if c["method"] == method and c["packet"] == 4}
        for method in ("put", "mpi")
    }
    assert max(hs["put"]) / min(hs["put"]) >= 10_000 and max(hs["mpi"]) < max(hs["put"])
    assert all(4 * c["h"] % c["packet"] == 0 for c in cases), "whole packets"


def test_sizes_replace_those_of_relations_and_blocks():
    cases = planned(STUDY, 2, sizes=(64, 4096, 65536))
    words = {c["h"] for c in cases if c.workload == "h_relation" and c["packet"] == 4}
    assert words == {16, 1024, 16384}
    assert {c.bytes for c in cases if c.workload == "block_permutation"} == {64, 4096, 65536}
    assert set(STUDY.WORKLOADS) <= {c.workload for c in cases}


def test_without_relations_nothing_is_stated(tmp_path: Path):
    evidence = studied(tmp_path / "r", STUDY, lines=("bsp_sync ranks=2",))
    page = STUDY.page(evidence)
    assert len(page.headline) == 1 and page.lead is None
    assert answer(evidence)["parameters"] == []
