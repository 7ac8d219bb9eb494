# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of noise on a fake machine: a timer interrupts all cores, and a program the last one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hockney import api, measurement, studies
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.launch.fakes.noise import FAKE
from hockney.studies import Evidence, Options
from hockney.studies.noise import figures
from hockney.studies.noise.columns import answer
from hockney.studies.noise.headline import headline
from hockney.studies.noise.results import NoiseResults

STUDY = studies.find_study("noise")
CORES = 4


def run(folder: Path, launches: int = 3, cores: int = CORES, **options: object) -> Evidence:
    bench = measurement.fake_bench(FakeLauncher(), cores=cores, workloads=STUDY.WORKLOADS)
    cases = STUDY.plan(Options(**options), bench.catalog, bench.machine)
    made = measurement.create_run(
        folder, cases, Settings("noise", seed=1, launches=launches, budget_s=30.0), bench
    )
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(tmp_path_factory.mktemp("noise") / "r")


def test_every_core_loses_what_the_timer_takes(evidence: Evidence):
    results = NoiseResults.of(evidence)
    assert len(results.cores) == CORES
    for result in results.cores[1:]:
        assert result.core.share.value == pytest.approx(FAKE.tick_hz * FAKE.tick_s, rel=0.02)
        assert result.components[0].frequency_hz == pytest.approx(FAKE.tick_hz, rel=0.01)


def test_the_core_with_the_program_is_named_with_its_frequency(evidence: Evidence):
    results = NoiseResults.of(evidence)
    (noisy,) = results.noisy
    assert noisy.core.name.endswith("cpu 3")
    share = noisy.core.share
    program = FAKE.program_hz * FAKE.program_s
    assert share.value == pytest.approx(program, rel=0.05)
    assert noisy.components[0].frequency_hz == pytest.approx(FAKE.program_hz, rel=0.01)
    assert noisy.components[0].share == pytest.approx(program, rel=0.05)
    assert noisy.share_by_time is not None
    assert noisy.share_by_time.value == pytest.approx(share.value, rel=0.05)


def test_the_headline_and_the_document_name_it(evidence: Evidence):
    document = answer(evidence)
    (name,) = document["noisy"]
    assert any(name in sentence for sentence in headline(NoiseResults.of(evidence)))
    assert document["cores"][0]["noisy"] and not document["cores"][1]["noisy"]
    many = [cost for cost in document["costs"] if cost["ranks"] == 1024 and cost["grain_s"] == 1e-3]
    # of 256 ranks on such cores, some is always in its detour of 500 us
    assert many[0]["barrier_s"].value > 400e-6 > 10 * many[0]["quiet_barrier_s"]
    assert STUDY.is_conclusive(evidence)


def test_without_the_program_no_core_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from hockney.launch import fakes

    quiet = replace(FAKE, program_hz=0.1, program_s=1e-6)
    everything = tuple(quiet if fake is FAKE else fake for fake in fakes.fakes())
    monkeypatch.setattr("hockney.launch.fake_world.fakes", lambda: everything)
    results = NoiseResults.of(run(tmp_path / "r"))
    assert not results.noisy
    assert results.detectable_excess is not None and results.detectable_excess < 0.002


def test_one_core_is_observed_without_a_comparison(tmp_path: Path):
    evidence = run(tmp_path / "r", ranks=(1,))
    results = NoiseResults.of(evidence)
    assert len(results.cores) == 1 and results.cores[0].excess is None
    assert STUDY.is_conclusive(evidence)


def test_the_page_draws_what_was_observed(evidence: Evidence):
    page = STUDY.page(evidence)
    assert {figure.name for figure in page.figures} >= {
        "noise-cores", "noise-timeline", "noise-distribution", "noise-spectrum", "noise-barrier",
    }  # fmt: skip
    points = sum(len(series.x) for figure in page.figures for series in figure.series)
    assert points < 12_000


def test_cores_are_drawn_in_the_order_of_ranks(tmp_path: Path):
    figure = figures.cores_figure(NoiseResults.of(run(tmp_path / "r", launches=1, cores=12)))
    assert figure is not None
    assert [name.rpartition(" ")[2] for name in figure.x.names] == [str(rank) for rank in range(12)]


def test_noise_has_no_sizes():
    bench = measurement.fake_bench(FakeLauncher(), cores=CORES, workloads=STUDY.WORKLOADS)
    with pytest.raises(UsageError) as caught:
        STUDY.plan(Options(sizes=(8,)), bench.catalog, bench.machine)
    assert caught.value.code == "noise-has-no-sizes"


def test_a_simulation_beyond_the_budget_is_refused(hockney, tmp_path: Path):
    words = ("noise", "--machine", "sim:t3e", "--ranks", "512")
    refused = hockney("plan", *words)
    assert refused.code == 2 and "observing 512 simulated cores takes at least" in refused.err
    assert hockney("plan", *words, "--budget", "10m").code == 0
