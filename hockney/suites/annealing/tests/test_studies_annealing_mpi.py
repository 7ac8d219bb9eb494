# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of annealing end to end with a real MPI, in a small size."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_mpi import group_for, mpi_named

from hockney import api, studies
from hockney.cli.errors import guarded
from hockney.suites.annealing.studies.annealing.choice import quality
from hockney.suites.annealing.studies.annealing.columns import answer
from hockney.suites.annealing.studies.annealing.results import PARTS, AnnealingResults, predictions

pytestmark = [pytest.mark.mpi, pytest.mark.slow(40)]
RUN = (
    *("run", "annealing", "setups=original,collective,decoupled,lagged", "walkers=8", "steps=20"),
    *("temperatures=12", "seeds=4", "lag=0,1", "target=1000", "--ranks", "2", "--launches", "3", "-q"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> AnnealingResults:
    mpi = mpi_named("openmpi")
    group_for(mpi, "hockney-annealing")
    folder = tmp_path_factory.mktemp("annealing") / "r"
    assert guarded([*RUN, "--mpi", "openmpi", "--budget", "20s", "--out", str(folder)]) in (0, 4)
    return AnnealingResults.of(api.load(folder).evidence)


def test_every_set_up_has_its_time_and_its_parts(results: AnnealingResults):
    assert [p.label for p in results.on(2)] == [
        "original", "collective", "collective (lag 1)", "decoupled", "lagged", "lagged (lag 1)",
    ]  # fmt: skip
    for p in results.plain:
        assert p.steps == 8 * 20 * 12 and p.time.value > 0
        assert all(seconds >= 0 for part in PARTS for seconds in p.by_rank[part])
        assert sum(p.share(part) for part in PARTS) == pytest.approx(1)
        assert [len(course.ends) for course in p.courses] == [12] * len(p.courses)
        assert all(course.steps[-1] == p.steps for course in p.courses if p.setup == "original")
        assert p.optimum == 426
    shares = {p.setup: p.communication for p in results.on(2)}
    assert shares["original"] > 0 == shares["decoupled"]


def test_energies_depend_on_the_seed_and_not_on_ranks_where_a_set_up_waits(results: AnnealingResults):
    found = quality(results, 2)
    one = results.alone(8)
    energies = found.energies(results.on(2)[0])
    assert len(energies) > 1 and len(set(energies.values())) > 1, "seeds differ"
    shared = set(energies) & set(quality(results, 2).energies(one))
    assert shared and all(energies[seed] == found.energies(one)[seed] for seed in shared)
    for p in found.points:
        if p.setup in ("original", "lagged") or p.label == "collective (lag 1)":
            assert found.repeats(p) in (True, None), p.label


def test_load_balancing_moves_walkers_to_the_faster_rank(results: AnnealingResults):
    [each] = results.balancing
    assert each.point.setup == "original"
    assert each.over.measured.summary.metrics["moved_walkers"].typical.value == 0
    found = quality(results, 2)
    moved, stayed = (found.energies(p) for p in (each.point, each.over))
    shared = set(moved) & set(stayed)
    assert shared and all(moved[seed] == stayed[seed] for seed in shared), "the path of a walker is the same"


def test_the_page_and_the_answer_are_complete(results: AnnealingResults):
    evidence = results.evidence
    page = studies.study("annealing").page(evidence)
    assert {"annealing-steps-2", "annealing-energies-2", "annealing-parts"} <= {f.name for f in page.figures}
    document = answer(evidence)
    assert document["choices"][0]["fastest"] is not None
    assert {each["target"] for each in document["quality"]} == {1000}
    modelled = [p.label for p in results.plain]
    assert [each.point.label for each in predictions(results).of] == modelled


def test_the_folder_is_verified(results: AnnealingResults, tmp_path: Path):
    records = [record for p in results.points for record in p.records]
    assert all(record.verified.errors == 0 and record.verified.runs > 0 for record in records)
