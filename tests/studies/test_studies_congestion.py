# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of congestion in worlds with known factors."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney import api, measurement, studies
from hockney.api.measure import measure_rest
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.launch.fakes.congestion import FakeCongestion
from hockney.studies import Evidence, Options
from hockney.studies.congestion.columns import answer
from hockney.studies.congestion.headline import headline
from hockney.studies.congestion.results import MEDIAN, P99, P999, CongestionResults, open_cases

STUDY = studies.find_study("congestion")
FACTORS = {"incast": 3.2, "alltoall": 1.5, "pairs": 1.0}


def run(
    folder: Path, factors: dict[str, float], launches: int = 5, precision: float = 1e-5, **parameters: object
) -> Evidence:
    world = World(noise=0.03, launch_noise=0.002, tail=0.02).with_workloads(FakeCongestion(factors=factors))
    bench = measurement.fake_bench(FakeLauncher(world), cores=16, workloads=STUDY.WORKLOADS)
    given = {"victims": ("ring", "allreduce")} | parameters
    cases = STUDY.plan(Options(parameters=given), bench.catalog, bench.machine)
    settings = Settings("congestion", seed=1, launches=launches, budget_s=5.0, precision=precision)
    created = measurement.create_run(folder, cases, settings, bench)
    measurement.measure(created, bench, lambda event: None)
    return api.load(folder).evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(tmp_path_factory.mktemp("congestion") / "r", FACTORS)


def test_every_operation_is_measured_quiet_and_next_to_each_load():
    bench = measurement.fake_bench(FakeLauncher(World()), cores=16, workloads=STUDY.WORKLOADS)
    cases = STUDY.plan(Options(), bench.catalog, bench.machine)
    assert len(cases) == 3 * 4 and {case.ranks for case in cases} == {16}
    assert {(case["victim"], case["bytes"]) for case in cases} == {
        ("ring", 8), ("allreduce", 8), ("halo", 128 << 10),
    }  # fmt: skip
    assert {case["victims"] for case in cases} == {20}
    given = Options(
        parameters={"victims": ("halo",), "congestors": ("broadcast",), "load": 1 << 20}, sizes=(12,)
    )
    quiet, loaded = STUDY.plan(given, bench.catalog, bench.machine)
    assert (quiet["congestor"], loaded["congestor"]) == ("none", "broadcast")
    assert loaded["load_bytes"] == 1 << 20 and loaded["bytes"] == 16, "whole doubles"


def test_three_ranks_are_refused():
    bench = measurement.fake_bench(FakeLauncher(World()), cores=16, workloads=STUDY.WORKLOADS)
    with pytest.raises(UsageError) as error:
        STUDY.plan(Options(ranks=(3, 8)), bench.catalog, bench.machine)
    assert error.value.code == "too-few-for-congestion"


def test_ratios_are_those_of_the_world(evidence: Evidence):
    results = CongestionResults.of(evidence)
    assert len(results.points) == 6 and results.comparison_count == 18
    for point in results.points:
        factor = FACTORS[point.congestor]
        for quantile, tolerance in ((MEDIAN, 0.02), (P99, 0.25), (P999, 0.35)):
            entry = point.at(quantile)
            assert entry.is_supported and entry.needed_repetitions <= entry.repetitions
            assert entry.ratio.value == pytest.approx(factor, rel=tolerance)
            assert entry.loaded_s / entry.quiet_s == pytest.approx(entry.ratio.value, rel=0.15)
            assert entry.ratio.low <= factor <= entry.ratio.high
        assert point.at(MEDIAN).verdict == ("slower" if factor > 1 else "alike")
        assert 1.05 <= point.at(MEDIAN).smallest_detectable < point.at(P99).smallest_detectable
    assert [point.congestor for point in results.slowed] == ["incast"] * 2 + ["alltoall"] * 2
    assert results.is_conclusive and STUDY.is_conclusive(evidence)


def test_the_load_is_reported(evidence: Evidence):
    for point in CongestionResults.of(evidence).points:
        assert point.load.value == pytest.approx(13 * 5e9)


def test_the_answer_for_programs(evidence: Evidence):
    document = answer(evidence)
    assert document["is_slowed"] is True and len(document["slowed"]) == 4
    assert all("congestor=pairs" not in line for line in document["slowed"])
    assert set(document["smallest_detectable_ratio"]) == {"median", "p99", "p99.9"}
    assert len(document["quantiles"]) == 18
    row = next(
        row for row in document["quantiles"]
        if (row["victim"], row["congestor"], row["quantile"]) == ("allreduce", "incast", 0.99)
    )  # fmt: skip
    assert row["ratio"].low < 3.2 < row["ratio"].high and row["launches"] == 5
    assert row["case"].startswith("congestion ") and "congestor=none" in row["quiet_case"]


def test_a_network_without_congestion_names_nothing(tmp_path: Path):
    clean = run(tmp_path / "r", dict.fromkeys(FACTORS, 1.0))
    results = CongestionResults.of(clean)
    assert not results.slowed and not results.slowed_tails
    assert answer(clean)["is_slowed"] is False
    assert len(headline(results)) >= 2


def test_launches_are_added_for_undecided_pairs(tmp_path: Path):
    world = World(noise=0.03, launch_noise=0.05).with_workloads(
        FakeCongestion(factors={"incast": 9.0, "alltoall": 1.2, "pairs": 1.0})
    )
    bench = measurement.fake_bench(FakeLauncher(world), cores=16, workloads=STUDY.WORKLOADS)
    cases = STUDY.plan(Options(parameters={"victims": ("ring",)}), bench.catalog, bench.machine)
    settings = Settings("congestion", seed=1, launches=6, budget_s=60.0, extend=True)
    folder = measurement.create_run(tmp_path / "r", cases, settings, bench)
    results = CongestionResults.of(measure_rest(folder, bench, lambda event: None).evidence)
    launches = {point.congestor: point.loaded.summary.launches for point in results.points}
    assert launches["incast"] == 6 < launches["alltoall"], "the factor of 9 is clear at once"
    verdicts = {point.congestor: point.at(MEDIAN).verdict for point in results.points}
    assert verdicts["incast"] == verdicts["alltoall"] == "slower"
    is_open = {point.congestor: results.is_open(point) for point in results.points}
    assert not is_open["incast"] and open_cases(results.evidence) == {
        measured.case
        for point in results.points
        if is_open[point.congestor]
        for measured in (point.quiet, point.loaded)
    }


def test_few_repetitions_support_the_median_only(tmp_path: Path):
    short = run(tmp_path / "r", FACTORS, precision=0.05)
    results = CongestionResults.of(short)
    for point in results.points:
        assert point.at(MEDIAN).is_supported
        tail = point.at(P999)
        assert not tail.is_supported and tail.ratio is None and tail.loaded_s is None
        assert tail.verdict == "unknown" and tail.repetitions < tail.needed_repetitions == 3688
    assert answer(short)["smallest_detectable_ratio"]["p99.9"] is None


def test_the_page_has_the_distributions(evidence: Evidence):
    page = STUDY.page(evidence)
    figures = [figure for section in page.sections for figure in section.figures]
    distributions = [figure for figure in figures if len(figure.series) == 4 and figure.y.scale == "log"]
    assert len(distributions) == 2
    for figure in distributions:
        for series in figure.series:
            assert list(series.x) == sorted(series.x) and list(series.y) == sorted(series.y, reverse=True)
            assert 0 < series.y[-1] < 0.001, "the tail is drawn"
    [table, *_] = STUDY.summary(evidence)
    assert len(table.rows) == 18
