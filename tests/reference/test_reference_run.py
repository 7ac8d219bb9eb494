# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published numbers as a run: records that the models treat like measured ones."""

from __future__ import annotations

import pytest

from hockney import measurement, models, reference
from hockney.core.errors import Inconclusive
from hockney.core.record import RunRecords, decode_line, encode_line


def run_of(name: str):
    return reference.run_of(reference.paper_of(name), measurement.bundled_catalog())


def test_every_number_with_a_case_is_a_record():
    run = run_of("t3e")[1]
    seconds = {record.case: record.times_s for record in run.records}
    assert seconds["bcast algorithm=mpi buffers=hot bytes=8 ranks=32 root=0 sync=loop"] == [
        pytest.approx(31.6e-6)
    ]
    assert seconds["gather algorithm=mpi buffers=hot bytes=4096 ranks=256 root=0 sync=loop"] == [
        pytest.approx(4267e-6)
    ]
    assert seconds["barrier algorithm=mpi iterations=1 ranks=256 sync=loop"] == [pytest.approx(8e-6)]
    assert seconds["pingpong buffers=hot bytes=1024 ranks=2"] == [pytest.approx(37.48e-6)]
    paper = reference.published("t3e")
    assert len(run.records) == sum(bool(r.case) for r in paper.rows) + len(paper.formulas[0].sizes())


def test_a_case_printed_twice_keeps_both_numbers():
    run = run_of("t3e")[1]
    found = run.by_case()["alltoall algorithm=mpi buffers=hot bytes=0 ranks=256 sync=loop"]
    assert [r.times_s[0] for r in found] == [pytest.approx(1997e-6), pytest.approx(2016e-6)]
    assert len({r.launch for r in found}) == 2
    sizes = {launch.launch: len(launch.ranks) for launch in run.launches}
    assert {sizes[r.launch] for r in found} == {256}


def test_records_say_that_they_were_published():
    machine, run = run_of("switched-ethernet")
    assert (machine.kind, machine.host) == ("published", "switched-ethernet")
    assert "Georgia" in machine.citation and any("1.2 ms" in note for note in machine.notes)
    assert {r.origin for r in run.records} == {launch.origin for launch in run.launches} == {"published"}
    assert [len(launch.ranks) for launch in run.launches] == [1, 3, 5, 7, 9, 12, 14, 16]
    lines = [*run.launches, *run.records]
    assert RunRecords.of(decode_line(encode_line(line)) for line in lines) == run


def test_fits_find_the_printed_parameters():
    machine, run = run_of("t3e")
    (fit,) = models.fit_all(run, measurement.bundled_catalog(), cores=machine.cores).select(
        "hockney", "pingpong"
    )
    found = {p.symbol: p.estimate.value for p in fit.parameters}
    assert fit.verdict == "good"
    assert found["t_0"] == pytest.approx(17e-6) and found["r_inf"] == pytest.approx(308e6)
    assert 4095 <= fit.change_points[0].value <= 4097
    machine, run = run_of("paragon")
    fits = models.fit_all(run, measurement.bundled_catalog(), cores=machine.cores).select(
        "hockney", "pingpong"
    )
    one = next(f for f in fits if f.subject.workload == "pingpong")
    assert {p.symbol: p.estimate.value for p in one.parameters}["n_half"] == pytest.approx(146 / 0.0115)
    both = models.fit_all(run, measurement.bundled_catalog(), cores=machine.cores).select(
        "hockney", "pingpong_double"
    )
    assert {p.symbol: p.estimate.value for p in both[0].parameters}["t_0"] == pytest.approx(216e-6)


def test_the_exchange_is_that_of_the_engine():
    run = run_of("sun-ethernet")[1]
    times = {record.case: record.times_s[0] for record in run.records}
    assert times["round_robin buffers=hot bytes=40000 exchange=ordered ranks=4 sync=window"] == pytest.approx(
        0.203
    )
    assert {record.parse_case().ranks for record in run.records} == {2, 4}


def test_a_paper_without_numbers_for_cases_makes_no_run():
    with pytest.raises(Inconclusive) as caught:
        run_of("t3d")
    assert (caught.value.code, caught.value.fields["machine"]) == ("no-printed-cases", "t3d")
