# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of collectives on the simulated T3E: exact ratios, the paper's message, and predictions of
algorithms that are simulated message by message."""

from __future__ import annotations

import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.start import guarded
from hockney.core.fit import ExactValue
from hockney.pages.series import message_fit
from hockney.studies.collectives import columns
from hockney.studies.collectives.results import CollectiveResults, predicted_times

pytestmark = pytest.mark.simgrid
WORDS = ["run", "collectives", "operations=bcast,allreduce", "--machine", "sim:t3e", "--sizes", "1KiB,64KiB"]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    simgrid_here()
    folder = tmp_path_factory.mktemp("collectives") / "run"
    assert guarded([*WORDS, "--ranks", "2,8", "--out", str(folder), "-q"]) == 0
    return api.load(folder).evidence


def test_ratios_are_exact(evidence):
    points = CollectiveResults.of(evidence).points
    assert len(points) == 8 and all(isinstance(p.ratio, ExactValue) for p in points)
    for p in points:
        assert p.ratio.value == pytest.approx(p.time("mpi").value / p.time(p.best).value)
        assert p.ratio.value >= 0.9 or p.verdict == "faster"


def test_the_message_is_the_papers(evidence):
    fit = message_fit(evidence)
    short, long = fit.segments[0], fit.segments[-1]
    assert (short.latency.value, 1 / short.per_byte.value) == pytest.approx((17e-6, 50e6), rel=0.01)
    assert (long.latency.value, 1 / long.per_byte.value) == pytest.approx((56e-6, 308e6), rel=0.01)


def test_predictions_come_close(evidence):
    """Both the prediction and the simulator use the description of the machine."""
    found = predicted_times(evidence)
    errors = []
    for p in CollectiveResults.of(evidence).points:
        for name in set(p.times) - {"mpi"}:
            seconds = found[p.operation, name, p.ranks, p.block]
            errors.append(abs(seconds / p.time(name).value - 1))
    assert errors and sorted(errors)[len(errors) // 2] < 0.1


@pytest.mark.slow
def test_printed_times_are_beside(evidence):
    (table,) = columns.paper_tables(CollectiveResults.of(evidence))
    assert "printed" in table.columns and table.name == "papers-1024"
