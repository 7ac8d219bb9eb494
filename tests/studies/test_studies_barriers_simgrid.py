# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions of barriers on more than two ranks against SimGrid with a known network: a switch, which
carries messages in parallel, and one medium. The engine's algorithms run there, message by message."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_mpi import simgrid_here
from tiers import slow

from hockney import api
from hockney.cli.start import guarded
from hockney.models import schedules
from hockney.studies.barriers.results import MESSAGES, STRUCTURE, BarrierResults, choose, choose_prediction

pytestmark = pytest.mark.simgrid
RANKS = (2, 3, 8, 13)


def simulated(machine: str, folder: Path):
    simgrid_here()
    words = ["run", "barriers", "--machine", f"sim:{machine}", "--ranks", ",".join(map(str, RANKS))]
    assert guarded([*words, "--out", str(folder), "-q"]) == 0
    return api.load(folder).evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "form", "most"),
    [
        *slow(("switched-ethernet+true-switch", STRUCTURE, 0.08)),
        ("switched-ethernet", MESSAGES, 0.05),
    ],
)
def test_what_is_predicted_comes_true(machine, form, most, tmp_path):
    evidence = simulated(machine, tmp_path / "run")
    every = [each for each in BarrierResults.of(evidence).results if each.structure_s is not None]
    assert {(each.algorithm, each.ranks) for each in every} == {
        (name, p) for name in schedules.algorithm_names("barrier") for p in RANKS
    }
    assert choose_prediction(every)[0] == form
    for each in every:
        assert abs(each.error(each.predicted(form))) <= most, each
    predicted = choose(evidence, 9)
    assert not predicted.is_measured and predicted.best.basis == form
