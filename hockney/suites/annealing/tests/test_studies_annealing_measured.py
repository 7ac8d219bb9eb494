# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of annealing with Open MPI, and on a simulated machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_mpi import group_for, mpi_named, simgrid_here

from hockney import api, studies
from hockney.cli.start import guarded
from hockney.core.fit import ExactValue
from hockney.suites.annealing.studies.annealing.choice import choose_setup, quality_on
from hockney.suites.annealing.studies.annealing.columns import answer
from hockney.suites.annealing.studies.annealing.results import PARTS, AnnealingResults, predictions

MPI_RUN = (
    *("run", "annealing", "setups=original,collective,decoupled,lagged", "walkers=8", "steps=20"),
    *("temperatures=12", "seeds=4", "lag=0,1", "target=1000", "--ranks", "2", "--launches", "3", "-q"),
)


@pytest.fixture(scope="module")
def mpi_results(tmp_path_factory: pytest.TempPathFactory) -> AnnealingResults:
    mpi = mpi_named("openmpi")
    group_for(mpi, "hockney-annealing")
    folder = tmp_path_factory.mktemp("annealing") / "r"
    assert guarded([*MPI_RUN, "--mpi", "openmpi", "--budget", "20s", "--out", str(folder)]) in (0, 4)
    return AnnealingResults.of(api.load(folder).evidence)


@pytest.mark.mpi
@pytest.mark.slow(40)
def test_every_set_up_has_its_time_and_its_parts(mpi_results: AnnealingResults):
    assert [p.label for p in mpi_results.points_on(2)] == [
        "original", "collective", "collective (lag 1)", "decoupled", "lagged", "lagged (lag 1)",
    ]  # fmt: skip
    for p in mpi_results.comparable_points:
        assert p.steps == 8 * 20 * 12 and p.time.value > 0
        assert all(seconds >= 0 for part in PARTS for seconds in p.seconds_by_rank[part])
        assert sum(p.share(part) for part in PARTS) == pytest.approx(1)
        assert [len(course.round_ends_s) for course in p.courses] == [12] * len(p.courses)
        assert all(course.steps[-1] == p.steps for course in p.courses if p.setup == "original")
        assert p.optimum == 426
    shares = {p.setup: p.communication for p in mpi_results.points_on(2)}
    assert shares["original"] > 0 == shares["decoupled"]


@pytest.mark.mpi
@pytest.mark.slow(40)
def test_energies_depend_on_the_seed_and_not_on_ranks_where_a_set_up_waits(mpi_results: AnnealingResults):
    found = quality_on(mpi_results, 2)
    one = mpi_results.single_rank_point(8)
    energies = found.energies(mpi_results.points_on(2)[0])
    assert len(energies) > 1 and len(set(energies.values())) > 1, "seeds differ"
    shared = set(energies) & set(quality_on(mpi_results, 2).energies(one))
    assert shared and all(energies[seed] == found.energies(one)[seed] for seed in shared)
    for p in found.points:
        if p.setup in ("original", "lagged") or p.label == "collective (lag 1)":
            assert found.is_repeatable(p) in (True, None), p.label


@pytest.mark.mpi
@pytest.mark.slow(40)
def test_load_balancing_moves_walkers_to_the_faster_rank(mpi_results: AnnealingResults):
    [each] = mpi_results.balancing_comparisons
    assert each.point.setup == "original"
    assert each.reference.measurement.summary.metrics["moved_walkers"].typical.value == 0
    found = quality_on(mpi_results, 2)
    moved, stayed = (found.energies(p) for p in (each.point, each.reference))
    shared = set(moved) & set(stayed)
    assert shared and all(moved[seed] == stayed[seed] for seed in shared), "the path of a walker is the same"


@pytest.mark.mpi
@pytest.mark.slow(40)
def test_the_page_and_the_answer_are_complete(mpi_results: AnnealingResults):
    evidence = mpi_results.evidence
    page = studies.find_study("annealing").page(evidence)
    assert {"annealing-steps-2", "annealing-energies-2", "annealing-parts"} <= {f.name for f in page.figures}
    document = answer(evidence)
    assert document["choices"][0]["fastest"] is not None
    assert {each["target"] for each in document["quality"]} == {1000}
    modelled = [p.label for p in mpi_results.comparable_points]
    assert [each.point.label for each in predictions(mpi_results).predictions] == modelled


@pytest.mark.mpi
@pytest.mark.slow(40)
def test_the_folder_is_verified(mpi_results: AnnealingResults, tmp_path: Path):
    records = [record for p in mpi_results.points for record in p.records]
    assert all(record.verified.errors == 0 and record.verified.runs > 0 for record in records)


STEP_S = 20e-6
SIMULATED_RUN = (
    *("run", "annealing", "setups=original,decoupled,lagged,estimated", "walkers=8", "steps=50"),
    *("temperatures=20", "seeds=4", f"step_s={STEP_S:g}", "--machine", "sim:switched-ethernet"),
    *("--ranks", "2,4", "-q"),
)


@pytest.fixture(scope="module")
def simulated_results(tmp_path_factory: pytest.TempPathFactory) -> AnnealingResults:
    simgrid_here()
    folder = tmp_path_factory.mktemp("annealing") / "r"
    assert guarded([*SIMULATED_RUN, "--out", str(folder)]) == 0
    return AnnealingResults.of(api.load(folder).evidence)


@pytest.mark.simgrid
@pytest.mark.slow
def test_times_are_exact_and_computing_takes_its_steps(simulated_results: AnnealingResults):
    for p in simulated_results.comparable_points:
        assert isinstance(p.time, ExactValue)
        steps = 8 / p.ranks * 50 * 20
        assert p.part_seconds("computation") == pytest.approx(steps * STEP_S, rel=0.01), p.label
        assert p.sum_error < 0.01
    for ranks in (2, 4):
        shares = {p.setup: p.communication for p in simulated_results.points_on(ranks)}
        assert shares["decoupled"] == pytest.approx(0, abs=1e-3)
        assert shares["original"] > shares["lagged"]
        assert choose_setup(simulated_results, ranks) is not None


@pytest.mark.simgrid
@pytest.mark.slow
def test_shares_of_communication_are_predicted_within_three_points(simulated_results: AnnealingResults):
    found = predictions(simulated_results)
    assert len(found.predictions) == 8
    assert found.median_error(2) < 0.03
    assert found.median_error(4) < 0.03
    blocking = [each for each in found.predictions if each.point.setup == "original"]
    assert all(each.share > 0.05 and abs(each.error) < 0.015 for each in blocking), "message by message"
