# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of annealing on a simulated machine: exact, and predicted from its description."""

from __future__ import annotations

import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.errors import guarded
from hockney.core.fit import ExactValue
from hockney.suites.annealing.studies.annealing.choice import choice
from hockney.suites.annealing.studies.annealing.results import AnnealingResults, predictions

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]
STEP_S = 20e-6
RUN = (
    *("run", "annealing", "setups=original,decoupled,lagged,estimated", "walkers=8", "steps=50"),
    *("temperatures=20", "seeds=4", f"step_s={STEP_S:g}", "--machine", "sim:switched-ethernet"),
    *("--ranks", "2,4", "-q"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> AnnealingResults:
    simgrid_here()
    folder = tmp_path_factory.mktemp("annealing") / "r"
    assert guarded([*RUN, "--out", str(folder)]) == 0
    return AnnealingResults.of(api.load(folder).evidence)


def test_times_are_exact_and_computing_takes_its_steps(results: AnnealingResults):
    for p in results.plain:
        assert isinstance(p.time, ExactValue)
        steps = 8 / p.ranks * 50 * 20
        assert p.part("computation") == pytest.approx(steps * STEP_S, rel=0.01), p.label
        assert p.sum_error < 0.01
    for ranks in (2, 4):
        shares = {p.setup: p.communication for p in results.on(ranks)}
        assert shares["decoupled"] == pytest.approx(0, abs=1e-3)
        assert shares["original"] > shares["lagged"]
        assert choice(results, ranks) is not None


def test_shares_of_communication_are_predicted_within_three_points(results: AnnealingResults):
    found = predictions(results)
    assert len(found.of) == 8
    assert found.median_error(2) < 0.03
    assert found.median_error(4) < 0.03
    blocking = [each for each in found.of if each.point.setup == "original"]
    assert all(each.share > 0.05 for each in blocking)
