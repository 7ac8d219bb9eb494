# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of kernels on a simulated Paragon of 4 nodes, whose times are exact."""

from __future__ import annotations

import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.errors import guarded
from hockney.suites.bsp.models.programs import supersteps
from hockney.suites.bsp.studies.bsp_kernels.results import KernelResults

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]
RUN = ("n=64", "keys=1024", "--machine", "sim:paragon-2x2", "--ranks", "4", "--sizes", "256,4KiB,64KiB")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> KernelResults:
    simgrid_here()
    out = tmp_path_factory.mktemp("bsp") / "r"
    assert guarded(["run", "bsp-kernels", *RUN, "--out", str(out), "-q"]) == 0
    return KernelResults.of(api.load(out).evidence)


def test_the_repaired_models_predict_a_machine_of_messages(results: KernelResults):
    points = results.points
    assert len(points) == 9
    assert sum(abs(p.repaired) <= 0.05 for p in points) >= 7
    assert all(abs(p.repaired) <= 0.25 for p in points)
    [bitonic] = results.of_kernel("bitonic sort", base="bsp")
    assert bitonic.plain > 0.04 > 0.02 > abs(bitonic.repaired)
    assert not results.failures, "every plain model is within 10% here"


def test_the_supersteps_of_the_kernels_are_those_that_they_state(results: KernelResults):
    """As counted by the kernels: bytes of each superstep, and operations in all."""
    records = {record.case: record for record in results.evidence.run.records}
    for p in results.points:
        record = records[p.measured.case.line]
        stated = supersteps(p.kernel, p.measured.case)
        h = record.metrics["superstep_h"].values
        expected = [each.bytes for each in stated for _ in range(each.count)]
        assert sum(h) == pytest.approx(sum(expected), rel=0.1), p.measured.case.line
        done = sum(record.metrics["superstep_operations"].values)
        work = sum(s.count * w.operations for s in stated for w in s.work if w.operation != "copy")
        assert done == pytest.approx(work, rel=0.1), p.measured.case.line
