# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The reproduction of annealing through smpirun, with fewer rounds."""

from __future__ import annotations

import pytest
from paper_answers import documented
from real_mpi import simgrid_here

from hockney.suites.annealing.reproductions import annealing_cases

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

SHORTENED = 100
ROUNDS = 8
"""On the T3D."""


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """document(capsys): of `hockney reproduce annealing --json`, computed once."""
    simgrid_here()
    folder = tmp_path_factory.mktemp("reproduced")
    made: list[dict] = []

    def once(capsys: pytest.CaptureFixture[str]) -> dict:
        if not made:
            made.append(documented("annealing", folder, capsys))
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(annealing_cases, "SHORTENED", SHORTENED)
        patch.setattr(annealing_cases, "T3D_ROUNDS", ROUNDS)
        yield once


def errors(document: dict, mechanism: str = "") -> dict[str, float]:
    """Of table 1, by cell."""
    rows = [row for row in document["compared"] if "/table-1/" in row["key"]]
    return {row["key"].split("/", 2)[2]: row["error"] for row in rows if row["mechanism"] == mechanism}


def test_the_rows_that_are_not_fitted_are_predicted(document, capsys):
    """All that the paper states holds, except that communication is reduced to 1%, and a loss of quality."""
    found = document(capsys)
    failing = {check["code"] for check in found["checks"] if not check["holds"]}
    assert failing == {"communication-reduced", "quality-lowered"}
    assert found["code"] == 1 and found["left"] == 0
    assert max(abs(error) for error in errors(found).values()) < 0.16


def test_the_processor_explains_what_nonblocking_communication_adds_to_computation(document, capsys):
    found = document(capsys)
    own, free = errors(found), errors(found, "messages take no time of the processor")
    for process in ("master", "worker"):
        cell = f"estimated/computation/{process}"
        assert abs(own[cell]) < 0.03 and free[cell] < -0.05
        assert own[f"decoupled/computation/{process}"] == free[f"decoupled/computation/{process}"]
    assert free["estimated/communication/master"] < -0.7


@pytest.mark.parametrize("rounds", ["5000", "20000"])
def test_predictions_depend_little_on_the_assumed_number_of_rounds(document, capsys, rounds):
    found = errors(document(capsys), f"fitted for {rounds} rounds")
    assert len(found) == 12
    for cell, error in found.items():
        assert abs(error) < (0.04 if "/computation/" in cell else 0.25), cell
